package fairness

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
)

// A life is what a test's server does with one connection.
type life func(c net.Conn, r *bufio.Reader)

// serve runs a server of raw sockets and returns its URL.
func serve(t testing.TB, live life) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go accept(l, live)
	return "http://" + l.Addr().String() + "/"
}

func accept(l net.Listener, live life) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			c.SetDeadline(time.Now().Add(2 * time.Minute))
			live(c, bufio.NewReader(c))
		}()
	}
}

// next reads one request with its body.
func next(r *bufio.Reader) (*http.Request, error) {
	q, err := http.ReadRequest(r)
	if err == nil {
		_, err = io.Copy(io.Discard, q.Body)
	}
	return q, err
}

// last is the end of an answer that is its connection's last; it is not sent.
const last = "\x00the last\x00"

// answering gives each request an answer; i counts a connection's from 1.
func answering(answer func(i int, q *http.Request) string) life {
	return func(c net.Conn, r *bufio.Reader) {
		for i := 1; ; i++ {
			q, err := next(r)
			if err != nil {
				return
			}
			s, ends := strings.CutSuffix(answer(i, q), last)
			if _, err := io.WriteString(c, s); err != nil || ends {
				return
			}
		}
	}
}

// always gives the same answer.
func always(s string) life {
	return answering(func(int, *http.Request) string { return s })
}

// mute says something to a request, then holds its tongue until the client goes.
func mute(s string) life {
	return func(c net.Conn, r *bufio.Reader) {
		next(r)
		io.WriteString(c, s)
		io.Copy(io.Discard, r)
	}
}

// An asking is a Question as tests write it: what is not said is as in a load of that URL.
type asking struct {
	URL, Method, Path string
	HTTP              string // as a plan has it; "": what the URL says, or else 1.1
	Header            []proto.Field
	Body              []byte
	Close, Brief      bool
	Times, KeepAlive  int
	Timeout           time.Duration
	CA                string // who signed the server's certificate
	ServerName        string
	Insecure          bool
	ProxyProtocol     string
	Proxy             string
}

func (q asking) question() Question {
	u, err := requests.Parse(q.URL)
	if err != nil {
		panic(err) // a test's own
	}
	p := loadplan.DefaultPlan()
	p.Proxy = q.Proxy
	p.Target, p.ProxyProtocol, p.Timeout = u.Target, q.ProxyProtocol, loadplan.Seconds(cmp.Or(q.Timeout, 5*time.Second))
	if u.Target.TLS {
		p.TLS = loadplan.TLS{CA: q.CA, ServerName: q.ServerName, Insecure: q.Insecure}
	}
	if p.HTTP = q.HTTP; p.HTTP == "" {
		p.HTTP = loadplan.Auto
	}
	if q.Close {
		p.Reconnect = 1
	}
	r := proto.Request{Method: cmp.Or(q.Method, "GET"), Authority: u.Authority, Path: cmp.Or(q.Path, u.Path),
		Header: q.Header, Body: q.Body}
	if u.Basic != "" {
		r.Header = append([]proto.Field{{Name: "Authorization", Value: u.Basic}}, r.Header...)
	}
	return Question{Way: p.Way(), Request: r, Times: q.Times, KeepAlive: q.KeepAlive, Brief: q.Brief}
}

func ask(t testing.TB, q asking) *Answer {
	t.Helper()
	a, err := Ask(context.Background(), q.question())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// broken are the aspects in which b violates a, but for connections, of which
// other programs make some too.
func broken(a, b *Answer, allow ...string) (names []string) {
	t := Compare("a", []Asked{{"a", a}, {"b", b}}, append(allow, "new_connections"))
	for _, v := range t.Violations() {
		names = append(names, v.Aspect)
	}
	return names
}

// plain is a response of 12 bytes with these header lines.
func plain(lines ...string) string {
	return response200("Hello World\n", append([]string{"Content-Length: 12"}, lines...)...)
}

func response200(body string, lines ...string) string {
	return "HTTP/1.1 200 OK\r\n" + strings.Join(append(lines, "\r\n"), "\r\n") + body
}

func redirect(status, location string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, location)
}

func chunked(s string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(s), s)
	return b.String()
}

// quiet is a log that nobody reads.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
