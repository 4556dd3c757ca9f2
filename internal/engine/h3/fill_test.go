package h3

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/prototest"
)

// holed has holes in all its parts, and three values.
var holed = prototest.Holed()

// sent is what a ring sends for a message, once the worker has reused its memory.
func sent(t *testing.T, m proto.Message, set ...proto.Request) *message {
	t.Helper()
	o := Options{Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}}
	mk, err := Protocol(o)(set, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	encoder := o.newEncoder()
	messages, err := encodeRequests(&encoder, set)
	if err != nil {
		t.Fatal(err)
	}
	out := mk(nil).Encode([]byte("before"), m, 0)[len("before"):]
	order, n := parseRecord(out)
	if n != len(out) || order.id != id(1, 0) {
		t.Fatalf("%d of %d bytes are an order of %x", n, len(out), order.id)
	}
	if order.what == ask {
		return &messages[order.n]
	}
	var x exchange
	x.setOwn(&order, messages)
	clear(out)
	return x.message
}

// A request is what a server reads of one.
type request struct {
	header []string
	body   []byte
	frames string // their types
}

func (r *request) beginFrame(kind, _ uint64) (whole bool, err error) {
	r.frames += fmt.Sprint(kind, " ")
	return kind == frameHeaders, nil
}

func (r *request) hearFrame(kind uint64, b []byte) (err error) {
	if kind == frameData {
		r.body = append(r.body, b...)
		return nil
	}
	_, err = new(section).decodeBlock(b, func(_ *fields.Header, name, value []byte) {
		r.header = append(r.header, fmt.Sprintf("%s: %s", name, value))
	})
	return err
}

// heardBy is what a server reads of a message, and whether it is sent at once.
func heardBy(t *testing.T, m *message) string {
	t.Helper()
	stream := append(bytes.Clone(m.head), m.body...)
	if m.short != nil {
		stream = m.short
	}
	var r request
	var frames frameReader
	if err := frames.readFrames(stream, &r); err != nil || !frames.isBetween() {
		t.Fatalf("%.300q: %v", stream, err)
	}
	return fmt.Sprintf("%q %q %s bare %v short %v", r.header, r.body, r.frames, m.bare, m.short != nil)
}

// A message with values in its holes, and one of its own, are read as a request of the set that has
// the same text.
func FuzzFill(f *testing.F) {
	f.Add("1", "two", "three")
	f.Add("", "", "")
	f.Add("a", "b", " c ")
	f.Add("a", "", strings.Repeat("long", 50_000))
	f.Add("a", "host:81", "c")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if !prototest.Fits(holed, a, b, c) {
			return
		}
		plain, fill := prototest.Filled(holed, a, b, c)
		want := heardBy(t, sent(t, proto.Message{}, plain))
		want, _, _ = strings.Cut(want, " short ") // without Huffman code more is long
		for name, m := range map[string]proto.Message{"filled": {Request: 1, Fill: fill},
			"of its own": {Fill: &proto.Fill{Own: &plain}}, "without holes": {Request: 2, Fill: fill}} {
			got, _, _ := strings.Cut(heardBy(t, sent(t, m, get, holed, plain)), " short ")
			if got != want {
				t.Errorf("%s: %.900s; want %.900s", name, got, want)
			}
		}
	})
}

// A long body without holes stays where it is: with the ring, which has it already. A short one goes
// with its header, so that the ring sends them at once.
func TestFixedBody(t *testing.T) {
	for size, most := range map[int]int{1 << 20: 100, 100: 200} {
		r := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, size),
			Holes: []proto.Hole{{In: proto.InPath, At: 1}}}
		filled := proto.Message{Request: 1, Fill: &proto.Fill{Values: [][]byte{[]byte("7")}}}
		mk, err := Protocol(Options{})([]proto.Request{get, r}, proto.Want{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(mk(nil).Encode(nil, filled, 0)); n > most {
			t.Errorf("%d bytes go to the ring for a body of %d", n, size)
		}
		m := sent(t, filled, get, r)
		heard := heardBy(t, m)
		if !strings.Contains(heard, `":path: /7"`) || !strings.Contains(heard, fmt.Sprintf(`"content-length: %d"`, size)) ||
			(m.short != nil) != (size == 100) || m.short == nil && &m.body[0] != &r.Body[0] {
			t.Errorf("a body of %d: %.900s", size, heard)
		}
	}
}

// The answer to HEAD has no body, whichever way the request came.
func TestBare(t *testing.T) {
	r := proto.Request{Method: "HEAD", Authority: "x", Path: "/", Holes: []proto.Hole{{In: proto.InPath, At: 1}}}
	own := r
	own.Holes = nil
	for name, m := range map[string]proto.Message{"filled": {Fill: &proto.Fill{Values: [][]byte{[]byte("7")}}},
		"of its own": {Fill: &proto.Fill{Own: &own}}} {
		if !sent(t, m, r).bare {
			t.Errorf("%s: a body is awaited", name)
		}
	}
	if sent(t, proto.Message{Fill: &proto.Fill{Own: &get}}, r).bare {
		t.Error("of GET no body is awaited")
	}
}

// A message with values of its own allocates nothing on its way to the stream, once an exchange has
// served one.
func TestOwnAllocatesNothing(t *testing.T) {
	plain, fill := prototest.Filled(holed, "1", "two", strings.Repeat("three", 300))
	mk, err := Protocol(Options{})([]proto.Request{holed}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	c := mk(nil).(*codec)
	var out []byte
	var x exchange
	for name, m := range map[string]proto.Message{"filled": {Fill: fill}, "of its own": {Fill: &proto.Fill{Own: &plain}}} {
		if n := testing.AllocsPerRun(100, func() {
			out = c.Encode(out[:0], m, 0)
			c.closeExchange(0)
			order, _ := parseRecord(out)
			x.setOwn(&order, c.run.messages)
			x.text = reuse(x.text)
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
