package h3

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/prototest"
)

// holed has holes in all its parts, and three values.
var holed = prototest.Holed()

// asked is what a ring is asked to send for a message, once the worker has reused its memory.
func asked(t *testing.T, m proto.Message, set ...proto.Request) (*message, error) {
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
		return &messages[order.n], nil
	}
	text := bytes.Clone(order.text)
	clear(out)
	return (&Ring{encoder: encoder, messages: messages}).readMessage(text, order.n)
}

// A message with values in its holes, and one of its own, ask for what a request of the set asks for
// that has the same text.
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
		messages := map[string]proto.Message{"filled": {Request: 1, Fill: fill},
			"of its own": {Fill: &proto.Fill{Own: &plain}}}
		want, err := asked(t, proto.Message{}, plain)
		if err != nil {
			t.Fatal(err)
		}
		messages["without holes"] = proto.Message{Request: 2, Fill: fill}
		for name, m := range messages {
			got, err := asked(t, m, get, holed, plain)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
			}
		}
	})
}

// A body without holes stays where it is: with the ring, which has it already.
func TestFixedBody(t *testing.T) {
	r := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 1<<20),
		Holes: []proto.Hole{{In: proto.InPath, At: 1}}}
	fill := &proto.Fill{Values: [][]byte{[]byte("7")}}
	mk, err := Protocol(Options{})([]proto.Request{get, r}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(mk(nil).Encode(nil, proto.Message{Request: 1, Fill: fill}, 0)); n > 100 {
		t.Errorf("%d bytes go to the ring", n)
	}
	m, err := asked(t, proto.Message{Request: 1, Fill: fill}, get, r)
	if err != nil || !strings.Contains(string(m.head), "\x51\x02/7") || &m.body[0] != &r.Body[0] {
		t.Errorf("%v, of %+v", err, m)
	}
}
