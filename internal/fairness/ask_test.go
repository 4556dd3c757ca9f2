package fairness

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proxyproto"
	"dyno/internal/engine/proxyproto/proxytest"
)

// What two servers do, and the aspects in which the second is no match.
var pairs = []struct {
	name     string
	one, two life
	ask      asking
	broken   []string
}{
	{name: "the same", one: always(plain()), two: always(plain())},
	{name: "the same, spelt otherwise", one: always(plain("X-A: 1", "X-B: 2")),
		two: always(plain("x-b: 2", "x-a: 1"))},
	{name: "302 for 301",
		one:    always(redirect("301 Moved Permanently", "http://localhost:1024")),
		two:    always(redirect("302 Found", "http://localhost:1024")),
		broken: []string{"status", "reason", "header_bytes", "wire_bytes", "unknown_path"}},
	{name: "308 for 301, to https, and closed",
		one: always(redirect("301 Moved Permanently", "http://localhost:1024")),
		two: always("HTTP/1.1 308 Permanent Redirect\r\nConnection: close\r\n" +
			"Location: https://127.0.0.1/\r\nContent-Length: 0\r\n\r\n" + last),
		broken: []string{"status", "reason", "header_names", "location", "connection",
			"header_bytes", "wire_bytes", "keep_alive", "unknown_path"}},
	{name: "another Location",
		one:    always(redirect("301 Moved", "http://localhost:1024")),
		two:    always(redirect("301 Moved", "http://localhost:1025")),
		broken: []string{"location"}},
	{name: "another body of the same length", one: always(plain()),
		two:    always(response200("hello world\n", "Content-Length: 12")),
		broken: []string{"body"}},
	{name: "another body", one: always(plain()),
		two:    always(response200("Hello\n", "Content-Length: 06")),
		broken: []string{"content-length", "body", "body_bytes", "wire_bytes"}},
	{name: "one more header", one: always(plain()), two: always(plain("X-Powered-By: PHP/8.2")),
		broken: []string{"header_names", "x-powered-by", "header_bytes", "wire_bytes"}},
	{name: "a header twice", one: always(plain("X-A: 1")), two: always(plain("X-A: 1", "X-A: 1")),
		broken: []string{"header_names", "x-a", "header_bytes", "wire_bytes"}},
	{name: "another Server", one: always(plain("Server: one")), two: always(plain("Server: Two")),
		broken: []string{"server"}},
	{name: "chunks for a length", one: always(plain()), two: always(chunked("Hello World\n")),
		broken: []string{"header_names", "content-length", "transfer-encoding", "header_bytes",
			"framing", "wire_bytes"}},
	{name: "a close for a length", one: always(plain()),
		two: always("HTTP/1.1 200 OK\r\n\r\nHello World\n" + last),
		broken: []string{"header_names", "content-length", "header_bytes", "framing", "wire_bytes",
			"keep_alive"}},
	{name: "HTTP/1.0", one: always(plain()),
		two:    always(strings.Replace(plain(), "1.1", "1.0", 1) + last),
		broken: []string{"version", "keep_alive"}},
	{name: "closes without saying so", one: always(plain()), two: always(plain() + last),
		broken: []string{"keep_alive"}},
	{name: "closes after 100", one: always(plain()), two: closing(100),
		ask: asking{KeepAlive: 200}, broken: []string{"keep_alive"}},
	{name: "both close after 100", one: closing(100), two: closing(100),
		ask: asking{KeepAlive: 200}},
	{name: "not kept by the load either", one: always(plain()), two: always(plain() + last),
		ask: asking{Close: true}},
	{name: "gzip, when accepted", one: always(plain()), two: zipping(true), broken: []string{"gzip"}},
	{name: "gzip, unasked", one: always(plain()), two: zipping(false),
		broken: []string{"header_names", "content-length", "header_bytes", "body", "body_bytes",
			"wire_bytes", "content_encoding", "gzip"}},
	{name: "100 Continue", one: always(plain()),
		two:    always("HTTP/1.1 100 Continue\r\n\r\n" + plain()),
		broken: []string{"interim", "wire_bytes"}},
	{name: "an unknown path", one: always(plain()),
		two: answering(func(_ int, q *http.Request) string {
			if q.URL.Path != "/" {
				return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
			}
			return plain()
		}),
		broken: []string{"unknown_path"}},
	{name: "a header that varies", one: always(plain("X: 1")),
		two: answering(func(i int, _ *http.Request) string {
			return plain("X: " + strconv.Itoa(i%2))
		}),
		broken: []string{"x", "stability"}},
	{name: "a body that varies", one: always(plain()),
		two: answering(func(i int, _ *http.Request) string {
			return response200(strconv.Itoa(100000000000+i%2), "Content-Length: 12")
		}),
		broken: []string{"body", "stability"}},
	{name: "bodies that vary on both sides", one: varying(0), two: varying(2)},
	{name: "only names and ports of its own",
		one: answering(func(_ int, q *http.Request) string {
			return redirect("301 Moved", "http://"+q.Host+"/x")
		}),
		two: answering(func(_ int, q *http.Request) string {
			return redirect("301 Moved", "http://"+q.Host+"/x")
		})},
}

// closing announces the end of a connection with its n-th answer.
func closing(n int) life {
	return answering(func(i int, _ *http.Request) string {
		if i == n {
			return plain("Connection: close") + last
		}
		return plain()
	})
}

// varying has a body that is another each time.
func varying(from int) life {
	return answering(func(i int, _ *http.Request) string {
		return response200(strconv.Itoa(100000000000+from+i%2), "Content-Length: 12")
	})
}

// zipping compresses; only for those who accept it, or always.
func zipping(polite bool) life {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, "Hello World\n")
	z.Close()
	return answering(func(_ int, q *http.Request) string {
		if polite && q.Header.Get("Accept-Encoding") != "gzip" {
			return plain()
		}
		return response200(b.String(), "Content-Encoding: gzip",
			"Content-Length: "+strconv.Itoa(b.Len()))
	})
}

func TestPairs(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			var answers [2]*Answer
			for i, l := range []life{p.one, p.two} {
				q := p.ask
				q.URL = serve(t, l)
				answers[i] = ask(t, q)
				for slow := 0; answers[i].Kept != nil && answers[i].Kept.End == EndTime; slow++ {
					if slow == 100 {
						t.Fatalf("asked %d times on one connection", answers[i].Kept.Served)
					}
					answers[i] = ask(t, q) // a busy machine asked less often than it was told to
				}
			}
			if got := broken(answers[0], answers[1]); !slices.Equal(got, p.broken) {
				t.Errorf("broken: %q\nwant    %q", got, p.broken)
			}
			if got := broken(answers[1], answers[1]); got != nil {
				t.Errorf("not like itself: %q", got)
			}
		})
	}
}

// Every field of an answer, against what the server is known to send.
func TestAnswer(t *testing.T) {
	body := "Hello World\n"
	sent := "HTTP/1.1 201 All Done\r\nServer:  x \r\nX-B: 2\nContent-Length: 12\r\n\r\n"
	url := serve(t, always(sent+body))
	a := ask(t, asking{URL: url + "p?q=1", Times: 7, KeepAlive: 11})
	sum := sha256.Sum256([]byte(body))
	span := func(n int) Span { return Span{int64(n), int64(n), float64(n)} }
	opens := a.Opens
	a.Opens = Opens{}
	want := &Answer{
		URL: url + "p?q=1", Authority: url[len("http://") : len(url)-1], Exchanges: 18,
		Version: "HTTP/1.1", Status: 201, Reason: "All Done",
		Header:      []Line{{"Server", "x", 13}, {"X-B", "2", 7}, {"Content-Length", "12", 20}},
		HeaderBytes: span(len(sent)), BodyBytes: span(12), WireBytes: span(len(sent) + 12),
		Framing: ByLength, BodySHA256: hex.EncodeToString(sum[:]), BodyStart: body,
		Gzip:    &Encoded{Status: 201, BodyBytes: 12},
		Kept:    &Kept{Asked: 11, Served: 11, End: EndAsked},
		Date:    DateAbsent,
		Unknown: &Unknown{Status: 201, SameBody: true},
	}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("got  %+v\nwant %+v", a, want)
	}
	if opens.PerExchange == nil && opens.Problem == "" {
		t.Error("connections are neither counted nor explained")
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back Answer
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(&back, a) {
		t.Errorf("stored and read again it is another: %v\n%s", err, text)
	}
}

func TestKept(t *testing.T) {
	for _, c := range []struct {
		name string
		live life
		want Kept
	}{
		{"for ever", always(plain()), Kept{30, 30, EndAsked}},
		{"announced", closing(25), Kept{30, 25, EndAnnounced}},
		{"announced with the last", closing(30), Kept{30, 30, EndAnnounced}},
		{"silently", answering(func(i int, _ *http.Request) string {
			return plain() + strings.Repeat(last, i/25)
		}), Kept{30, 25, EndSilent}},
		{"never", always(plain("Connection: close") + last), Kept{30, 1, EndAnnounced}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := ask(t, asking{URL: serve(t, c.live), KeepAlive: 30})
			if *a.Kept != c.want || a.Varies != nil {
				t.Errorf("%+v, want %+v; varies %q", *a.Kept, c.want, a.Varies)
			}
		})
	}
}

// In brief nothing is asked that is not the load's, and nothing waits.
func TestBrief(t *testing.T) {
	var asked atomic.Int64
	url := serve(t, answering(func(_ int, q *http.Request) string {
		if q.URL.Path == "/" && q.Header.Get("Accept-Encoding") == "" {
			asked.Add(1)
		}
		return plain("Date: " + time.Now().UTC().Format(http.TimeFormat))
	}))
	a := ask(t, asking{URL: url, Times: 3, KeepAlive: 4, Brief: true})
	if asked.Load() != 7 || a.Exchanges != 7 || a.Date != DateUnasked || a.Gzip != nil ||
		a.Unknown != nil || a.Opens.PerExchange != nil || a.Kept.Served != 4 {
		t.Errorf("%d requests, %+v", asked.Load(), a)
	}
	if got := Differences(a, a); got != nil {
		t.Errorf("%+v", got)
	}
}

// Dates take their time; meanwhile everything else does, too.
func TestDate(t *testing.T) {
	t.Parallel()
	dated := func(when func() time.Time) life {
		return answering(func(int, *http.Request) string {
			return plain("Date: " + when().UTC().Format(http.TimeFormat))
		})
	}
	fixed := time.Now()
	for _, c := range []struct {
		live life
		want Date
	}{
		{dated(time.Now), DateAdvances},
		{dated(func() time.Time { return fixed }), DateFrozen},
		{always(plain("Date: today")), DateUnreadable},
		{always(plain()), DateAbsent},
	} {
		t.Run(string(c.want), func(t *testing.T) {
			t.Parallel()
			a := ask(t, asking{URL: serve(t, c.live)})
			if a.Date != c.want || a.Varies != nil {
				t.Errorf("%s, want %s; varies %q", a.Date, c.want, a.Varies)
			}
		})
	}
}

func TestNetHTTP(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.Copy(w, io.LimitReader(r.Body, 1<<20))
		io.WriteString(w, "Hello World\n")
	})
	open, secret := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer open.Close()
	defer secret.Close()
	dir, err := os.MkdirTemp("", "fair")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: handler}
	go s.Serve(l)
	defer s.Close()

	q := asking{Method: "POST", Body: bytes.Repeat([]byte("x"), 100_000), CA: authority(secret)}
	var answers []Asked
	for _, url := range []string{open.URL, "http+unix://" + path + ":/", secret.URL} {
		q.URL, q.Brief = url, len(answers) > 0
		answers = append(answers, Asked{url, ask(t, q)})
	}
	first := answers[0].Answer
	if first.BodyBytes.Min != 100_012 || first.Framing != ByChunks || first.Date != DateAdvances {
		t.Errorf("%+v", first)
	}
	if got := broken(first, answers[1].Answer); got != nil {
		t.Errorf("over a unix socket: %q", got)
	}
	if got := broken(first, answers[2].Answer); !slices.Equal(got, []string{"tls"}) {
		t.Errorf("over TLS: %q", got)
	}
	tls := answers[2].Answer.TLS
	if tls == nil || tls.Version != "TLS 1.3" || tls.ALPN != "http/1.1" || tls.Key != "RSA 2048" {
		t.Errorf("%+v", tls)
	}
}

// Servers that are none: the error says what was wrong, and soon.
func TestBad(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + l.Addr().String()
	l.Close()
	for _, c := range []struct {
		name string
		url  string
		live life
		want string
	}{
		{"nobody", gone, nil, "cannot connect: dial tcp"},
		{"silent", "", mute(""), "no answer within 300ms"},
		{"slow", "", trickle(response200(strings.Repeat("a", 9999), "Content-Length: 9999")),
			"the answer was not complete within 300ms: "},
		{"slow garbage", "", mute("SSH"), `not an HTTP/1.x response: it begins with "SSH"`},
		{"garbage", "", always("220 mail ready\r\n"), `it begins with "220 mail ready"`},
		{"TLS", "", mute("\x15\x03\x01\x00\x02\x02\x46"), "; is this an https:// server?"},
		{"closed", "", always(last), "request 1, on a new connection: " + errClosed.Error()},
		{"closed in the header", "", always("HTTP/1.1 200 OK\r\nA" + last),
			"closed inside the response header, after 18 bytes"},
		{"closed in the body", "", always(response200("Hello", "Content-Length: 12") + last),
			"connection closed after 5 of 12 bytes of body"},
		{"closed in a chunk", "", always(strings.TrimSuffix(chunked("Hello"), "\r\n0\r\n\r\n") + last),
			"closed inside a chunked body, after "},
		{"no status", "", always("HTTP/1.1 OK\r\n\r\n"), `not a status line: "HTTP/1.1 OK"`},
		{"no field", "", always("HTTP/1.1 200 OK\r\nhello\r\n\r\n"), `not a header line: "hello"`},
		{"folded", "", always("HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n\r\n"), "a folded header line"},
		{"two lengths", "", always(plain("Content-Length: 13")), "Content-Length is both 12 and 13"},
		{"no length", "", always(response200("", "Content-Length: -1")), `bad Content-Length "-1"`},
		{"bad chunk", "", always(response200("zz\r\n", "Transfer-Encoding: chunked")),
			`bad chunk size "zz"`},
		{"long chunk", "", always(response200("1\r\nab\r\n", "Transfer-Encoding: chunked")),
			"a chunk is longer than its size says"},
		{"endless header", "", always("HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 256<<10)),
			"the response header is longer than 256 KiB"},
		{"endless 1xx", "", always(strings.Repeat("HTTP/1.1 102 Wait\r\n\r\n", 70)),
			"more than 64 interim"},
		{"other protocol", "", always("HTTP/1.1 101 Switching\r\n\r\n"), "another protocol (101)"},
		{"trailing garbage", "", always(plain() + "junk"),
			`4 bytes came behind the end of the response, "junk"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.live != nil {
				c.url = serve(t, c.live)
			}
			tryTimeouts(t, func(timeout time.Duration) error {
				_, err := Ask(context.Background(), asking{URL: c.url, Timeout: timeout}.question())
				want := strings.ReplaceAll(c.want, "300ms", timeout.String())
				if err == nil || !strings.Contains(err.Error(), want) {
					return fmt.Errorf("error %v, want %q", err, want)
				}
				return nil
			})
		})
	}
}

// trickle sends a byte at a time, for ever too slowly.
func trickle(s string) life {
	return func(c net.Conn, r *bufio.Reader) {
		next(r)
		for _, b := range []byte(s) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// A caller's deadline and a caller's patience end everything, and are in the error.
func TestEnds(t *testing.T) {
	url := serve(t, mute(""))
	tryTimeouts(t, func(timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		_, err := Ask(ctx, asking{URL: url}.question())
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within") {
			return fmt.Errorf("of a deadline it says: %v", err)
		}
		return nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	url = serve(t, func(c net.Conn, r *bufio.Reader) {
		next(r)
		cancel()
		io.Copy(io.Discard, r)
	})
	if _, err := Ask(ctx, asking{URL: url}.question()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A body without end is read up to the limit, and the answer says so.
func TestLongBody(t *testing.T) {
	t.Parallel()
	block := bytes.Repeat([]byte("x"), 1<<20)
	long := func(head string, n int) life {
		return func(c net.Conn, r *bufio.Reader) {
			next(r)
			io.WriteString(c, head)
			for range n {
				if _, err := c.Write(block); err != nil {
					return
				}
			}
		}
	}
	const whole = maxBody >> 20
	sized := long(response200("", "Content-Length: "+strconv.Itoa((whole+1)<<20)), whole+1)
	a := ask(t, asking{URL: serve(t, sized), Times: 1, Brief: true, Timeout: time.Minute})
	if !a.BodyCut || a.WireBytes.Max-a.HeaderBytes.Max != (whole+1)<<20 || a.Kept.End != EndCut {
		t.Errorf("cut %v, %v on the wire, %v", a.BodyCut, a.WireBytes, a.Kept)
	}
	a = ask(t, asking{URL: serve(t, long("HTTP/1.1 200 OK\r\n\r\n", whole+1)), Times: 1, Brief: true,
		Timeout: time.Minute})
	if !a.BodyCut || a.Kept.End != EndCut {
		t.Errorf("cut %v, %v", a.BodyCut, a.Kept)
	}
	exact := ask(t, asking{URL: serve(t, long("HTTP/1.1 200 OK\r\n\r\n", whole)), Times: 1, Brief: true,
		Timeout: time.Minute})
	if exact.BodyCut || exact.BodyBytes.Max != maxBody {
		t.Errorf("cut %v, %v", exact.BodyCut, exact.BodyBytes)
	}
	if got := broken(exact, a); !slices.Contains(got, "body") {
		t.Errorf("a body cut is like a whole one: %q", got)
	}
}

// What cannot be sent is said, and nobody is asked.
func TestUnsendable(t *testing.T) {
	for _, q := range []asking{
		{URL: "http://127.0.0.1:1/", Method: "GET /"},
		{URL: "http://127.0.0.1:1/", Path: "a b"},
		{URL: "http://127.0.0.1:1/", Header: []proto.Field{{Name: "A", Value: "1\r\nB: 2"}}},
	} {
		if _, err := Ask(context.Background(), q.question()); err == nil || strings.Contains(err.Error(), "connect") {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// A server that stops answering, or answers otherwise, is noticed afterwards.
func TestAfterTrial(t *testing.T) {
	var failing atomic.Bool
	url := serve(t, answering(func(int, *http.Request) string {
		if failing.Load() {
			return "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
		}
		return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	}))
	before := ask(t, asking{URL: url})
	failing.Store(true)
	after := ask(t, asking{URL: url})
	d := Differences(before, after)
	if len(d) == 0 || d[0] != (Difference{"status", "200", "503"}) {
		t.Errorf("%+v", d)
	}
	if _, err := Ask(context.Background(), asking{URL: "http+unix:///nobody/here:/"}.question()); err == nil {
		t.Error("nobody answered, and it went well")
	}
}

// Each connection begins with the header of the PROXY protocol, before TLS, whatever is spoken on it.
func TestAskProxied(t *testing.T) {
	for _, version := range []string{"", "2"} {
		for _, start := range []func(*httptest.Server){(*httptest.Server).Start, (*httptest.Server).StartTLS} {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			s.EnableHTTP2, s.Config.Protocols = true, new(http.Protocols)
			s.Config.Protocols.SetHTTP1(true)
			s.Config.Protocols.SetHTTP2(true)
			s.Config.Protocols.SetUnencryptedHTTP2(true)
			l := proxytest.Wrap(t, s.Listener, proxyproto.V2)
			s.Listener = l
			start(s)
			a, err := Ask(t.Context(), asking{URL: s.URL, HTTP: version, ProxyProtocol: proxyproto.V2, Times: 3, Brief: true,
				Insecure: true}.question())
			if err != nil || a.Status != 200 || l.Accepted.Load() < 4 {
				t.Errorf("%q at %s: %+v, %v, %d connections", version, s.URL, a, err, l.Accepted.Load())
			}
			s.Close()
		}
	}
}
