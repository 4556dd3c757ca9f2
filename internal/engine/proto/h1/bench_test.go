package h1

import (
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

// What a small server answers: 141 bytes of header and 12 of body.
const small = "HTTP/1.1 200 OK\r\nServer: nginx/1.26\r\nDate: Mon, 06 Jan 2025 10:00:00 GMT\r\n" +
	"Content-Type: text/plain\r\nContent-Length: 12\r\nX-Y: abcdefghijkl\r\n\r\nhello, world"

func newCodec(t testing.TB, o Options, r proto.Request) proto.Codec {
	t.Helper()
	mk, err := Protocol(o)([]proto.Request{r}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	return mk(nil)
}

var get = proto.Request{Method: "GET", Authority: "x", Path: "/"}

func TestSmallIsSmall(t *testing.T) {
	if head := strings.Index(small, "\r\n\r\n") + 4; head != 141 || len(small) != 153 {
		t.Errorf("%d bytes of header, %d in all", head, len(small))
	}
}

// One exchange as a worker does it: Encode, Flush, and Decode until More.
func BenchmarkExchange(b *testing.B) { benchmark(b, small, true) }

// Decode alone: Head, Done.
func BenchmarkDecode(b *testing.B) { benchmark(b, small, false) }

func BenchmarkDecodeLower(b *testing.B) { benchmark(b, strings.ToLower(small[8:]), false) }

func BenchmarkDecodeChunked(b *testing.B) {
	head, body, _ := strings.Cut(small, "Content-Length: 12")
	_, body, _ = strings.Cut(body, "\r\n\r\n")
	benchmark(b, head+"Transfer-Encoding: chunked\r\n\r\nc\r\n"+body+"\r\n0\r\n\r\n", false)
}

func benchmark(b *testing.B, reply string, whole bool) {
	if !strings.HasPrefix(reply, "HTTP/1.1") {
		reply = "HTTP/1.1" + reply
	}
	c := newCodec(b, Options{}, get).(*codec)
	in, out := []byte(reply), c.Encode(make([]byte, 0, 4096), proto.Message{}, 7)
	b.ReportAllocs()
	for b.Loop() {
		if whole {
			out = c.Flush(c.Encode(out[:0], proto.Message{}, 7))
		} else {
			c.next = c.first + 1
		}
		n, ev := c.Decode(in, false)
		if ev.Kind != proto.Head {
			b.Fatal(ev.Err)
		}
		k, ev := c.Decode(in[n:], false)
		if ev.Kind != proto.Done || n+k != len(in) {
			b.Fatal(ev.Err)
		}
		if whole {
			if _, ev = c.Decode(in[n+k:], false); ev.Kind != proto.More {
				b.Fatal(ev)
			}
		}
	}
}

// 64 KiB pieces of a long body: what one costs must not depend on its length.
func BenchmarkDecodeBody(b *testing.B) {
	c := newCodec(b, Options{}, get)
	c.Encode(nil, proto.Message{}, 7)
	head := []byte("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000\r\n\r\n")
	if _, ev := c.Decode(head, false); ev.Kind != proto.Head {
		b.Fatal(ev)
	}
	piece := make([]byte, 64<<10)
	for b.Loop() {
		if n, ev := c.Decode(piece, false); n != len(piece) || ev.Kind != proto.More {
			b.Fatal(ev)
		}
	}
}
