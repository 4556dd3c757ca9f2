package h1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

// fields makes a header of "Name: value" lines.
func fields(lines ...string) (h []proto.Field) {
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		h = append(h, proto.Field{Name: name, Value: value})
	}
	return h
}

func TestWire(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		want    string // with | for CRLF
	}{
		{"plain", Options{Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}}, get,
			"GET / HTTP/1.1|Host: x|User-Agent: dyno/1||"},
		{"nothing hidden", Options{}, get, "GET / HTTP/1.1|Host: x||"},
		{"theirs, in place", Options{Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}},
			proto.Request{Method: "GET", Authority: "x", Path: "/a?b=c",
				Header: fields("A: b", "hOsT: other", "A: c", "user-agent: mine", "Empty")},
			"GET /a?b=c HTTP/1.1|A: b|hOsT: other|A: c|user-agent: mine|Empty:||"},
		{"body", Options{}, proto.Request{Method: "GET", Authority: "x", Path: "/", Body: []byte("hi")},
			"GET / HTTP/1.1|Host: x|Content-Length: 2||hi"},
		{"POST of nothing", Options{}, proto.Request{Method: "POST", Authority: "x", Path: "/"},
			"POST / HTTP/1.1|Host: x|Content-Length: 0||"},
		{"their length", Options{}, proto.Request{Method: "PUT", Authority: "x", Path: "/",
			Header: fields("content-length: 2"), Body: []byte("hi")},
			"PUT / HTTP/1.1|Host: x|content-length: 2||hi"},
		{"chunked", Options{ChunkSize: 3}, proto.Request{Method: "POST", Authority: "x", Path: "/",
			Header: fields("transfer-encoding: Chunked", "A: b"), Body: []byte("hello, w")},
			"POST / HTTP/1.1|Host: x|transfer-encoding: Chunked|A: b||3|hel|3|lo,|2| w|0||"},
		{"chunked, of any size", Options{}, proto.Request{Method: "POST", Authority: "x", Path: "/",
			Header: fields("Transfer-Encoding: chunked"), Body: []byte("hello, world ...")},
			"POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||10|hello, world ...|0||"},
		{"chunks of nothing", Options{}, proto.Request{Method: "PUT", Authority: "x", Path: "/",
			Header: fields("Transfer-Encoding: chunked")},
			"PUT / HTTP/1.1|Host: x|Transfer-Encoding: chunked||0||"},
		{"all chunked", Options{ChunkSize: 99}, proto.Request{Method: "POST", Authority: "x", Path: "/",
			Body: []byte("hi")}, "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||2|hi|0||"},
		{"all chunked, nothing", Options{ChunkSize: 99}, proto.Request{Method: "POST", Authority: "x", Path: "/"},
			"POST / HTTP/1.1|Host: x|Content-Length: 0||"},
		{"all chunked, their length", Options{ChunkSize: 99}, proto.Request{Method: "POST", Authority: "x", Path: "/",
			Header: fields("Content-Length: 2"), Body: []byte("hi")},
			"POST / HTTP/1.1|Host: x|Content-Length: 2||hi"},
		{"OPTIONS *", Options{}, proto.Request{Method: "OPTIONS", Authority: "x", Path: "*"},
			"OPTIONS * HTTP/1.1|Host: x||"},
		{"as ab", Options{Version10: true}, get, "GET / HTTP/1.0|Host: x||"},
		{"as ab -k", Options{Version10: true}, proto.Request{Method: "GET", Authority: "x", Path: "/",
			Header: fields("Connection: Keep-Alive")},
			"GET / HTTP/1.0|Host: x|Connection: Keep-Alive||"},
		{"last", Options{CloseAfter: 1}, get, "GET / HTTP/1.1|Host: x|Connection: close||"},
		{"last, over theirs", Options{CloseAfter: 1}, proto.Request{Method: "POST", Authority: "x",
			Path: "/", Header: fields("connection: keep-alive", "A: b"), Body: []byte("hi")},
			"POST / HTTP/1.1|Host: x|A: b|Content-Length: 2|Connection: close||hi"},
		{"last as ab", Options{Version10: true, CloseAfter: 1}, get, "GET / HTTP/1.0|Host: x||"},
		{"last as ab -k", Options{Version10: true, CloseAfter: 1}, proto.Request{Method: "GET",
			Authority: "x", Path: "/", Header: fields("connection: Keep-Alive", "A: b")},
			"GET / HTTP/1.0|Host: x|A: b||"},
		{"last of 1.0, as theirs", Options{Version10: true, CloseAfter: 1}, proto.Request{Method: "GET",
			Authority: "x", Path: "/", Header: fields("Connection: close")},
			"GET / HTTP/1.0|Host: x|Connection: close||"},
	} {
		out := newCodec(t, tc.options, tc.request).Encode([]byte("before "), proto.Message{}, 0)
		want := "before " + strings.ReplaceAll(tc.want, "|", "\r\n")
		if string(out) != want {
			t.Errorf("%s: got %q, want %q", tc.name, out, want)
		}
	}
}

// Room says how many requests a connection takes before an answer, and after one.
func TestRoom(t *testing.T) {
	with := func(lines ...string) proto.Request {
		return proto.Request{Method: "GET", Authority: "x", Path: "/", Header: fields(lines...)}
	}
	const kept = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	const kept10 = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		reply   string
		before  int // requests taken without an answer
		after   int // Room once the first is answered
	}{
		{"one at a time", Options{}, get, kept, 1, 1},
		{"pipelined", Options{Depth: 5}, get, kept, 5, 1},
		{"server closes", Options{Depth: 5}, get, "HTTP/1.1 200 OK\r\n\r\n", 5, 0},
		{"close after two", Options{Depth: 5, CloseAfter: 2}, get, kept, 2, 0},
		{"close after two, one by one", Options{CloseAfter: 2}, get, kept, 1, 1},
		{"user closes", Options{Depth: 5}, with("connection: foo, close"), kept, 1, 0},
		{"1.0", Options{Version10: true, Depth: 5}, get, kept10, 1, 0},
		{"1.0 kept alive", Options{Version10: true}, with("Connection: keep-alive"), kept10, 1, 1},
		{"1.0, not kept", Options{Version10: true}, with("Connection: keep-alive"), kept, 1, 0},
	} {
		c := newCodec(t, tc.options, tc.request)
		n := 0
		for ; c.Room() > 0; n++ {
			if c.Encode(nil, proto.Message{}, uint32(n)); n > 10 {
				t.Fatal("room for ever")
			}
		}
		in := []byte(tc.reply)
		for {
			k, ev := c.Decode(in, false)
			if in = in[k:]; ev.Kind == proto.More || ev.Kind == proto.Done {
				break
			}
		}
		if n != tc.before || c.Room() != tc.after {
			t.Errorf("%s: took %d, then room for %d; want %d and %d",
				tc.name, n, c.Room(), tc.before, tc.after)
		}
	}
}

// The last exchange of CloseAfter says so on the wire, the others do not.
func TestCloseAfter(t *testing.T) {
	c := newCodec(t, Options{CloseAfter: 3}, get)
	for i := range 3 {
		out := c.Encode(nil, proto.Message{}, 0)
		if last := bytes.Contains(out, []byte("Connection: close")); last != (i == 2) {
			t.Errorf("request %d: %q", i, out)
		}
		n, _ := c.Decode([]byte(small), false)
		c.Decode([]byte(small[n:]), false)
	}
	if _, ev := c.Decode(nil, false); ev.Kind != proto.Closing {
		t.Errorf("after the last response: %+v", ev)
	}
}

// A long body goes out in pieces, and nothing overtakes it.
func TestLongBody(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	post := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: body}
	early := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
	for _, tc := range []struct {
		name, reply string
		whole       bool // all of the body is sent
	}{
		{"no early answer", "", true},
		{"early answer", early + "\r\n", true},
		{"early end", early + "Connection: close\r\n\r\n", false},
	} {
		c := newCodec(t, Options{Depth: 4}, post)
		out := c.Encode(nil, proto.Message{}, 0)
		got := append([]byte(nil), out...)
		if n, _ := c.Decode([]byte(tc.reply), false); n != len(tc.reply) {
			t.Fatal(tc.name, n)
		}
		c.Decode(nil, false)
		for len(out) > 0 {
			if len(out) > piece+200 {
				t.Errorf("%s: %d bytes at once", tc.name, len(out))
			}
			if tc.whole && c.Room() > 0 && len(got) < len(body) {
				t.Fatalf("%s: room after %d bytes", tc.name, len(got))
			}
			out = c.Flush(out[:0])
			got = append(got, out...)
		}
		if whole := bytes.HasSuffix(got, body); whole != tc.whole {
			t.Errorf("%s: %d bytes sent", tc.name, len(got))
		}
		if (c.Room() > 0) != tc.whole {
			t.Errorf("%s: room for %d in the end", tc.name, c.Room())
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		request proto.Request
		want    string // part of the error; none if empty
	}{
		{get, ""},
		{proto.Request{Method: "X-Y!", Path: "/?a=%20é", Header: fields("A: \tb é")}, ""},
		{proto.Request{Method: "OPTIONS", Path: "*"}, ""},
		{proto.Request{Path: "/"}, `method "" is not a token`},
		{proto.Request{Method: "G T", Path: "/"}, `method "G T" is not a token`},
		{proto.Request{Method: "CONNECT", Path: "/"}, "tunnel"},
		{proto.Request{Method: "GET", Path: ""}, `path "" does not begin with /`},
		{proto.Request{Method: "GET", Path: "*"}, "does not begin with /"},
		{proto.Request{Method: "GET", Path: "/a b"}, `path "/a b" contains a space`},
		{proto.Request{Method: "GET", Path: "/\r\nX: y"}, "control character"},
		{proto.Request{Method: "GET", Path: "/", Authority: "a\r\nb"}, "host"},
		{proto.Request{Method: "GET", Path: "/", Header: fields("a b: c")}, `name "a b" is not a token`},
		{proto.Request{Method: "GET", Path: "/", Header: fields(": c")}, `name "" is not a token`},
		{proto.Request{Method: "GET", Path: "/", Header: fields("A: b\r\nC: d")}, "header A: its value"},
		{proto.Request{Method: "GET", Path: "/", Header: fields("A: \x00")}, "control character"},
		{proto.Request{Method: "PUT", Path: "/", Header: fields("Transfer-Encoding: chunked")}, ""},
		{proto.Request{Method: "PUT", Path: "/", Header: fields("Transfer-Encoding: gzip, chunked")},
			`header Transfer-Encoding: "gzip, chunked" is not chunked`},
		{proto.Request{Method: "PUT", Path: "/", Header: fields("Transfer-Encoding: chunked", "transfer-encoding: chunked")},
			"header transfer-encoding: is given twice"},
		{proto.Request{Method: "PUT", Path: "/", Header: fields("Content-Length: 1", "Transfer-Encoding: chunked"), Body: []byte("x")},
			"headers Content-Length and Transfer-Encoding: both say where the body ends"},
	} {
		switch err := Check(tc.request); {
		case tc.want == "" && err != nil:
			t.Errorf("%+v: %v", tc.request, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%+v: got %v, want %s", tc.request, err, tc.want)
		}
	}
}

// Everything that is wrong with a request is said at once, and which it was.
func TestProtocolRefuses(t *testing.T) {
	bad := proto.Request{Method: "G T", Path: "x", Header: fields("a b: c")}
	_, err := Protocol(Options{})([]proto.Request{get, bad}, proto.Want{})
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{"request 2", "method", "path", "header name"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not say %q", err, want)
		}
	}
	for _, o := range []Options{{Depth: MaxDepth + 1}, {Depth: -1}, {CloseAfter: -1}, {ChunkSize: -1},
		{Defaults: []proto.Field{{Name: "User-Agent", Value: "a\nb"}}}} {
		if _, err := Protocol(o)([]proto.Request{get}, proto.Want{}); err == nil {
			t.Errorf("%+v: taken", o)
		}
	}
}

// A body in chunks is what a reader of chunks reads, however it is cut into pieces, and the connection
// has no room before its last chunk.
func TestChunkedPieces(t *testing.T) {
	body := make([]byte, 3*piece+5)
	for i := range body {
		body[i] = byte(i * 7)
	}
	r := proto.Request{Method: "POST", Authority: "x", Path: "/", Header: fields("Transfer-Encoding: chunked"), Body: body}
	for _, size := range []int{0, 1, 7, 1000, piece - 1, piece, piece + 1, 2*piece + 1, len(body), 1 << 30} {
		for _, own := range []bool{false, true} {
			c, m := newCodec(t, Options{ChunkSize: size}, r), proto.Message{}
			if own {
				m.Fill = &proto.Fill{Own: &r}
			}
			var sent []byte
			for out := c.Encode(nil, m, 0); len(out) > 0; out = c.Flush(nil) {
				if len(out) > piece+1000 {
					t.Errorf("chunks of %d: %d bytes at once", size, len(out))
				}
				if sent = append(sent, out...); c.Room() > 0 {
					t.Errorf("chunks of %d: room after %d bytes", size, len(sent))
				}
			}
			in := bufio.NewReader(bytes.NewReader(sent))
			got, err := http.ReadRequest(in)
			if err != nil {
				t.Fatal(err)
			}
			read, err := io.ReadAll(got.Body)
			if rest := in.Buffered(); err != nil || !bytes.Equal(read, body) || rest > 0 || got.ContentLength != -1 {
				t.Errorf("chunks of %d: %d bytes, %d behind them, %v", size, len(read), rest, err)
			}
			if size > 0 && size < len(body) && !bytes.Contains(sent, fmt.Appendf(nil, "\r\n\r\n%x\r\n", size)) {
				t.Errorf("the first chunk has not %d bytes: %.80q", size, sent)
			}
		}
	}
	if _, err := Protocol(Options{Version10: true})([]proto.Request{r}, proto.Want{}); err == nil {
		t.Error("HTTP/1.0 has chunks")
	}
}
