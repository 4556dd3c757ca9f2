package h1

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
)

// Against net/http, which knows the protocol independently of us: it echoes what
// it understood, in each of the ways it can frame a response.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	said := fmt.Appendf(nil, "%s %s %d", r.Method, r.Proto, len(body))
	switch r.URL.Path {
	case "/length":
		w.Header().Set("Content-Length", strconv.Itoa(len(said)))
		w.Write(said)
	case "/chunked":
		for _, b := range said {
			w.Write([]byte{b})
			w.(http.Flusher).Flush()
		}
	case "/close":
		w.Header().Set("Connection", "close")
		w.Write(said)
	case "/none":
		w.WriteHeader(204)
	case "/early":
		w.WriteHeader(103)
		w.Write(said)
	}
}

func TestServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(echo))
	defer s.Close()
	keep := fields("Connection: keep-alive")
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		want    string // one exchange, or just its status
		dials   int    // connections that three exchanges need
	}{
		{"length", Options{}, proto.Request{Method: "GET", Path: "/length"}, "200 +14", 1},
		{"chunked", Options{}, proto.Request{Method: "GET", Path: "/chunked"}, "200 +14", 1},
		{"closed", Options{}, proto.Request{Method: "GET", Path: "/close"}, "200 +14", 3},
		{"none", Options{}, proto.Request{Method: "GET", Path: "/none"}, "204 +0", 1},
		{"early", Options{}, proto.Request{Method: "GET", Path: "/early"}, "200 +14", 1},
		{"HEAD", Options{}, proto.Request{Method: "HEAD", Path: "/length"}, "200 +0", 1},
		{"upload", Options{}, proto.Request{Method: "POST", Path: "/length",
			Body: bytes.Repeat([]byte("x"), 1_000_000)}, "200 +21", 1},
		{"1.0", Options{Version10: true}, proto.Request{Method: "GET", Path: "/length"}, "200 +14", 3},
		{"1.0 chunked", Options{Version10: true}, proto.Request{Method: "GET", Path: "/chunked"},
			"200 +14", 3},
		{"1.0 kept", Options{Version10: true},
			proto.Request{Method: "GET", Path: "/length", Header: keep}, "200 +14", 1},
		{"close after 2", Options{CloseAfter: 2}, proto.Request{Method: "GET", Path: "/length"},
			"200 +14", 2},
		{"refused", Options{}, proto.Request{Method: "GET", Path: "/length",
			Header: fields("Host: a b")}, "400", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.request.Authority = "x"
			mk, err := Protocol(tc.options)([]proto.Request{tc.request}, proto.Want{})
			if err != nil {
				t.Fatal(err)
			}
			w := &wire{t: t, addr: s.Listener.Addr().String(), mk: mk}
			for range 3 {
				got := tell(w.exchange())
				if status, _, _ := strings.Cut(got, " "); got != tc.want && status != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			}
			if w.conn.Close(); w.dials != tc.dials {
				t.Errorf("%d connections, want %d", w.dials, tc.dials)
			}
		})
	}
}

// A wire plays worker over one blocking socket at a time.
type wire struct {
	t     *testing.T
	addr  string
	mk    func(proto.Sink) proto.Codec
	conn  net.Conn
	codec proto.Codec
	dials int
}

func (w *wire) exchange() (got []proto.Event) {
	if w.codec == nil || w.codec.Room() == 0 {
		if w.conn != nil {
			w.conn.Close()
		}
		var err error
		if w.conn, err = net.Dial("tcp", w.addr); err != nil {
			w.t.Fatal(err)
		}
		w.conn.SetDeadline(time.Now().Add(2 * time.Minute))
		w.codec = w.mk(nil)
		w.dials++
	}
	for out := w.codec.Encode(nil, proto.Message{}, 0); len(out) > 0; out = w.codec.Flush(out[:0]) {
		if _, err := w.conn.Write(out); err != nil {
			w.t.Fatal(err)
		}
	}
	var in []byte
	for buf := make([]byte, 4096); ; {
		k, err := w.conn.Read(buf)
		in = append(in, buf[:k]...)
		for {
			n, ev := w.codec.Decode(in, err == io.EOF)
			in = in[n:]
			if ev.Kind == proto.More {
				break
			}
			if got = append(got, ev); ev.Kind == proto.Done || ev.Kind == proto.Broken {
				return got
			}
		}
		if err != nil {
			w.t.Fatalf("%v, after %q", err, tell(got))
		}
	}
}
