package h1

import (
	"bytes"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/prototest"
)

// holed has holes in all its parts, and three values.
var holed = prototest.Holed()

// encodeAll is all that a codec sends for a message, the first and the second of a connection.
func encodeAll(t testing.TB, o Options, m proto.Message, set ...proto.Request) (out []byte) {
	t.Helper()
	mk, err := Protocol(o)(set, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	c := mk(nil)
	for tag := range uint32(2) {
		if c.Room() == 0 {
			break
		}
		out = c.Encode(out, m, tag)
		for n := -1; n != len(out); {
			n = len(out)
			out = c.Flush(out)
		}
	}
	return out
}

// A message with values in its holes, and one of its own, are sent as a request of the set that has
// the same text.
func FuzzFill(f *testing.F) {
	f.Add("1", "two", "three", 0, false)
	f.Add("", "", "", 2, true)
	f.Add("a", "b", " c ", 1, false)
	f.Add("a", "bb", "ccc", 1|40<<2, false)
	f.Add("a", string(bytes.Repeat([]byte("long"), 50_000)), "\t\x01", 1, false)
	f.Fuzz(func(t *testing.T, a, b, c string, after int, version10 bool) {
		if !prototest.Fits(holed, a, b, c) {
			return
		}
		o := Options{Depth: 2, CloseAfter: after & 3, Version10: version10, Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}}
		if !version10 {
			o.ChunkSize = after >> 2 & 0x1ff
		}
		plain, fill := prototest.Filled(holed, a, b, c)
		want := encodeAll(t, o, proto.Message{}, plain)
		if got := encodeAll(t, o, proto.Message{Request: 1, Fill: fill}, get, holed); !bytes.Equal(got, want) {
			t.Errorf("filled: %.300q\nwant %.300q", got, want)
		}
		own := proto.Message{Fill: &proto.Fill{Own: &plain}}
		if got := encodeAll(t, o, own, get); !bytes.Equal(got, want) {
			t.Errorf("of its own: %.300q\nwant %.300q", got, want)
		}
	})
}

// The rest of a body is borrowed until it is sent, though its response has come. It is of the exchange
// that was begun last.
func TestBorrows(t *testing.T) {
	mk, err := Protocol(Options{Depth: 2})([]proto.Request{get, {Method: "POST", Authority: "x", Path: "/",
		Body: make([]byte, 3*piece)}}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	c := mk(nil).(*codec)
	c.Encode(nil, proto.Message{}, 7)
	if c.Borrows(7) {
		t.Error("it borrows a request that is sent")
	}
	c.Encode(nil, proto.Message{Request: 1}, 8)
	const early = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	for tag := uint32(7); tag < 9; tag++ {
		head, _ := c.Decode([]byte(early), false)
		if _, ev := c.Decode([]byte(early[head:]), false); ev.Kind != proto.Done || ev.Tag != tag || c.Borrows(7) ||
			!c.Borrows(8) {
			t.Errorf("%+v, and borrows the bodies: %v, %v", ev, c.Borrows(7), c.Borrows(8))
		}
	}
	for sent := 2; sent > 0; sent-- {
		if c.Flush(nil); c.Borrows(8) != (sent > 1) || c.Room() > 0 == c.Borrows(8) || c.Borrows(7) {
			t.Errorf("%d pieces left: borrows %v, room %d", sent-1, c.Borrows(8), c.Room())
		}
	}
}

// What is filled, checked and sent allocates nothing.
func TestFillAllocatesNothing(t *testing.T) {
	_, fill := prototest.Filled(holed, "1", "two", " three ")
	own, _ := prototest.Filled(holed, "1", "two", " three ")
	for name, m := range map[string]proto.Message{"filled": {Fill: fill},
		"of its own": {Fill: &proto.Fill{Own: &own}}} {
		c, out, in := newCodec(t, Options{}, holed), make([]byte, 0, 4096), []byte(small)
		if n := testing.AllocsPerRun(100, func() {
			out = c.Flush(c.Encode(out[:0], m, 0))
			n, _ := c.Decode(in, false)
			c.Decode(in[n:], false)
		}); n != 0 || c.Room() == 0 {
			t.Errorf("%s: %v allocations, room %d", name, n, c.Room())
		}
	}
}
