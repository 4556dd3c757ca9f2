package fcgi

import (
	"bytes"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/prototest"
)

// holed has holes in all its parts, and three values.
var holed = prototest.Holed()

// sendTwice is all that a codec sends for a message, the first and the last of a connection.
func sendTwice(t *testing.T, o Options, m proto.Message, set ...proto.Request) (all []byte) {
	t.Helper()
	o.CloseAfter = 2
	mk, err := Protocol(o)(set, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	c := mk(nil)
	for range 2 {
		sent, _ := sendMessage(c, m)
		all = append(all, sent...)
		for in, k := []byte(hello), 0; len(in) > 0; in = in[k:] {
			k, _ = c.Decode(in, false)
		}
	}
	return all
}

// A message with values in its holes, and one of its own, are sent as a request of the set that has
// the same text.
func FuzzFill(f *testing.F) {
	f.Add("1", "two", "three", "")
	f.Add("", "", "", "/srv/")
	f.Add("%41/?b=%zz", "b", " c ", "/")
	f.Add("long", "b", strings.Repeat("long", 50_000), "")
	f.Fuzz(func(t *testing.T, a, b, c, root string) {
		if !prototest.Fits(holed, a, b, c) {
			return
		}
		o := Options{Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}, Params: []proto.Field{{Name: "DOCUMENT_ROOT", Value: root}}}
		plain, fill := prototest.Filled(holed, a, b, c)
		want := sendTwice(t, o, proto.Message{}, plain)
		got := sendTwice(t, o, proto.Message{Request: 1, Fill: fill}, get, holed)
		if !bytes.Equal(got, want) {
			t.Errorf("filled: %.900q\nwant %.900q", got, want)
		}
		own := proto.Message{Fill: &proto.Fill{Own: &plain}}
		if got := sendTwice(t, o, own, get); !bytes.Equal(got, want) {
			t.Errorf("of its own: %.900q\nwant %.900q", got, want)
		}
		if got := sendTwice(t, o, proto.Message{Fill: fill}, plain, holed); !bytes.Equal(got, want) {
			t.Errorf("without holes: %.900q\nwant %.900q", got, want)
		}
	})
}

// What an application is told of a message with values: a path's value is in all that is made of it.
func TestFilledParams(t *testing.T) {
	holed := proto.Request{Method: "GET", Authority: "x", Path: "/a/",
		Holes: []proto.Hole{{In: proto.InPath, At: 3}}}
	for value, want := range map[string]map[string]string{
		"b%20c?d=e": {"REQUEST_URI": "/a/b%20c?d=e", "SCRIPT_NAME": "/a/b c", "DOCUMENT_URI": "/a/b c",
			"QUERY_STRING": "d=e", "SCRIPT_FILENAME": "/srv/a/b c", "CONTENT_LENGTH": ""},
		"b": {"REQUEST_URI": "/a/b", "SCRIPT_NAME": "/a/b", "QUERY_STRING": "", "SCRIPT_FILENAME": "/srv/a/b"},
	} {
		c := newCodec(t, Options{Params: fields("DOCUMENT_ROOT: /srv")}, holed)
		_, fill := prototest.Filled(holed, value)
		all, _ := sendMessage(c, proto.Message{Fill: fill})
		_, env, _ := read(t, all)
		got := pairs(t, env)
		for name, v := range want {
			if got[name] != v {
				t.Errorf("%s: %s is %q, want %q", value, name, got[name], v)
			}
		}
	}
}

// The rest of a body is borrowed until it is sent, though its response has come; of a connection that
// is over none is.
func TestBorrows(t *testing.T) {
	own := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 3*maxRecord)}
	for name, m := range map[string]proto.Message{"a filled body": {Fill: &proto.Fill{Body: own.Body}},
		"of its own": {Fill: &proto.Fill{Own: &own}}} {
		c := newCodec(t, Options{}, proto.Request{Method: "POST", Authority: "x", Path: "/",
			Holes: []proto.Hole{{In: proto.InBody}}})
		c.Encode(nil, m, 3)
		for in, k := []byte(hello), 0; len(in) > 0; in = in[k:] {
			k, _ = c.Decode(in, false)
		}
		for sent := 2; sent >= 0; sent-- {
			if c.Borrows(3) != (sent > 0) || c.Room() > 0 == c.Borrows(3) || c.Borrows(0) {
				t.Errorf("%s: %d pieces left: borrows %v, room %d", name, sent, c.Borrows(3), c.Room())
			}
			c.Flush(nil)
		}
		c.Encode(nil, m, 3)
		if _, ev := c.Decode(nil, true); ev.Kind != proto.Broken || c.Borrows(3) {
			t.Errorf("%s: the end is %v, and borrows the body: %v", name, ev, c.Borrows(3))
		}
	}
}
