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

// curlCommands are sent by curl itself and by dyno, and must be the same request. URL is a server,
// TLS one with a certificate that nobody has signed, and PORT the first one's port.
var curlCommands = []string{
	`curl URL`,
	`curl URL/a/b?c=d`,
	`curl 'URL/a?x=1&y=2#fragment'`,
	`curl "URL/a/../b/./c"`,
	`curl --path-as-is URL/a/../b/./c/..`,
	`curl URL?only=query`,
	`curl -sSL --fail -o /dev/null -w '%{http_code}' URL/quiet`,
	`curl -X DELETE URL/item/1`,
	`curl -XPATCH URL/item/1 -d '{"a":1}' -H 'Content-Type: application/json'`,
	`curl -I URL/head`,
	`curl -H 'X-A: 1' -H 'X-B:2' -H "X-C:   3  " URL`,
	`curl -H 'Accept:' URL/no-accept`,
	`curl -H 'X-Empty;' URL`,
	`curl -H 'Accept: text/html' -H 'Accept-Language: de' URL`,
	`curl -H 'Host: shop.example' URL`,
	`curl -H @headers.txt URL`,
	`curl -A 'my agent/1.0 (x; y)' URL`,
	`curl -e http://from.example/ URL`,
	`curl -r 0-99 URL`,
	`curl -b 'a=1; b=2' URL`,
	`curl -b a=1 -b b=2 URL`,
	`curl --cookie 'session="q u o t e d"' URL`,
	`curl -u me:secret URL`,
	`curl -u 'me:se:cr@t' URL`,
	`curl http://me:p%40ss@127.0.0.1:PORT/userinfo`,
	`curl --oauth2-bearer abc.def.ghi URL`,
	`curl -d a=1 URL`,
	`curl -d a=1 -d 'b=2 3' --data c=%20 URL`,
	`curl -d '' URL/empty`,
	`curl -d @data.txt URL`,
	`curl --data-binary @data.txt URL`,
	`curl --data-binary @bytes.bin -H 'Content-Type: application/octet-stream' URL`,
	`curl --data-raw '@not-a-file' URL`,
	`curl --data-urlencode 'a b&c=d/é~' URL`,
	`curl --data-urlencode '=x y' --data-urlencode 'name=v w&' URL`,
	`curl --data-urlencode @data.txt --data-urlencode field@data.txt URL`,
	`curl -G -d a=1 -d b=2 URL/search`,
	`curl -G --data-urlencode 'q=two words' 'URL/search?page=1'`,
	`curl -G -I -d a=1 URL`,
	`curl --url-query 'q=a b' --url-query +raw=%20 URL/search`,
	`curl --json '{"tool": "curl"}' URL`,
	`curl --json '{"a":' --json '1}' URL`,
	`curl --json @data.json -H 'Accept: text/plain' URL`,
	`curl -F name=value -F 'text=with "quotes" and é' URL`,
	`curl -F file=@page.html URL/upload`,
	`curl -F 'file=@data.txt;type=text/csv;filename=other.csv' -F a=b URL`,
	`curl -F 'content=<data.txt' -F 'json={"a":1};type=application/json' URL`,
	`curl --form-string 'a=@b;type=x' URL`,
	`curl -F 'q="a;b,c"' -F 'n"ame=1' URL`,
	`curl -F token=abc -F bin=@bytes.bin URL`,
	`curl -T data.txt URL/put`,
	`curl -T data.txt URL/folder/`,
	`curl --compressed URL`,
	`curl --request-target /other?x URL/ignored`,
	`curl -g 'URL/a[1]{b}'`,
	`curl --resolve shop.example:PORT:127.0.0.1 http://shop.example:PORT/resolved`,
	`curl --connect-to shop.example:PORT:127.0.0.1:PORT http://shop.example:PORT/connected`,
	`curl -k TLS/insecure`,
	`curl -0 URL/old`,
	`curl --http1.1 -m 5 --connect-timeout 2.5 URL`,
	"curl URL/lines \\\n  -H 'X-A: 1' \\\n  --data-raw 'a=1'",
	`curl $'URL/ansi' -H $'X-A: it\'s \u00e9\x41' --data-raw $'a\nb\tc'`,
	`curl "URL/double" -d "a \"quoted\" \$HOME \\ word"`,
	`curl URL/mixed -d a'b'"c"\ d`,
	`curl 127.0.0.1:PORT/no-scheme`,
	`curl HTTP://127.0.0.1:PORT/upper`,
	`curl URL/one URL/two -H 'X: 1'`,
	`curl URL/first -d a --next URL/second -H 'X: 1'`,
	`curl -d '{"password": "pw", "pin": 12, "n": 1}' -H 'Content-Type: application/json' -H 'X-API-Key: k' 'URL/s?token=t'`,
	`curl -d 'user=me&password=a%26b' -b session=1 URL/login`,
	`curl -d '{{x}}' 'URL/{{y}}' -g -H 'X: {{z}}'`,
	`curl URL/ümlaut -d ü=ä`,
	`curl --url URL/by-option -v -s`,
	`curl -- URL/after`,
	`curl URL -X POST`,
	`curl URL -X PUT -d ''`,
	`curl -d a=1 -H 'Content-Type:' URL`,
}

// curlRefused are what dyno cannot send as curl does.
var curlRefused = map[string]string{
	`curl --digest -u a:b URL`:                    "not supported: --digest",
	`curl --ntlm URL`:                             "not supported: --ntlm",
	`curl -x http://proxy:3128 URL`:               "not supported: -x",
	`curl -K config URL`:                          "not supported: -K",
	`curl -n URL`:                                 "not supported: -n",
	`curl -b jar.txt URL`:                         "not supported: --cookie with a file",
	`curl -u me URL`:                              "not supported: --user without a password, for which curl would ask",
	`curl -F 'a=@x,y' URL`:                        "not supported: --form with several files",
	`curl -F 'a=b;headers="X: 1"' URL`:            "not supported: --form with ;headers",
	`curl -T - URL`:                               "not supported: --upload-file with stdin",
	`curl -d @- URL`:                              "not supported: --data with stdin",
	`curl 'URL/{a,b}'`:                            "not supported: a URL with {} or [], which curl takes for a list; with -g it is none",
	`curl ftp://host/`:                            "not supported: the scheme ftp",
	`curl -H 'User-Agent:' URL`:                   "not supported: --header 'User-Agent:': dyno always sends one",
	`curl -H 'Transfer-Encoding: chunked' URL`:    "not supported: --header 'Transfer-Encoding: …'",
	`curl --http2 URL`:                            "not supported: --http2 without TLS",
	`curl --cert a.pem:pw URL`:                    "not supported: --cert with a password",
	`curl --resolve other.example:80:1.2.3.4 URL`: "not supported: --resolve or --connect-to of a host that the URL does not name",
	`curl --limit-rate 10k URL`:                   "not supported: --limit-rate",
	`curl -Q x URL`:                               "not supported: -Q",
	`curl --frobnicate URL`:                       "not supported: --frobnicate",
	`curl -z yesterday URL`:                       "not supported: -z",
}

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
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n%s", length, strings.Repeat("ok", len(length)-1+map[string]int{"2": 1}[length]))
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

// normalForm is a request with its headers sorted, without the program's own name, with one boundary,
// and without what has no meaning: blanks around a value, Expect of a curl before 8.7, and of a
// request without a body the length 0.
func normalForm(request string) string {
	head, body, _ := strings.Cut(request, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	for i, l := range lines[1:] {
		name, value, _ := strings.Cut(l, ":")
		lines[i+1] = strings.TrimSpace(name + ": " + strings.TrimSpace(value))
	}
	fields := slices.DeleteFunc(lines[1:], func(l string) bool {
		return strings.HasPrefix(l, "User-Agent: curl/") || strings.HasPrefix(l, "User-Agent: dyno/") ||
			l == "Expect: 100-continue" || l == "Content-Length: 0"
	})
	slices.SortStableFunc(fields, func(a, b string) int {
		name := func(s string) string { n, _, _ := strings.Cut(s, ":"); return strings.ToLower(n) }
		return strings.Compare(name(a), name(b))
	})
	text := lines[0] + "\n" + strings.Join(fields, "\n") + "\n\n" + body
	return boundaries.ReplaceAllString(text, "BOUNDARY")
}

// startEcho listens, with TLS or without.
func startEcho(t *testing.T, e *echo, secure bool) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if secure {
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
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("DYNO_HOME", filepath.Join(dir, "home"))
	for name, content := range map[string]string{
		"data.txt": "line 1\r\nline & 2\n", "data.json": `{"file": true}` + "\n", "page.html": "<p>é</p>",
		"bytes.bin": "\x00\xff\r\n{{x}}\n", "headers.txt": "X-One: 1\nX-Two: 2\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var e echo
	plain, secure := startEcho(t, &e, false), startEcho(t, &e, true)
	place := strings.NewReplacer("URL", "http://"+plain.String(), "TLS", "https://"+secure.String(),
		"PORT", strings.TrimPrefix(plain.String(), "127.0.0.1:"))
	for _, command := range curlCommands {
		line := place.Replace(command)
		if out, err := exec.Command("bash", "-c", strings.ReplaceAll(line, "curl ", "curl --silent ")+" >/dev/null").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
			continue
		}
		want := e.take()
		got := sentByDyno(t, line, len(want))
		if all := e.take(); got && !slices.Equal(all, want) {
			t.Errorf("%s\ncurl sent\n%s\ndyno sent\n%s", line, strings.Join(want, "\n---\n"), strings.Join(all, "\n---\n"))
		}
	}
	for command, want := range curlRefused {
		var stdout, stderr bytes.Buffer
		code := Main([]string{"from", "curl", place.Replace(command)}, nil, &stdout, &stderr)
		if got := strings.TrimSpace(stderr.String()); code != exitUsage || got != "dyno: the command: "+want {
			t.Errorf("%s\n exits %d with %s\nwant 2 with dyno: the command: %s", command, code, got, want)
		}
	}
}

// sentByDyno has dyno send the n requests of a command, as its own message says.
func sentByDyno(t *testing.T, line string, n int) bool {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := Main([]string{"from", "curl", "-o", "requests.jsonl", "--secrets", "secrets.jsonl", line}, nil,
		&stdout, &stderr); code != exitOK {
		t.Errorf("%s\nexits %d: %s", line, code, stderr.String())
		return false
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	words, err := curl.Words("the message", lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"run", "-n", fmt.Sprint(n), "-c", "1", "-t", "1", "-q", "--no-save"}, words[2:]...)
	stderr.Reset()
	if code := Main(args, nil, &stdout, &stderr); code != exitOK {
		t.Errorf("%s\ndyno %q exits %d: %s", line, args, code, stderr.String())
		return false
	}
	return true
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
