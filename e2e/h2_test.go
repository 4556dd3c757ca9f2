//go:build linux

package e2e

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/result"
)

// A goServer is net/http, with a count of what it serves.
type goServer struct {
	plain, secure string // addresses
	crt           string
	served, sent  atomic.Int64 // requests, and the bytes of their bodies
	canceled      atomic.Int64 // those of /never that their client gave up
}

func (s *goServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	s.sent.Add(n)
	s.served.Add(1)
	if r.URL.Path == "/never" {
		<-r.Context().Done()
		s.canceled.Add(1)
		return
	}
	if r.URL.Path == "/leave" {
		w.Header().Set("Connection", "close") // which is GOAWAY in HTTP/2
	}
	if size, err := strconv.Atoi(r.URL.Query().Get("size")); err == nil {
		w.Write(make([]byte, size))
		return
	}
	fmt.Fprintf(w, "%s %s %d\n", r.Proto, r.URL.Path, n)
}

// startGoServer serves HTTP/1.1 and HTTP/2, in the clear and over TLS.
func startGoServer(t *testing.T) *goServer {
	t.Helper()
	cert, crt, _ := makeCertificate(t, time.Now().Add(24*time.Hour), "127.0.0.1")
	s := &goServer{crt: crt}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Handler: s, Protocols: protocols,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}},
		ErrorLog:  log.New(io.Discard, "", 0)}
	for _, l := range []struct {
		addr  *string
		serve func(net.Listener) error
	}{
		{&s.plain, server.Serve},
		{&s.secure, func(l net.Listener) error { return server.ServeTLS(l, "", "") }},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		*l.addr = listener.Addr().String()
		go l.serve(listener)
	}
	t.Cleanup(func() { server.Close() })
	return s
}

// checkProtocol checks which protocol all connections of a run used.
func checkProtocol(t *testing.T, r *result.Result, protocol string) {
	t.Helper()
	want := map[string]int64{protocol: r.Connections.Opened}
	if got := r.Connections.Protocols; !maps.Equal(got, want) {
		t.Errorf("protocols %v, want %v", got, want)
	}
}

// TestHTTP2Counts sends a number of requests on a number of streams.
func TestHTTP2Counts(t *testing.T) {
	t.Parallel()
	s := startGoServer(t)
	for _, args := range []string{
		"-n 2345 -c 7", "-n 2345 -c 7 --streams 10", "-n 3456 -c 3 --streams 100 -t 2",
		"-n 3456 -c 1 --streams 250", "-n 100 -c 1 --streams 100", "-n 7 -c 7 --streams 100",
		"-n 2345 -c 3 --streams 10 --reconnect 100", "-n 345 -c 3 --reconnect always",
		"-n 2345 -c 3 --streams 10 --ring portable", "-R 2000 -d 1s -c 2 --streams 10 --drain 1m",
	} {
		for _, url := range []string{"h2c://" + s.plain, "https://" + s.secure} {
			scheme, _, _ := strings.Cut(url, ":")
			t.Run(args+" "+scheme, func(t *testing.T) {
				before := s.served.Load()
				args := append(strings.Fields(args), "--connect-timeout", "1m", "--timeout", "1m")
				if scheme == "https" {
					args = append(args, "--cacert", s.crt)
				}
				r := runDyno(t, 0, append(args, url)...).result
				n := s.served.Load() - before
				checkFlawless(t, r, r.Requests.Sent, "200")
				checkProtocol(t, r, "h2")
				if want := r.Plan.Requested; n != r.Requests.Sent || want > 0 && n != want {
					t.Errorf("the server counts %d; %+v", n, r.Requests)
				}
			})
		}
	}
}

// TestHTTP2Bodies sends and receives more than flow-control windows hold.
func TestHTTP2Bodies(t *testing.T) {
	t.Parallel()
	s := startGoServer(t)
	const size, n = 3_000_000, 40
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"h2c://" + s.plain, "https://" + s.secure} {
		common := []string{"-n", strconv.Itoa(n), "-c", "2", "--streams", "8"}
		if strings.HasPrefix(url, "https") {
			common = append(common, "--insecure")
		}
		s.sent.Store(0)
		r := runDyno(t, 0, append(common, "-b", "@"+body, url)...).result
		checkFlawless(t, r, n, "200")
		if sent := s.sent.Load(); sent != n*size {
			t.Errorf("%s: %d bytes arrived, want %d", url, sent, n*size)
		}
		r = runDyno(t, 0, append(common, url+"/?size="+strconv.Itoa(size))...).result
		checkFlawless(t, r, n, "200")
		if got := r.Bytes.Received; got < n*size || got > n*size*102/100 {
			t.Errorf("%s: %d bytes received for %d", url, got, n*size)
		}
	}
}

// TestHTTP2Timeout gives up single streams. The connections stay, because the server answers the
// other streams.
func TestHTTP2Timeout(t *testing.T) {
	t.Parallel()
	s := startGoServer(t)
	urls := filepath.Join(t.TempDir(), "urls")
	if err := os.WriteFile(urls, []byte(strings.Repeat("/a\n", 9)+"/never\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"h2c://" + s.plain, "https://" + s.secure} {
		s.canceled.Store(0)
		args := []string{"-n", "200", "-c", "2", "-t", "1", "--streams", "10", "--timeout", "2s", "--urls", urls}
		if strings.HasPrefix(url, "https") {
			args = append(args, "--insecure")
		}
		r := runDyno(t, 0, append(args, url)...).result
		if q := r.Requests; q.Sent != 200 || q.Completed != 180 || q.Errors != 20 || q.Unfinished != 0 {
			t.Errorf("%s: %+v", url, q)
		}
		if c := r.Connections; c.Opened != 2 || c.Reconnects != 0 {
			t.Errorf("%s: %+v", url, c)
		}
		if len(r.Errors) != 1 || r.Errors[0].Phase != "timeout" {
			t.Errorf("%s: %+v", url, r.Errors)
		}
		for range 100 { // it hears of the last when its handler wakes up
			if s.canceled.Load() == 20 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := s.canceled.Load(); n != 20 {
			t.Errorf("%s: %d were canceled at the server, want 20", url, n)
		}
	}
}

// TestALPN lets the server choose the protocol, or not.
func TestALPN(t *testing.T) {
	t.Parallel()
	s := startGoServer(t)
	for _, test := range []struct{ args, protocol, said string }{
		{"", "h2", ""},
		{"--http 2", "h2", ""},
		{"--streams 5", "h2", ""},
		{"--http 1.1", "http/1.1", ""},
		{"--http 1.0", "http/1.0", ""},
		{"--pipeline 4", "http/1.1", "dyno offers HTTP/1.1 and not HTTP/2, because HTTP/2 has no pipelining; " +
			"give --streams"},
		{"-H Connection:keep-alive", "http/1.1", "dyno offers HTTP/1.1 and not HTTP/2, because HTTP/2 cannot carry request 1: header " +
			"Connection: is about a connection of HTTP/1.1, and HTTP/2 and HTTP/3 forbid it"},
	} {
		args := append(strings.Fields(test.args), "--insecure", "-n", "50", "-c", "5",
			"https://"+s.secure)
		o := runDyno(t, 0, args...)
		checkFlawless(t, o.result, 50, "200")
		checkProtocol(t, o.result, test.protocol)
		if test.said != "" && o.reportLines()[0] != test.said || test.said == "" && len(o.reportLines()) != 1 {
			t.Errorf("%q: said %q, want %q", test.args, o.reportLines(), test.said)
		}
	}
}

// TestHTTP2Nginx is for its habits: it allows 128 streams, says after each 100
// requests that the connection goes away, and leaves bodies unread.
func TestHTTP2Nginx(t *testing.T) {
	t.Parallel()
	_, crt, key := makeCertificate(t, time.Now().Add(24*time.Hour), "127.0.0.1")
	server, clear, secure, old := nginx, freePort(t), freePort(t), freePort(t)
	server.files = maps.Clone(nginx.files)
	server.files["nginx.conf"] = strings.Replace(nginx.files["nginx.conf"], "\t\tlocation / {",
		fmt.Sprintf("\t\tlisten 127.0.0.1:%s http2;\n\t\tlisten 127.0.0.1:%s ssl http2;\n"+
			"\t\tssl_certificate %s;\n\t\tssl_certificate_key %s;\n"+
			"\t\tlocation /file { root www; }\n\t\tlocation / {", clear, secure, crt, key), 1)
	server.files["nginx.conf"] = strings.Replace(server.files["nginx.conf"], "\n}\n",
		fmt.Sprintf("\n\tserver { listen 127.0.0.1:%s ssl; ssl_certificate %s; "+
			"ssl_certificate_key %s; }\n}\n", old, crt, key), 1)
	server.files["www/file"] = strings.Repeat("x", 1<<20)
	l := server.launchServer(t)
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, args, path string
		n, c             int64
	}{
		{"one stream", "--http 2", "/", 2000, 8},
		{"ten streams", "--streams 10", "/", 2000, 8},
		{"a hundred streams", "--streams 100", "/", 5000, 3},
		{"one connection", "--streams 128", "/", 5000, 1},
		{"two threads", "--streams 30 -t 2", "/", 5000, 10},
		{"portable", "--streams 30 --ring portable", "/", 2000, 4},
		{"reconnect 10", "--streams 5 --reconnect 10", "/", 2000, 4},
		{"rate", "--streams 10 -R 4000 --drain 1m", "/", 2000, 4},
		{"file", "--streams 10", "/file", 200, 4},
		{"upload", "--streams 5 -b @" + body, "/", 300, 4},
		{"HEAD", "--streams 10 -X HEAD", "/file", 2000, 4},
	} {
		for _, base := range []string{"h2c://127.0.0.1:" + clear, "https://127.0.0.1:" + secure} {
			scheme, _, _ := strings.Cut(base, ":")
			t.Run(test.name+" "+scheme, func(t *testing.T) {
				word := test.path + "?" + strings.ReplaceAll(test.name, " ", "-") + scheme + "="
				args := append(strings.Fields(test.args), "-n", fmt.Sprint(test.n),
					"-c", fmt.Sprint(test.c))
				if scheme == "https" {
					args = append(args, "--cacert", crt)
				}
				r := runDyno(t, 0, append(args, base+word)...).result
				checkFlawless(t, r, test.n, "200")
				checkProtocol(t, r, "h2")
				if served := l.servedSince(t, word, test.n); served != test.n {
					t.Errorf("the server's log has %d; %+v", served, r.Requests)
				}
			})
		}
	}
	t.Run("too many streams", func(t *testing.T) {
		o := runDyno(t, 0, "-n", "500", "-c", "1", "--streams", "1000", "h2c://127.0.0.1:"+clear)
		const want = "the server allows 128 streams at once on a connection, not 1000"
		if said := o.reportLines(); len(said) == 0 || said[0] != want || *o.result.Connections.Streams != 128 {
			t.Errorf("said %q; %+v", said, o.result.Connections)
		}
	})
	t.Run("no HTTP/2", func(t *testing.T) {
		url := "https://127.0.0.1:" + old
		o := runDyno(t, 4, "-c", "2", "-n", "10", "--insecure", "--http", "2", url)
		const want = `nothing could be reached: tls 127.0.0.1:PORT: the server ended TLS with the ` +
			`alert "no application protocol": it speaks no protocol that was offered (N times)`
		if o.lastLine() != "dyno: "+want {
			t.Errorf("last line %q, want %q", o.lastLine(), want)
		}
		checkProtocol(t, runDyno(t, 0, "-c", "2", "-n", "10", "--insecure", url).result, "http/1.1")
	})
	t.Run("HTTP/1.1", func(t *testing.T) {
		o := runDyno(t, 4, "-c", "2", "-n", "10", strings.Replace(l.url, "http:", "h2c:", 1))
		if !strings.HasPrefix(o.lastLine(), "dyno: nothing could be reached: protocol 127.0.0.1:PORT: ") {
			t.Errorf("last line %q", o.lastLine())
		}
	})
}
