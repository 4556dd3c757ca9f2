package h2

import (
	"bytes"
	"context"
	stdtls "crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/tls"
)

// Against net/http, which knows the protocol independently of us.
type server struct {
	*http.Server
	addr    string
	arrived chan struct{} // a request for /wait
	held    chan struct{} // lets them go on
}

func serve(t *testing.T, conf http.HTTP2Config) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String(), arrived: make(chan struct{}, 100),
		held: make(chan struct{})}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	s.Server = &http.Server{Handler: http.HandlerFunc(s.echo), Protocols: protocols, HTTP2: &conf}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *server) echo(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/unread":
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	case "/wait":
		s.arrived <- struct{}{}
		<-s.held
	case "/abort":
		panic(http.ErrAbortHandler)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	said := fmt.Appendf(nil, "%s %s %d", r.Method, r.Proto, len(body))
	switch r.URL.Path {
	case "/length":
		w.Header().Set("Content-Length", strconv.Itoa(len(said)))
		w.Write(said)
	case "/pieces":
		for _, b := range said {
			w.Write([]byte{b})
			w.(http.Flusher).Flush()
		}
	case "/none":
		w.WriteHeader(http.StatusNoContent)
	case "/early":
		w.WriteHeader(http.StatusEarlyHints)
		w.Write(said)
	case "/trailer":
		w.Header().Set("Trailer", "Sum")
		w.Write(said)
		w.Header().Set("Sum", "1")
	case "/large":
		w.Write(make([]byte, 1_000_000))
	case "/header":
		for i := range 100 {
			w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("h", 1000)+r.Header.Get("X-Which"))
		}
	case "/varied":
		for i := range 5 {
			w.Header().Set(fmt.Sprint("X-", i), fmt.Sprint(time.Now().UnixNano()>>uint(10*i)))
		}
	}
}

func request(method, path string, body int) proto.Request {
	return proto.Request{Method: method, Authority: "x", Path: path, Body: bytes.Repeat([]byte("b"), body)}
}

func TestServer(t *testing.T) {
	s := serve(t, http.HTTP2Config{MaxConcurrentStreams: 50})
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		n       int    // exchanges
		want    string // of each
		dials   int    // connections that they need
	}{
		{"one by one", Options{}, request("GET", "/length", 0), 300, "200 +14", 1},
		{"many streams", Options{Streams: 100}, request("GET", "/length", 0), 300, "200 +14", 1},
		{"no table", Options{Streams: 100, NoTable: true}, request("GET", "/length", 0), 300, "200 +14", 1},
		{"pieces", Options{Streams: 100}, request("GET", "/pieces", 0), 300, "200 +14", 1},
		{"none", Options{Streams: 100}, request("GET", "/none", 0), 300, "204 +0", 1},
		{"early", Options{Streams: 100}, request("GET", "/early", 0), 300, "200 +14", 1},
		{"trailer", Options{Streams: 100}, request("GET", "/trailer", 0), 300, "200 +14", 1},
		{"HEAD", Options{Streams: 100}, request("HEAD", "/length", 0), 300, "200 +0", 1},
		{"large", Options{Streams: 10}, request("GET", "/large", 0), 20, "200 +1000000", 1},
		{"large header", Options{Streams: 10}, request("GET", "/header", 0), 10, "200 +0", 1},
		{"varied header", Options{Streams: 10}, request("GET", "/varied", 0), 300, "200 +0", 1},
		{"upload", Options{Streams: 10}, request("POST", "/length", 150_000), 50, "200 +20", 1},
		{"unread", Options{Streams: 10}, request("POST", "/unread", 100_000), 100, "413 +0", 1},
		{"abort", Options{Streams: 10}, request("GET", "/abort", 0), 300, "rst-internal-error", 1},
		{"close after 100", Options{Streams: 30, CloseAfter: 100}, request("GET", "/length", 0), 300,
			"200 +14", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.options.Scheme = "http"
			w := newWire(t, s.addr, Protocol(tc.options), tc.request)
			got := w.run(tc.n, nil)
			if got[tc.want] != tc.n || w.dials != tc.dials || w.most > 50 {
				t.Errorf("%v on %d connections, at most %d at once", got, w.dials, w.most)
			}
		})
	}
}

// Over TLS by ALPN: the codec is the same.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc((&server{}).echo))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	p := tls.Around(map[string]proto.Protocol{"h2": Protocol(Options{Scheme: "https", Streams: 20})},
		&stdtls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}, false)
	w := newWire(t, s.Listener.Addr().String(), p, request("POST", "/length", 200_000))
	if got := w.run(40, nil); got["200 +20"] != 40 || w.dials != 1 || w.most != 20 {
		t.Errorf("%v on %d connections, at most %d at once", got, w.dials, w.most)
	}
}

// A server that shuts down: what it has begun goes on, nothing more is begun, and
// the connection ends with the last.
func TestShutdown(t *testing.T) {
	s := serve(t, http.HTTP2Config{})
	w := newWire(t, s.addr, Protocol(Options{Scheme: "http", Streams: 20}), request("GET", "/wait", 0))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	over := make(chan error, 1)
	got := w.run(20, func() {
		for range 20 {
			<-s.arrived
		}
		go func() { over <- s.Shutdown(ctx) }()
		for w.codec.Room() > 0 || !w.codec.(*codec).full {
			w.hear()
		}
		close(s.held)
	})
	w.hear()
	if err := <-over; err != nil || got["200 +0"] != 20 || !w.closed {
		t.Errorf("%v, %v, closed: %v", got, err, w.closed)
	}
}

// A wire plays worker over one blocking socket at a time.
type wire struct {
	t      *testing.T
	addr   string
	mk     func(proto.Sink) proto.Codec
	conn   net.Conn
	codec  proto.Codec
	in     []byte
	buf    []byte
	closed bool // Closing came
	dials  int
	live   int // exchanges under way; and the most there were
	most   int
	next   uint32
	status map[uint32]uint16
	got    map[string]int
}

func newWire(t *testing.T, addr string, p proto.Protocol, reqs ...proto.Request) *wire {
	runtime.LockOSThread() // as internal/engine/proto/tls wants it
	mk, err := p(reqs, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, addr: addr, mk: mk, buf: make([]byte, 16<<10), got: map[string]int{}}
	t.Cleanup(func() { w.conn.Close(); runtime.UnlockOSThread() })
	w.dial()
	return w
}

func (w *wire) dial() {
	if w.conn != nil {
		w.conn.Close()
	}
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(2 * time.Minute))
	w.conn, w.codec, w.in, w.closed, w.status = conn, w.mk(nil), nil, false, map[uint32]uint16{}
	w.dials++
	w.flush(nil)
}

// run makes n exchanges and says how many ended in which way. Begun is called
// when as many have been begun as have room.
func (w *wire) run(n int, begun func()) map[string]int {
	for ended := 0; ended < n; {
		var out []byte
		for w.codec.Room() > 0 && ended+w.live < n {
			out = w.codec.Encode(out, proto.Message{}, w.next)
			w.next++
			w.live++
			w.most = max(w.most, w.live)
		}
		w.flush(out)
		if begun != nil && w.live == n {
			begun()
			begun = nil
		}
		before := w.live
		w.hear()
		if ended += before - w.live; w.closed && ended < n {
			w.dial()
		}
	}
	return w.got
}

func (w *wire) flush(out []byte) {
	for out = w.codec.Flush(out); len(out) > 0; out = w.codec.Flush(out[:0]) {
		if _, err := w.conn.Write(out); err != nil {
			w.t.Fatal(err)
		}
	}
}

// hear waits for the server to say something.
func (w *wire) hear() {
	if w.closed {
		return
	}
	k, err := w.conn.Read(w.buf)
	if err != nil && err != io.EOF {
		w.t.Fatal(err)
	}
	w.in = append(w.in, w.buf[:k]...)
	for {
		n, ev := w.codec.Decode(w.in, err == io.EOF)
		w.in = w.in[n:]
		switch ev.Kind {
		case proto.More:
			w.flush(nil)
			return
		case proto.Head:
			w.status[ev.Tag] = ev.Status
		case proto.Done:
			w.ended(fmt.Sprintf("%d +%d", w.status[ev.Tag], ev.Body))
		case proto.Failed:
			w.ended(strings.SplitN(tell([]proto.Event{ev}), ":", 2)[1])
		case proto.Refused:
			w.ended("refused")
		case proto.Closing:
			w.closed = true
			return
		case proto.Broken:
			w.t.Fatal(ev.Err)
		}
	}
}

func (w *wire) ended(how string) {
	w.got[how]++
	w.live--
}

// One exchange as a worker does it, alone on its connection and among a hundred.
func BenchmarkExchange(b *testing.B) {
	for _, streams := range []int{1, 100} {
		b.Run(fmt.Sprint(streams), func(b *testing.B) {
			c := newTestCodec(b, Options{Streams: streams, Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}}, get)
			out := c.Flush(make([]byte, 0, 64<<10))
			c.Decode([]byte(settled), false)
			frames := []byte(head(1, ":status: 200", "server: nginx/1.26",
				"date: Mon, 06 Jan 2025 10:00:00 GMT", "content-type: text/plain", "content-length: 12") +
				data(1, "hello, world"))
			second := len(frames) - 12 - frameHeader
			for range streams - 1 {
				out = c.Encode(out[:0], proto.Message{}, 7)
			}
			id := uint32(1)
			b.ReportAllocs()
			for b.Loop() {
				out = c.Flush(c.Encode(out[:0], proto.Message{}, 7))
				copy(frames[5:9], u32b(id))
				copy(frames[second+5:], u32b(id))
				id += 2
				n, ev := c.Decode(frames, false)
				if ev.Kind != proto.Head {
					b.Fatal(ev)
				}
				if k, ev := c.Decode(frames[n:], false); ev.Kind != proto.Done || n+k != len(frames) {
					b.Fatal(ev)
				}
				if _, ev := c.Decode(nil, false); ev.Kind != proto.More {
					b.Fatal(ev)
				}
			}
		})
	}
}

func u32b(v uint32) []byte { return []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)} }
