package tunnel

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/proto/prototest"
)

var options = Options{Proxy: "p:3128", Target: "[::1]:443", Authorization: "Basic dTpw", UserAgent: "dyno/0"}

const asked = "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nUser-Agent: dyno/0\r\n" +
	"Proxy-Authorization: Basic dTpw\r\n\r\n"

// hear gives a codec bytes, so many at once, until an event, and then the end.
func hear(c proto.Codec, in []byte, piece int) (rest []byte, ev proto.Event) {
	var got []byte
	for {
		n := min(piece, len(in))
		got, in = append(got, in[:n]...), in[n:]
		k, ev := c.Decode(got, len(in) == 0)
		got = got[k:]
		if ev.Kind != proto.More || len(in) == 0 {
			return append(got, in...), ev
		}
	}
}

// What a proxy answers opens the tunnel, or is an error that names the proxy, what was asked and what
// to do; however the bytes are split, and what follows is the server's.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ says, kind, detail string }{
		"opens":                 {says: "HTTP/1.1 200 Connection established\r\n\r\n"},
		"with a length":         {says: "HTTP/1.0 204 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n"},
		"after an interim one":  {says: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"},
		"wants a user":          {"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n", "proxy-407", "it does not accept the user and password"},
		"cannot":                {"HTTP/1.1 502 Bad Gateway\r\n\r\n", "proxy-502", "answered 502 to CONNECT [::1]:443; it could not connect there"},
		"forbids":               {"HTTP/1.1 403 No\r\n\r\n", "proxy-403", "it allows no tunnel there"},
		"redirects":             {"HTTP/1.1 302 Found\r\n\r\n", "proxy-302", "the proxy p:3128 answered 302"},
		"switches":              {"HTTP/1.1 101 Switching\r\n\r\n", "proxy-unasked", "another protocol (101)"},
		"closes":                {"", "proxy-closed", "the proxy p:3128, asked to CONNECT [::1]:443: it closed the connection"},
		"closes within":         {"HTTP/1.1 200 OK\r\nA", "proxy-truncated", "closed inside the response header"},
		"is none":               {"SSH-2.0-OpenSSH\r\n", "proxy-garbage", `it begins with "S`},
		"says more than it may": {"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 256<<10) + "\r\n\r\n", "proxy-oversized", "longer than 256 KiB"},
		"never says it":         {strings.Repeat("HTTP/1.1 102 Wait\r\n\r\n", 70), "proxy-oversized", "more than 64 interim"},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			if piece < len(c.says)/1000 {
				continue // it would take long
			}
			mk, err := Around(h1.Protocol(h1.Options{}), options)([]proto.Request{{Method: "GET", Authority: "a", Path: "/"}}, proto.Want{})
			if err != nil {
				t.Fatal(err)
			}
			codec := mk(nil)
			if got := codec.Flush(nil); string(got) != asked || codec.Room() != 0 || codec.Flush(nil) != nil {
				t.Errorf("asked %q, and again %q", got, codec.Flush(nil))
			}
			says := c.says
			if c.kind == "" {
				says += "the server's"
			}
			rest, ev := hear(codec, []byte(says), piece)
			f, _ := ev.Err.(*proto.Fault)
			switch {
			case c.kind == "" && (ev.Kind != proto.Tunneled || string(rest) != "the server's"):
				t.Errorf("%s: %+v, and then %q", name, ev, rest)
			case c.kind == "" && (!Is(codec) || Is(Behind(codec)) || Behind(codec).Room() != 1):
				t.Errorf("%s: the codec is not that of the requests", name)
			case c.kind != "" && (ev.Kind != proto.Broken || f == nil || f.Kind != c.kind || !strings.Contains(f.Detail, c.detail)):
				t.Errorf("%s: %+v", name, ev)
			}
			codec.Decode(nil, true)
		}
	}
	anonymous := options
	anonymous.Authorization = ""
	if f := anonymous.refusal(407); !strings.Contains(f.Detail, "as in http://USER:PASSWORD@p:3128") {
		t.Error(f)
	}
}

// What is asked for through a tunnel is what the codec behind it asks for.
func TestAround(t *testing.T) {
	get := proto.Request{Method: "GET", Authority: "a", Path: "/"}
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
	prototest.Run(t, prototest.Transcript{Requests: []proto.Request{get}, Replies: []byte(answer),
		Protocol: func(r []proto.Request, w proto.Want) (func(proto.Sink) proto.Codec, error) {
			mk, err := Around(h1.Protocol(h1.Options{}), options)(r, w)
			return func(s proto.Sink) proto.Codec { return Behind(mk(s)) }, err
		}})
	if _, err := Around(h1.Protocol(h1.Options{Depth: -1}), options)([]proto.Request{get}, proto.Want{}); err == nil {
		t.Error("a protocol with a fault is spoken through a tunnel")
	}
}

// On a connection nothing is read that is the server's.
func TestOpen(t *testing.T) {
	for says, want := range map[string]string{"HTTP/1.1 200 OK\r\n\r\nhello": "", "HTTP/1.1 503 No\r\n\r\n": "answered 503", "": "it closed"} {
		near, far := net.Pipe()
		go func() {
			b := make([]byte, len(asked))
			if _, err := io.ReadFull(far, b); err != nil || string(b) != asked {
				t.Errorf("asked %q, %v", b, err)
			}
			io.WriteString(far, says)
			far.Close()
		}()
		err := Open(near, options)
		if want == "" {
			rest, _ := io.ReadAll(near)
			if err != nil || string(rest) != "hello" {
				t.Errorf("%q: %v, and then %q", says, err, rest)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", says, err)
		}
		near.Close()
	}
}

// FuzzDecode: whatever a proxy says, the tunnel opens only with a status of 2xx, and nothing behind
// the header is taken.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"HTTP/1.1 200 OK\r\n\r\nx", "HTTP/1.1 407 No\r\n\r\n", "HTTP/1.1 100 C\r\n\r\nHTTP/1.0 299\n\nx", "junk"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, in []byte, piece int) {
		ask, err := options.asking()
		if err != nil || len(in) > 4<<10 {
			return
		}
		c := &codec{ask(nil), nil, &options, false}
		c.Flush(nil)
		rest, ev := hear(c, in, max(piece, 1))
		head := in[:len(in)-len(rest)]
		if ev.Kind == proto.Tunneled && (!bytes.HasPrefix(head, []byte("HTTP/1.")) || !bytes.HasSuffix(head, []byte("\n"))) {
			t.Errorf("%q opens", head)
		}
		if f, is := ev.Err.(*proto.Fault); ev.Kind != proto.Tunneled && (!is || !strings.HasPrefix(f.Kind, proto.FaultProxy)) {
			t.Errorf("%q: %+v", in, ev)
		}
	})
}
