package fairness

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/tunnel/tunneltest"
)

// A spoken is a server of the standard library or of quic-go, and how it is asked.
type spoken struct {
	name  string
	start func(testing.TB, http.Handler) asking
}

// spokens are all protocols but HTTP/1.
var spokens = []spoken{{"h2c", serveH2C}, {"h2", serveH2}, {"h3", serveH3},
	{"fcgi", serveFCGI}, {"fcgi+unix", serveFCGIUnix}}

func serveH2C(t testing.TB, h http.Handler) asking {
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return asking{URL: strings.Replace(s.URL, "http", "h2c", 1) + "/"}
}

// secretServer is a server of TLS, who signed its certificate, and its own configuration.
func secretServer(t testing.TB, h http.Handler, http2 bool) (url, ca string, own *tls.Config) {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet()
	s.EnableHTTP2 = http2
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL + "/", authority(s), s.TLS
}

// authority is who signed the certificate of a server.
func authority(s *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

func serveH2(t testing.TB, h http.Handler) asking {
	url, ca, _ := secretServer(t, h, true)
	return asking{URL: url, HTTP: "2", CA: ca}
}

func serveH3(t testing.TB, h http.Handler) asking {
	_, ca, own := secretServer(t, h, false) // for its certificate
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s := &http3.Server{Handler: h, TLSConfig: http3.ConfigureTLSConfig(own)}
	var group sync.WaitGroup
	group.Go(func() { s.Serve(socket) })
	t.Cleanup(func() { s.Close(); socket.Close(); group.Wait() })
	return asking{URL: "https://" + socket.LocalAddr().String() + "/", HTTP: "3", CA: ca}
}

func serveFCGI(t testing.TB, h http.Handler) asking {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go fcgi.Serve(l, h)
	return asking{URL: "fcgi://" + l.Addr().String() + "/"}
}

func serveFCGIUnix(t testing.TB, h http.Handler) asking {
	dir, err := os.MkdirTemp("", "fair")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); os.RemoveAll(dir) })
	go fcgi.Serve(l, h)
	return asking{URL: "fcgi+unix://" + path + ":/"}
}

// hello answers 12 bytes, and 404 for all paths but /.
func hello(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	write(w, "Hello World\n")
}

func write(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	io.WriteString(w, body)
}

// codedPairs are handlers that answer unlike hello, and the aspects that say so.
var codedPairs = []struct {
	name    string
	handler http.HandlerFunc
	broken  []string
}{
	{"the same", hello, nil},
	{"another status", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(201)
		io.WriteString(w, "Hello World\n")
	}, []string{"status"}},
	{"another body", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			hello(w, r)
			return
		}
		write(w, "hello world\n")
	}, []string{"body"}},
	{"a longer body", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			hello(w, r)
			return
		}
		write(w, "Hello World!\n")
	}, []string{"body", "body_bytes", "content-length"}},
	{"one more field", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Powered-By", "x")
		hello(w, r)
	}, []string{"header_names", "x-powered-by", "header_bytes"}},
	{"a field that varies", varyingField(), []string{"header_names", "x-n", "stability"}},
	{"compressed when accepted", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") == "gzip" {
			w.Header().Set("Content-Encoding", "gzip")
		}
		hello(w, r)
	}, []string{"gzip"}},
	{"does not route", func(w http.ResponseWriter, _ *http.Request) { write(w, "Hello World\n") },
		[]string{"unknown_path"}},
}

func varyingField() http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-N", strconv.Itoa(int(n.Add(1)%10)))
		hello(w, r)
	}
}

// Each difference is found over each protocol as over HTTP/1.1, and nothing else is.
func TestCodedPairs(t *testing.T) {
	for _, p := range spokens {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			q := p.start(t, http.HandlerFunc(hello))
			q.Times = 3
			ref := ask(t, q)
			for _, c := range codedPairs {
				q := p.start(t, c.handler)
				q.Times, q.Brief = 3, !slices.Contains(c.broken, "gzip") &&
					!slices.Contains(c.broken, "unknown_path")
				got := broken(ref, ask(t, q))
				for _, want := range c.broken {
					if !slices.Contains(got, want) {
						t.Errorf("%s: broken %q, want %q too", c.name, got, want)
					}
				}
				if c.broken == nil && got != nil {
					t.Errorf("%s: broken %q", c.name, got)
				}
			}
		})
	}
}

// A server that speaks several protocols is like itself in all of them, but for the protocol's
// name, which can be allowed, and TLS.
func TestAcrossProtocols(t *testing.T) {
	t.Parallel()
	one := httptest.NewServer(http.HandlerFunc(hello))
	defer one.Close()
	ref := ask(t, asking{URL: one.URL, Times: 3})
	for _, p := range spokens {
		q := p.start(t, http.HandlerFunc(hello))
		q.Times, q.Brief = 3, true
		a := ask(t, q)
		var want []string
		if q.CA != "" {
			want = append(want, "tls")
		}
		if got := broken(ref, a, "version"); !slices.Equal(got, want) {
			t.Errorf("%s: broken %q, want %q", p.name, got, want)
		}
		if got := broken(ref, a); !slices.Contains(got, "version") {
			t.Errorf("%s: the protocol is not named: %q", p.name, got)
		}
		for _, row := range Compare("a", []Asked{{"a", ref}, {"b", a}}, nil).Rows {
			left := slices.Contains([]string{"reason", "interim", "framing", "header_bytes", "wire_bytes",
				"trailer", "connection"}, row.Aspect)
			if cell := row.Cells[1]; left && (cell.State != Unseen || cell.Percent != nil) {
				t.Errorf("%s: %s has no meaning there, and is %+v", p.name, row.Aspect, cell)
			}
		}
	}
}

// Every part of an answer, against what the handler does.
func TestCodedAnswer(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "a/b")
		fmt.Fprintf(w, "%s %s %s %s %s %s\n", r.Method, r.URL.RequestURI(), r.Host, r.UserAgent(),
			r.Header.Get("X-A"), r.Header.Get("Authorization"))
		w.Write(b)
	})
	long := bytes.Repeat([]byte("x"), 300_000) // more than windows and a record hold
	for _, p := range spokens {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			q := p.start(t, handler)
			q.Method, q.Path, q.Body = "POST", "/p?q=1", long
			q.Header, q.Times, q.KeepAlive = []proto.Field{{Name: "X-A", Value: "1"}}, 4, 5
			q.URL = strings.Replace(q.URL, "://127", "://u:p@127", 1)
			basic := "Basic dTpw"
			if strings.Contains(q.URL, "unix") {
				basic = ""
			}
			a := ask(t, q)
			start := fmt.Sprintf("POST /p?q=1 %s %s 1 %s\n", a.Authority, loadplan.UserAgent, basic)
			if !strings.HasPrefix(a.BodyStart, start) || a.BodyBytes.Min != int64(len(start)+len(long)) {
				t.Errorf("the body has %v bytes: %.100q, want %q", a.BodyBytes, a.BodyStart, start)
			}
			if v, _ := valueOf(a.Header, "content-type"); a.Status != 200 || v != "a/b" ||
				a.Exchanges < 4+a.Kept.Served-1 || a.Varies != nil || a.Date != DateAdvances || a.BodyCut {
				t.Errorf("%.1000s", fmt.Sprintf("%+v", a))
			}
			// A busy machine may not have the time for all of them.
			if k := *a.Kept; k != (Kept{5, 5, EndAsked}) && (k.End != EndTime || k.Asked != 5 || k.Served < 1) {
				t.Errorf("kept %+v", k)
			}
			if (q.CA != "") != (a.TLS != nil) || a.TLS != nil &&
				(a.TLS.ALPN != "h"+q.HTTP || a.TLS.Key != "RSA 2048") {
				t.Errorf("TLS: %+v", a.TLS)
			}
		})
	}
}

// Alt-Svc names the server's own port, and that alone is no difference.
func TestAltSvc(t *testing.T) {
	answer := func(more string) *Answer {
		q := serveH2C(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, port, _ := net.SplitHostPort(r.Host)
			w.Header().Set("Alt-Svc", `h3=":`+port+`"`+more)
			hello(w, r)
		}))
		q.Times, q.Brief = 2, true
		return ask(t, q)
	}
	one := answer("")
	if got := broken(one, answer("")); slices.Contains(got, "alt-svc") {
		t.Errorf("broken %q", got)
	}
	if got := broken(one, answer("; ma=1")); !slices.Contains(got, "alt-svc") {
		t.Errorf("broken %q", got)
	}
}

// Trailers are compared where the protocol has them.
func TestTrailers(t *testing.T) {
	trailing := func(value string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "Hello")
			w.Header().Set("X-Sum", value)
		})
	}
	for _, p := range spokens[:3] {
		var all []*Answer
		for _, value := range []string{"1", "1", "2"} {
			q := p.start(t, trailing(value))
			q.Times, q.Brief = 2, true
			all = append(all, ask(t, q))
		}
		if want := []Line{{"x-sum", "1", 6}}; !slices.Equal(all[0].Trailer, want) {
			t.Errorf("%s: trailer %+v", p.name, all[0].Trailer)
		}
		if got := broken(all[0], all[1]); got != nil {
			t.Errorf("%s: broken %q", p.name, got)
		}
		if got := broken(all[0], all[2]); !slices.Equal(got, []string{"trailer"}) {
			t.Errorf("%s: broken %q", p.name, got)
		}
		if got := broken(all[0], all[2], "x-sum"); got != nil {
			t.Errorf("%s: broken %q", p.name, got)
		}
	}
}

// A body without end is read up to the limit.
func TestLongCodedBody(t *testing.T) {
	t.Parallel()
	block := bytes.Repeat([]byte("x"), 1<<20)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 2 * maxBody >> 20 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	for _, p := range spokens {
		q := p.start(t, handler)
		q.Times, q.Brief, q.Timeout = 1, true, time.Minute
		a := ask(t, q)
		if !a.BodyCut || a.BodyBytes.Max != maxBody || a.Kept.End != EndCut {
			t.Errorf("%s: cut %v, %v, %+v", p.name, a.BodyCut, a.BodyBytes, a.Kept)
		}
	}
}

// How one connection ends: Go ends one of HTTP/2 with GOAWAY after Connection: close.
func TestCodedKept(t *testing.T) {
	var n atomic.Int64
	q := serveH2C(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 5 {
			w.Header().Set("Connection", "close")
		}
		hello(w, r)
	}))
	q.Times, q.KeepAlive, q.Brief = 1, 30, true
	if a := ask(t, q); *a.Kept != (Kept{30, 4, EndAnnounced}) {
		t.Errorf("%+v", *a.Kept)
	}
	q.Close = true
	if a := ask(t, q); a.Kept != nil {
		t.Errorf("%+v", *a.Kept)
	}
	once := serve(t, func(c net.Conn, r *bufio.Reader) { // a FastCGI application for one request
		fcgi.Serve(&oneConn{c: c}, http.HandlerFunc(hello))
	})
	q = asking{URL: strings.Replace(once, "http", "fcgi", 1), Times: 2, KeepAlive: 9, Brief: true}
	if a := ask(t, q); *a.Kept != (Kept{9, 9, EndAsked}) {
		t.Errorf("%+v", *a.Kept)
	}
}

// A oneConn is a listener with one connection.
type oneConn struct {
	c    net.Conn
	once bool
}

func (l *oneConn) Accept() (net.Conn, error) {
	if l.once {
		time.Sleep(time.Minute) // the connection goes on meanwhile
		return nil, io.EOF
	}
	l.once = true
	return l.c, nil
}
func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return l.c.LocalAddr() }

// frame is a frame of HTTP/2.
func frame(kind, flags, stream byte, content string) string {
	return string([]byte{0, 0, byte(len(content)), kind, flags, 0, 0, 0, stream}) + content
}

// settings begin what a server of HTTP/2 says.
var settings = frame(4, 0, 0, "")

// saying sends s to a client at once, and nothing more; it closes if s ends with last.
func saying(s string) life {
	return func(c net.Conn, r *bufio.Reader) {
		s, ends := strings.CutSuffix(s, last)
		io.WriteString(c, s)
		if !ends {
			io.Copy(io.Discard, r)
			return
		}
		r.Peek(1) // what was sent is not lost by a reset
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, r)
	}
}

// replying says settings, and s once a request has come.
func replying(s string) life {
	return func(c net.Conn, r *bufio.Reader) {
		io.WriteString(c, settings)
		io.ReadFull(r, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
		for head := make([]byte, 9); head[3] != 1; {
			if _, err := io.ReadFull(r, head); err != nil {
				return
			}
			r.Discard(int(head[0])<<16 | int(head[1])<<8 | int(head[2]))
		}
		saying(s)(c, r)
	}
}

// tryTimeouts tries longer and longer timeouts, up to a minute, until one is right: on a busy machine
// a short one is over before the server got so far.
func tryTimeouts(t *testing.T, right func(timeout time.Duration) error) {
	t.Helper()
	timeout := 300 * time.Millisecond
	err := right(timeout)
	for ; err != nil && timeout < time.Minute; err = right(timeout) {
		t.Logf("with a timeout of %v: %v", timeout, err)
		timeout = min(6*timeout, time.Minute)
	}
	if err != nil {
		t.Error(err)
	}
}

// Servers that speak a protocol badly, or not at all: the error names it, and what was wrong.
func TestCodedBad(t *testing.T) {
	headers := frame(1, 4, 1, "\x88") // status 200
	for _, c := range []struct {
		name, scheme string
		live         life
		want         string
	}{
		{"silent", "h2c", saying(""), "has not allowed a request"},
		{"slow", "h2c", saying(settings), "no answer within"},
		{"slow body", "h2c", replying(headers + frame(0, 0, 1, "a")), "was not complete within"},
		{"HTTP/1", "h2c", saying("HTTP/1.1 400 Bad Request\r\n\r\n" + last), "HTTP/1"},
		{"reset", "h2c", replying(frame(3, 0, 1, "\x00\x00\x00\x02")),
			"RST_STREAM, internal-error"},
		{"refused", "h2c", replying(frame(3, 0, 1, "\x00\x00\x00\x07")),
			"refused the request"},
		{"GOAWAY", "h2c", saying(settings + frame(7, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x0b")),
			"ENHANCE_YOUR_CALM"},
		{"GOAWAY without a reason", "h2c", saying(settings +
			frame(7, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x00")), errLeaving.Error()},
		{"truncated", "h2c", replying(headers + frame(0, 0, 1, "ab") + last),
			"closed inside the response"},
		{"closed", "h2c", saying(settings + last), errClosed.Error()},
		{"garbage", "fcgi", saying("HTTP/1.1 400 Bad Request\r\n\r\n" + last), "is this an http:// server?"},
		{"slow", "fcgi", saying(""), "no answer within"},
		{"truncated", "fcgi", saying("\x01\x06\x00\x01\x00\x05\x00\x00\r\n\r\nH" + last),
			"closed without FCGI_END_REQUEST"},
	} {
		t.Run(c.scheme+" "+c.name, func(t *testing.T) {
			t.Parallel()
			url := strings.Replace(serve(t, c.live), "http", c.scheme, 1)
			ask := func(timeout time.Duration) error {
				_, err := Ask(context.Background(), asking{URL: url, Timeout: timeout}.question())
				if err == nil || !strings.Contains(err.Error(), c.want) ||
					!strings.Contains(err.Error(), url+" over ") {
					return fmt.Errorf("error %v, want %q", err, c.want)
				}
				return nil
			}
			if c.name == "silent" || strings.HasPrefix(c.name, "slow") { // nothing but a timeout ends it
				tryTimeouts(t, ask)
			} else if err := ask(time.Minute); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a handler does wrong is an error over each protocol, not an answer.
func TestCodedAborts(t *testing.T) {
	t.Parallel()
	for _, p := range spokens[:3] { // Go's FastCGI ends an aborted response as if it were whole
		q := p.start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "12")
			io.WriteString(w, "Hello")
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}))
		if _, err := Ask(context.Background(), q.question()); err == nil || !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s, truncated: %v", p.name, err)
		}
	}
	for _, p := range spokens {
		over := make(chan struct{})
		q := p.start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
		tryTimeouts(t, func(timeout time.Duration) error {
			q.Timeout = timeout
			if _, err := Ask(context.Background(), q.question()); err == nil ||
				!strings.Contains(err.Error(), fmt.Sprintf("no answer within %v", timeout)) {
				return fmt.Errorf("%s, slow: %v", p.name, err)
			}
			return nil
		})
		q.Timeout = 2 * time.Minute
		tryTimeouts(t, func(timeout time.Duration) error {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			if _, err := Ask(ctx, q.question()); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("%s, slow: %v", p.name, err)
			}
			return nil
		})
		close(over)
	}
}

// A handshake that is refused says why.
func TestCodedHandshakes(t *testing.T) {
	h := http.HandlerFunc(hello)
	url, ca, _ := secretServer(t, h, false)
	nobody, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	gone := nobody.LocalAddr().String()
	nobody.Close()
	h2, h3 := serveH2(t, h), serveH3(t, h)
	for _, c := range []struct {
		name string
		q    asking
		want string
	}{
		{"no HTTP/2", asking{URL: url, HTTP: "2", CA: ca}, "protocol"},
		{"certificate of HTTP/2", asking{URL: h2.URL, HTTP: "2"}, "certificate"},
		{"certificate of HTTP/3", asking{URL: h3.URL, HTTP: "3"}, "certificate"},
		{"nobody", asking{URL: "https://" + gone + "/", HTTP: "3", CA: ca},
			"cannot connect"},
		{"no TLS", asking{URL: "http://" + gone + "/", HTTP: "3"}, "always over TLS"},
		{"two protocols", asking{URL: "fcgi://" + gone + "/", HTTP: "2"}, "is FastCGI and not HTTP/2"},
		{"no protocol", asking{URL: "http://" + gone + "/", HTTP: "4"}, `"4" is not auto, 1.0`},
		{"a field of HTTP/1", asking{URL: "h2c://" + gone + "/",
			Header: []proto.Field{{Name: "Connection", Value: "close"}}}, "cannot ask"},
	} {
		c.q.Timeout = time.Minute // nobody waits for it: each of them is refused
		if _, err := Ask(context.Background(), c.q.question()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A name of which one address is silent is asked at the other, with HTTP/3 too.
func TestAsksBesideASilentAddress(t *testing.T) {
	t.Parallel()
	var q asking
	var port string
	var silent net.PacketConn
	err := error(syscall.EADDRINUSE)
	for errors.Is(err, syscall.EADDRINUSE) { // somebody has that port of the other address
		q = serveH3(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
		_, port, _ = strings.Cut(strings.TrimSuffix(q.URL, "/"), "127.0.0.1:")
		silent, err = net.ListenPacket("udp6", "[::1]:"+port)
	}
	if err != nil { // there is no IPv6
		t.Skip(err)
	}
	defer silent.Close()
	q.URL, q.ServerName, q.Timeout, q.Brief = "https://localhost:"+port+"/", "127.0.0.1", time.Hour, true
	a, err := Ask(t.Context(), q.question())
	if err != nil || a.Status != http.StatusOK {
		t.Errorf("%+v, %v", a, err)
	}
}

// A server behind a proxy is asked through it, each protocol in the way that the load has, and
// answers as it does without.
func TestAskThroughProxy(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"", "u:p"} {
		for _, c := range []struct {
			name  string
			start func(testing.TB, http.Handler) asking
			ask   asking
		}{{"http", serveH1, asking{}}, {"https", serveTLS, asking{}}, {"h2c", serveH2C, asking{}}, {"h2", serveH2, asking{}}} {
			proxy := tunneltest.Start(t, user)
			q := c.start(t, http.HandlerFunc(hello))
			q.Times, q.KeepAlive, q.Brief = 2, 3, true
			direct := ask(t, q)
			q.Proxy = proxy.URL
			got := ask(t, q)
			if d := Differences(direct, got); len(d) > 0 {
				t.Errorf("%s, %q: through the proxy %+v", c.name, user, d)
			}
			tunnels, forwarded := proxy.Tunnels.Load(), proxy.Forwarded.Load()
			if want := int64(got.Exchanges); c.name == "http" && (forwarded != want || tunnels > 0) ||
				c.name != "http" && (forwarded > 0 || tunnels != 3) || proxy.Refused.Load() > 0 {
				t.Errorf("%s, %q: %d forwarded of %d, %d tunnels", c.name, user, forwarded, want, tunnels)
			}
		}
	}
	q := serveTLS(t, http.HandlerFunc(hello))
	q.Proxy = strings.Replace(tunneltest.Start(t, "u:p").URL, "u:p@", "", 1)
	if _, err := Ask(t.Context(), q.question()); err == nil || !strings.Contains(err.Error(), "answered 407 to CONNECT") {
		t.Error(err)
	}
}

func serveH1(t testing.TB, h http.Handler) asking {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return asking{URL: s.URL + "/"}
}

func serveTLS(t testing.TB, h http.Handler) asking {
	url, ca, _ := secretServer(t, h, false)
	return asking{URL: url, CA: ca}
}
