package cli

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"dyno/internal/imports/curl"
)

// An echo is a server that keeps what it was sent, byte for byte.
type echo struct {
	mu   sync.Mutex
	sent []string
}

// serve answers all requests of a connection.
func (e *echo) serve(c net.Conn) {
	defer c.Close()
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(c, &raw))
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		head, _, _ := strings.Cut(raw.String(), "\r\n\r\n")
		raw.Reset()
		e.mu.Lock()
		e.sent = append(e.sent, head+"\r\n\r\n"+string(body))
		e.mu.Unlock()
		length := "2"
		if r.Method == "HEAD" {
			length = "0"
		}
		status, location := redirectOf(r)
		if location != "" {
			location = "Location: " + location + "\r\n"
		}
		fmt.Fprintf(c, "HTTP/1.1 %d OK\r\n%sContent-Length: %s\r\n\r\n%s", status, location, length, strings.Repeat("ok", len(length)-1+map[string]int{"2": 1}[length]))
	}
}

// take returns what was sent since, in a form that can be compared.
func (e *echo) take() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sent {
		all = append(all, normalForm(s))
	}
	e.sent = nil
	return all
}

var boundaries = regexp.MustCompile(`-{24}[0-9a-f]{16}`)

// normalForm is a request without what may differ, and this is all of it: the order of headers with
// different names, which has no meaning (RFC 9110 5.3); blanks around a value, which are not of it; the
// program's own name; a boundary, which is any text; and Expect: 100-continue, which curl before 8.7
// asks for with larger bodies, and dyno never.
func normalForm(request string) string {
	head, body, _ := strings.Cut(request, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	for i, l := range lines[1:] {
		name, value, _ := strings.Cut(l, ":")
		lines[i+1] = strings.TrimSpace(name + ": " + strings.TrimSpace(value))
	}
	fields := slices.DeleteFunc(lines[1:], func(l string) bool {
		return strings.HasPrefix(l, "User-Agent: curl/") || strings.HasPrefix(l, "User-Agent: dyno/") ||
			l == "Expect: 100-continue"
	})
	slices.SortStableFunc(fields, func(a, b string) int {
		name := func(s string) string { n, _, _ := strings.Cut(s, ":"); return strings.ToLower(n) }
		return strings.Compare(name(a), name(b))
	})
	text := lines[0] + "\n" + strings.Join(fields, "\n") + "\n\n" + body
	return boundaries.ReplaceAllString(text, "BOUNDARY")
}

// startEcho listens: on tcp, with tls over that, or on a unix socket.
func startEcho(t *testing.T, e *echo, network string) net.Addr {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		folder, err := os.MkdirTemp("", "echo") // whose path is short enough for a socket
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(folder) })
		address = filepath.Join(folder, "s.sock")
	}
	l, err := net.Listen(strings.Replace(network, "tls", "tcp", 1), address)
	if err != nil {
		t.Fatal(err)
	}
	if network == "tls" {
		s := httptest.NewUnstartedServer(nil)
		s.StartTLS()
		certificate := s.TLS.Certificates
		s.Close()
		l = tls.NewListener(l, &tls.Config{Certificates: certificate})
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go e.serve(c)
		}
	}()
	return l.Addr()
}

func TestCurlSendsTheSame(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed; Debian's package is curl (see e2e/install.sh)")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("commands are for bash: ", err)
	}
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"data.txt": "line 1\r\nline & 2\n", "data.json": `{"file": true}` + "\n", "page.html": "<p>é</p>",
		"empty": "", "bytes.bin": "\x00\xff\r\n{{x}}\n", "headers.txt": "X-One: 1\nX-Two: 2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var e echo
	plain, secure := startEcho(t, &e, "tcp"), startEcho(t, &e, "tls")
	socket := startEcho(t, &e, "unix")
	place := strings.NewReplacer("URL", "http://"+plain.String(), "TLS", "https://"+secure.String(),
		"SOCKET", socket.String(), "PORT", strings.TrimPrefix(plain.String(), "127.0.0.1:"))
	for _, command := range curlCommands {
		line := place.Replace(command)
		curl := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(line, "curl ", "curl --silent ")+" >/dev/null")
		curl.Dir = dir
		if out, err := curl.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
			continue
		}
		want := e.take()
		first := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return strings.Contains(s, "?from=") })
		said, ok := sentByDyno(t, dir, line, len(first)) // the others follow redirects
		all := e.take()
		if strings.Contains(said, "dyno sends Content-Length: 0") { // it says so
			for i := range all {
				all[i] = strings.Replace(all[i], "\nContent-Length: 0\n", "\n", 1)
			}
		}
		if ok && !slices.Equal(all, want) {
			t.Errorf("%s\ncurl sent\n%s\ndyno sent\n%s", line, strings.Join(want, "\n---\n"), strings.Join(all, "\n---\n"))
		}
	}
	for command, want := range curlRefused {
		code, _, said := runDyno(t, dir, "from", "curl", place.Replace(command))
		if got := strings.TrimSpace(said); code != exitUsage || got != "dyno: the command: "+want {
			t.Errorf("%s\n exits %d with %s\nwant 2 with dyno: the command: %s", command, code, got, want)
		}
	}
}

// sentByDyno has dyno send the n requests of a command, as its own message says.
func sentByDyno(t *testing.T, dir, line string, n int) (said string, ok bool) {
	t.Helper()
	code, _, said := runDyno(t, dir, "from", "curl", "-o", "requests.jsonl", "--secrets", "secrets.jsonl", line)
	if code != exitOK {
		t.Errorf("%s\nexits %d: %s", line, code, said)
		return "", false
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	words, err := curl.Words("the message", lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"run", "-n", fmt.Sprint(n), "-c", "1", "-t", "1", "-q", "--no-save"}, words[2:]...)
	if code, _, errs := runDyno(t, dir, args...); code != exitOK {
		t.Errorf("%s\ndyno %q exits %d: %s", line, args, code, errs)
		return said, false
	}
	return said, true
}

// What browsers on Windows copy is the same as what they copy elsewhere.
func TestWindowsCommands(t *testing.T) {
	for windows, posix := range map[string]string{
		"curl ^\"http://h/a^%^20b^\" ^\r\n  -H ^\"accept: */*^\" ^\r\n  --data-raw ^\"^{^\\^\"a^\\^\":^\\^\"b ^& c^\\^\"^}^\"": `curl 'http://h/a%20b' -H 'accept: */*' --data-raw '{"a":"b & c"}'`,
		`curl.exe -d "say \"hi\" ""there""" "C:\not\escaped" -d \\\"x`:                                                         `curl.exe -d 'say "hi" "there"' 'C:\not\escaped' -d '\"x'`,
	} {
		got, err := curl.Words("w", windows)
		if err != nil {
			t.Error(err)
		}
		want, err := curl.Words("p", strings.Replace(posix, "curl.exe", "curl.exe", 1))
		if strings.HasPrefix(posix, "curl.exe") {
			want, err = []string{"curl.exe", "-d", `say "hi" "there"`, `C:\not\escaped`, "-d", `\"x`}, nil
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s\n  is %q\nwant %q (%v)", windows, got, want, err)
		}
	}
}
