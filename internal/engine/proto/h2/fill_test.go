package h2

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/prototest"
)

// holed has holes in all its parts, and three values.
var holed = prototest.Holed()

// heardAll is what a server reads of a message, the first and the second of a connection.
func heardAll(t *testing.T, m proto.Message, reqs ...proto.Request) string {
	t.Helper()
	c, r := begin(t, Options{Streams: 2}, fr(frameSettings, 0, 0, set(3, 100), set(4, 1<<20))+
		fr(frameWindow, 0, 0, u32(1<<20)), reqs...)
	r.hpack.SetMaxStringLength(1 << 20)
	var all strings.Builder
	for id := uint32(1); id < 4; id += 2 {
		r.read(c.Encode(nil, m, id))
		for out := c.Flush(nil); len(out) > 0; out = c.Flush(nil) {
			r.read(out)
		}
		fmt.Fprintf(&all, "%v %d %v\n", r.headers[id], r.body[id], r.ended[id])
	}
	return all.String()
}

// A message with values in its holes, and one of its own, are read as a request of the set that has
// the same text.
func FuzzFill(f *testing.F) {
	f.Add("1", "two", "three")
	f.Add("", "", "")
	f.Add("a", "b", " c ")
	f.Add("a", "", strings.Repeat("long", 20_000))
	f.Add("a", "b", "\x01")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if !prototest.Fits(holed, a, b, c) {
			return
		}
		plain, fill := prototest.Filled(holed, a, b, c)
		if fields.Check(plain) != nil { // a host that is none
			return
		}
		want := heardAll(t, proto.Message{}, plain)
		if got := heardAll(t, proto.Message{Request: 1, Fill: fill}, get, holed); got != want {
			t.Errorf("filled: %.300s\nwant %.300s", got, want)
		}
		if got := heardAll(t, proto.Message{Fill: &proto.Fill{Own: &plain}}, get); got != want {
			t.Errorf("of its own: %.300s\nwant %.300s", got, want)
		}
	})
}

// A message is read no more once its exchange is over, though not all of it was sent: so the codec
// is no proto.Borrower.
func TestBorrowsNothing(t *testing.T) {
	if _, is := any(&codec{}).(proto.Borrower); is {
		t.Fatal("it borrows messages")
	}
	for name, end := range map[string]func(c *codec){
		"an early answer": func(c *codec) { hear(t, c, reply(1)) },
		"a reset":         func(c *codec) { hear(t, c, fr(frameReset, 0, 1, u32(5))) },
		"a refusal":       func(c *codec) { hear(t, c, fr(frameReset, 0, 1, u32(7))) },
		"GOAWAY":          func(c *codec) { hear(t, c, fr(frameGoAway, 0, 0, u32(0), u32(0))) },
		"canceled":        func(c *codec) { c.Cancel(0) },
	} {
		for _, own := range []bool{false, true} {
			body := []byte(strings.Repeat("a", 1<<20))
			put := proto.Request{Method: "PUT", Path: "/", Body: []byte{}, Holes: []proto.Hole{{In: proto.InBody}}}
			fill := &proto.Fill{Values: [][]byte{body}, Body: body}
			if own {
				fill = &proto.Fill{Own: &proto.Request{Method: "PUT", Path: "/", Body: body}}
			}
			c, r := begin(t, Options{Streams: 2}, settled, put)
			sent := c.Encode(nil, proto.Message{Fill: fill}, 0)
			r.read(sent)
			if n := strings.Count(string(sent), "aaaa"); n == 0 || 4*n >= len(body) {
				t.Fatalf("%s: %d bytes of the body are sent at once", name, 4*n)
			}
			end(c)
			for i := range body {
				body[i] = '#'
			}
			hear(t, c, fr(frameWindow, 0, 0, u32(1<<30)))
			for out := c.Flush(nil); len(out) > 0; out = c.Flush(nil) {
				if strings.ContainsAny(string(out), "#a") {
					t.Errorf("%s: %d bytes are sent of a message that is over", name, len(out))
				}
				r.read(out)
			}
		}
	}
}
