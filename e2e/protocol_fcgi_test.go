//go:build linux

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fcgiwrap is FastCGI around programs of CGI, one process for each request.
var fcgiwrap = real{name: "fcgiwrap", command: "fcgiwrap", pack: "fcgiwrap", socket: "cgi.sock",
	start: "-f -c 4 -s unix:DIR/cgi.sock", log: "access.log",
	files: map[string]string{"access.log": "", "www/page": `#!/bin/sh
echo "$REQUEST_METHOD $REQUEST_URI" >>DIR/access.log
[ -z "$COMPLAINT" ] || echo "$COMPLAINT" >&2
printf 'Status: %s\r\nContent-Type: text/plain\r\n\r\n' "${STATUS:-200 OK}"
[ "$REQUEST_METHOD" = HEAD ] || echo "$(wc -c) of ${CONTENT_LENGTH:-none}"
`}}

// TestFCGIWrap checks what a shell script is sent, answers and logs.
func TestFCGIWrap(t *testing.T) {
	t.Parallel()
	l := fcgiwrap.launchServer(t)
	if err := os.Chmod(filepath.Join(l.dir, "www/page"), 0o755); err != nil {
		t.Fatal(err)
	}
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, make([]byte, 300_000), 0o600); err != nil {
		t.Fatal(err)
	}
	base := "fcgi+unix://" + filepath.Join(l.dir, "cgi.sock") + ":"
	for _, test := range []struct {
		name, args string
		n          int64
		status     string
	}{
		{"kept", "-c 4", 200, "200"},
		{"portable", "-c 4 --ring portable", 100, "200"},
		{"each a connection", "-c 100 --reconnect always", 200, "200"},
		{"reconnect 10", "-c 4 --reconnect 10", 100, "200"},
		{"upload", "-c 4 -b @" + body, 50, "200"},
		{"status", "-c 4 --fcgi-param STATUS=503 --expect 503", 100, "503"},
		{"HEAD", "-c 4 -X HEAD", 100, "200"},
	} {
		t.Run(test.name, func(t *testing.T) {
			word := "/page?" + strings.ReplaceAll(test.name, " ", "-") + "="
			args := append(strings.Fields(test.args), "-n", fmt.Sprint(test.n),
				"--fcgi-param", "DOCUMENT_ROOT="+l.dir+"/www", base+word)
			r := runDyno(t, 0, args...).result
			checkFlawless(t, r, test.n, test.status)
			checkProtocol(t, r, "fastcgi")
			if served := l.servedSince(t, word, test.n); served != test.n {
				t.Errorf("the script's log has %d; %+v", served, r.Requests)
			}
		})
	}
	t.Run("stderr", func(t *testing.T) {
		args := []string{"-t", "1", "-c", "2", "-n", "10", "--fcgi-param", "DOCUMENT_ROOT=" + l.dir + "/www",
			"--fcgi-param", "COMPLAINT=ouch", base + "/page"}
		e := runDyno(t, 0, append(args, "--show-secrets")...).result.FCGIStderr // fcgiwrap makes some ends of lines those of headers
		if e == nil || strings.Count(e.Text, "ouch") != 10 || e.Bytes != int64(len(e.Text)) {
			t.Errorf("stderr %+v", e)
		}
		e = runDyno(t, 0, args...).result.FCGIStderr
		if e == nil || strings.Contains(e.Text, "ouch") || strings.Count(e.Text, "(redacted-") != 10 {
			t.Errorf("stderr that repeats a parameter, which may be secret: %+v", e)
		}
	})
	t.Run("no script", func(t *testing.T) {
		r := runDyno(t, 0, "-c", "2", "-n", "10", "--expect", "any",
			"--fcgi-param", "DOCUMENT_ROOT="+l.dir+"/www", base+"/nothing").result
		checkFlawless(t, r, 10, "403")
	})
}

// TestFastCGITimeout gives up connections whose application does not answer. Others replace them.
func TestFastCGITimeout(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	go fcgi.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			<-over
		}
		io.WriteString(w, page)
	}))
	urls := filepath.Join(t.TempDir(), "urls")
	if err := os.WriteFile(urls, []byte(strings.Repeat("/a\n", 9)+"/never\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runDyno(t, 0, "-n", "240", "-R", "20", "-c", "30", "-t", "1", "--timeout", "6s",
		"--urls", urls, "fcgi://"+l.Addr().String()).result
	checkBalanced(t, r, 240)
	if q := r.Requests; q.Completed != 216 || q.Errors != 24 || q.Unfinished != 0 {
		t.Errorf("%+v", q)
	}
	if len(r.Errors) != 1 || r.Errors[0].Phase != "timeout" || r.Errors[0].Count != 24 {
		t.Errorf("%+v", r.Errors)
	}
	if c := r.Connections; c.Asked != 30 || c.Opened != c.Reconnects+30 || c.Reconnects < 5 {
		t.Errorf("%+v", c)
	}
}
