package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// installedTool is the path of a tool, or "" if it is not installed; DYNO_OHA and the like name a
// program that is not in the PATH.
func installedTool(t *testing.T, name string) string {
	t.Helper()
	program := os.Getenv("DYNO_" + strings.ToUpper(name))
	if program == "" {
		program = name
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Logf("%s is not installed: nothing is compared with it", name)
		return ""
	}
	return path
}

// runTool runs a tool, or dyno as that tool, in dir, and returns what it prints.
func runTool(t *testing.T, dir, program string, args []string) string {
	t.Helper()
	if program == "dyno" {
		code, out, errs := runDyno(t, dir, args...)
		if code != 0 {
			t.Errorf("dyno %s: exit code %d\n%s", strings.Join(args, " "), code, errs)
		}
		return out
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, program, args[1:]...)
	c.Dir = dir
	out, _ := c.Output()
	return string(out)
}

// What a tool sends, dyno sends as that tool: request line, header fields but the User-Agent, in any
// order and case, and body.
func TestPeersSendWhatTheirToolsSend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const file = "body"
	if err := os.WriteFile(filepath.Join(dir, file), []byte(`a\{{uuid}} b`), 0o666); err != nil {
		t.Fatal(err)
	}
	s := servePeers(t)
	compared, differing := 0, 0
	const referer = "hey sends a Referer behind a redirect"
	unlike := map[string]string{"hey -a user:word": "hey loses its credentials: it replaces the header that has them",
		"hey /302/3": referer, "hey -m HEAD /307/2": referer,
		"hey -m POST -d x /303/2": referer + ", and the Content-Type of a body that it has no more"}
	for _, line := range []string{
		"hey", "hey -disable-compression", `hey -d a\{{uuid}}`, "hey -m POST -d @x{{b}}", "hey -m POST -d x -T application/json",
		"hey -m POST -d x -H Content-Type:t/t -H a:{{b}}", "hey -m HEAD", "hey -host foo -A text/x", "hey -a user:word",
		"hey -H Host:bar", "hey -m put -D " + file, "hey -m DELETE", "hey -disable-keepalive", "hey -H Accept-Encoding:br",
		"oha --no-tui", "oha --no-tui --disable-compression", `oha --no-tui -d a\{{uuid}}`, "oha --no-tui -m POST -d @x{{b}}", "oha --no-tui -m POST -d x -T a/b",
		"oha --no-tui --host foo -A t/x -a user:word", "oha --no-tui -H Host:bar -H accept:z", "oha --no-tui -m HEAD",
		"oha --no-tui -D " + file + " -m PUT", "oha --no-tui --disable-keepalive", "oha --no-tui --http-version 1.0",
		"ab -q", "ab -q -H Host:foo -H Accept:z", "ab -q -C a=b -C c=d -A user:word", "ab -q -p " + file,
		"ab -q -u " + file + " -T a/b", "ab -q -p " + file + " -H Content-Type:x/y", "ab -q -i", "ab -q -m DELETE", "ab -q -k",
		"wrk", "wrk -H Host:~foo -H a:~{{b}}",
		"hey /302/3", "hey -disable-redirects /302/3", "hey -m POST -d x /303/2", "hey -m HEAD /307/2",
		"oha --no-tui /302/3", "oha --no-tui -r 3 /302/3", "oha --no-tui -r 2 -m POST -d x /308/2", "wrk /302/3",
		"ab -q /302/3",
	} {
		words, path := pathOf(strings.Fields(line), "/x?a=b")
		for i, w := range words { // wrk ignores a header without a blank
			words[i] = strings.ReplaceAll(w, "~", " ")
		}
		program := installedTool(t, words[0])
		if program == "" {
			continue
		}
		more := []string{"-n", "1", "-c", "1"}
		if words[0] == "wrk" {
			more = []string{"-t1", "-c1", "-d1s"}
		}
		var sent [2]string
		for i, by := range []string{program, "dyno"} {
			runTool(t, dir, by, append(append(slices.Clone(words), more...), "http://"+s.at+path))
			sent[i] = s.last()
		}
		if compared++; sent[0] != sent[1] || sent[0] == "" {
			differing++
			if why := unlike[line]; why != "" {
				t.Logf("%s differs: %s", line, why)
				continue
			}
			t.Errorf("%s: the tool sends\n%s\nand dyno\n%s", line, sent[0], sent[1])
		}
	}
	t.Logf("%d command lines compared, %d differ", compared, differing)
}

// pathOf is the path that ends a command line, or another, and the words before it.
func pathOf(words []string, other string) (_ []string, path string) {
	if last := words[len(words)-1]; last[0] == '/' {
		return words[:len(words)-1], last
	}
	return words, other
}

// A peerServer answers requests, with bodies of 10, 110 and 210 bytes in turn, and keeps the last one.
type peerServer struct {
	at      string
	mu      sync.Mutex
	request string
	n       int
}

func (s *peerServer) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.request
	s.request, s.n = "", 0
	return last
}

func servePeers(t *testing.T) *peerServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &peerServer{at: l.Addr().String()}
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go s.answer(c)
		}
	}()
	return s
}

// answer answers the requests of a connection. It closes one at the path /close after each.
func (s *peerServer) answer(c net.Conn) {
	defer c.Close()
	var seen bytes.Buffer
	in := bufio.NewReader(io.TeeReader(c, &seen))
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(r.Body)
		head, _, _ := strings.Cut(seen.String(), "\r\n\r\n")
		seen.Reset()
		fields := strings.Split(head, "\r\n")
		for i, f := range fields[1:] {
			name, value, _ := strings.Cut(f, ":")
			fields[i+1] = strings.ToLower(name) + ": " + strings.TrimSpace(value)
		}
		fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasPrefix(f, "user-agent:") })
		slices.Sort(fields[1:])
		s.mu.Lock()
		s.request = fmt.Sprintf("%s\n\n%s", strings.Join(fields, "\n"), body)
		long := 10 + s.n%3*100
		s.n++
		s.mu.Unlock()
		closes := r.URL.Path == "/close" || r.ProtoMinor == 0 && !strings.EqualFold(r.Header.Get("Connection"), "keep-alive")
		keep := map[bool]string{true: "close", false: "keep-alive"}[closes]
		answer := strings.Repeat("x", long)
		if r.Method == "HEAD" {
			answer = ""
		}
		status, location := redirectOf(r)
		if location != "" {
			location = "Location: " + location + "\r\n"
		}
		fmt.Fprintf(c, "HTTP/1.1 %d OK\r\n%sContent-Length: %d\r\nConnection: %s\r\n\r\n%s", status, location, long, keep,
			answer)
		if closes {
			return
		}
	}
}

// What a tool counts, dyno prints as that tool: bodies without their headers, and the answers that
// kept their connection.
func TestPeersCountAsTheirToolsCount(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), servePeers(t)
	for _, test := range []struct {
		line, want string // what both print, when it is known without the tool
		counts     string
	}{
		{"hey -disable-compression", "Total data: 660 bytes|Size/request: 110 bytes|[200] 6 responses", `Total data|Size/request|\[200\]`},
		{"hey -disable-compression /302/2", "Total data: 1260 bytes|Size/request: 210 bytes|[200] 6 responses", `Total data|Size/request|\[\d+\]\s+\d`},
		{"hey -disable-compression /302/9", "Total data: 660 bytes|Size/request: 110 bytes|[200] 6 responses", `Total data|Size/request|\[200\]`},
		{"hey -disable-compression /302/10", "", `Total data|Size/request|\[200\]`},
		{"hey -disable-compression -disable-redirects /302/2", "Total data: 660 bytes|Size/request: 110 bytes|[302] 6 responses", `Total data|Size/request|\[302\]`},
		{"oha --no-tui -r 2 /302/2", "Success rate: 100.00%|Total data: 1.23 KiB|Size/request: 210 B|[200] 6 responses",
			`Success rate|Total data|Size/request|\[\d+\] \d`},
		{"oha --no-tui", "Success rate: 100.00%|Total data: 660 B|Size/request: 110 B|[200] 6 responses",
			`Success rate|Total data|Size/request|\[200\]`},
		{"ab -q -l -k", "Complete requests: 6|Failed requests: 0|Keep-Alive requests: 6|HTML transferred: 660 bytes",
			`Complete requests|Failed requests|Keep-Alive|HTML`},
		{"ab -q -l", "Complete requests: 6|Failed requests: 0|HTML transferred: 660 bytes",
			`Complete requests|Failed requests|Keep-Alive|HTML`},
		{"ab -q -l -k /close", "Complete requests: 6|Failed requests: 0|Keep-Alive requests: 0|HTML transferred: 660 bytes",
			`Complete requests|Failed requests|Keep-Alive|HTML`},
	} {
		words, path := pathOf(strings.Fields(test.line), "/")
		for _, by := range []string{installedTool(t, words[0]), "dyno"} {
			if by == "" {
				continue
			}
			s.last()
			out := runTool(t, dir, by, append(slices.Clone(words), "-n", "6", "-c", "1", "http://"+s.at+path))
			var got []string
			for line := range strings.Lines(out) {
				if regexp.MustCompile(test.counts).MatchString(line) {
					got = append(got, strings.Join(strings.Fields(line), " "))
				}
			}
			if strings.Join(got, "|") != test.want {
				t.Errorf("%s of %s:\n%s\nwant\n%s", test.line, filepath.Base(by), strings.Join(got, "|"), test.want)
			}
		}
	}
}

// Each flag that a tool's own help names is one that dyno knows, and its default there is dyno's.
func TestPeersKnowEachFlag(t *testing.T) {
	flag := regexp.MustCompile(`(?m)^\s{1,8}(--?[A-Za-z0-9][\w-]*)(?:, (--[\w-]+))?`)
	for _, p := range allPeers() {
		help := map[string]string{"hey": "-help", "oha": "--help", "ab": "-h", "wrk": "-h"}[p.name]
		program := ""
		if help != "" {
			program = installedTool(t, p.name)
		}
		if program == "" {
			continue
		}
		text, _ := exec.Command(program, help).CombinedOutput()
		all := flag.FindAllStringSubmatch(string(text), -1)
		if len(all) < 8 {
			t.Errorf("%s: %d flags in its help\n%s", p.name, len(all), text)
		}
		for _, m := range all {
			for _, name := range m[1:] {
				if name == "" {
					continue
				}
				if _, _, _, err := p.findFlag(name); err != nil {
					t.Errorf("%s: %v", p.name, err)
				}
			}
		}
		def := regexp.MustCompile(`(?s)^\s+(-\w)\b.*\[default: ([^\]]*)\]|^\s+(-\w)\s.*[Dd]efault is (\w+)`)
		for _, block := range regexp.MustCompile(`(?m)^\s{1,8}-`).Split(string(text), -1) {
			m := def.FindStringSubmatch("  -" + block)
			if m == nil {
				continue
			}
			name, want := m[1]+m[3], m[2]+m[4]
			f, _, _, err := p.findFlag(name)
			if err != nil || f[0].def != want && !strings.HasPrefix(want, "no") {
				t.Errorf("%s %s: the default is %s, and dyno's %q", p.name, name, want, f[0].def)
			}
		}
	}
}
