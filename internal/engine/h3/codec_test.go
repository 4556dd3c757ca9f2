package h3

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/prototest"
	ptls "dyno/internal/engine/proto/tls"
)

var get = proto.Request{Method: "GET", Authority: "host", Path: "/"}

func newCodec(t testing.TB, o Options) proto.Codec {
	t.Helper()
	mk, err := Protocol(o)([]proto.Request{get}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	return mk(nil)
}

// speech is what a ring says, record by record.
func speech(all ...record) (b []byte) {
	for _, r := range all {
		b = r.appendTo(b)
	}
	return b
}

// id is that of the n-th exchange of a connection, which has tag.
func id(n, tag uint64) uint64 { return n<<32 | tag }

// A codec of HTTP/3 keeps what all codecs promise.
func TestCodec(t *testing.T) {
	n := uint64(1)
	replies := func() []byte {
		return speech(record{what: head, id: id(n, 0), n: 204}, record{what: alive},
			record{what: done, id: id(n, 0), n: 5})
	}
	prototest.Run(t, prototest.Transcript{
		Protocol: Protocol(Options{CloseAfter: 1}), Requests: []proto.Request{get},
		Hello: string(speech(record{what: shaken})), Replies: replies(), Ends: true,
		Want: []proto.Event{newEvent(proto.Head, 0, 204), {What: newEvent(proto.Done, 0, 0).What, Body: 5},
			newEvent(proto.Closing, 0, 0)},
	})
}

// tell is a conversation in words.
func tell(c proto.Codec, in []byte, eof bool) string {
	var all []string
	for {
		n, ev := c.Decode(in, eof)
		in = in[n:]
		name := [...]string{"more", "shaken", "head", "done", "refused", "failed", "closing",
			"interim", "broken"}[ev.Kind]
		var f *proto.Fault
		if errors.As(ev.Err, &f) {
			name += " " + f.Kind
		}
		if ev.Kind == proto.Head {
			name += fmt.Sprint(" ", ev.Status)
		}
		if ev.Kind != proto.More {
			all = append(all, name)
		}
		if ev.Kind == proto.More || ev.Kind == proto.Broken || ev.Kind == proto.Closing && eof {
			return strings.Join(all, ", ")
		}
	}
}

// What the ring says of three exchanges under way, and what the worker hears.
func TestConversations(t *testing.T) {
	reset := proto.Fault{Kind: "rst-internal-error", Detail: "why"}
	for name, tc := range map[string]struct {
		says []record
		eof  bool
		want string
		room int
	}{
		"nothing": {room: 1},
		"all": {says: []record{{what: done, id: id(1, 0)}, {what: head, id: id(3, 2), n: 200},
			{what: done, id: id(3, 2)}, {what: done, id: id(2, 1)}},
			want: "done, head 200, done, done", room: 4},
		"one is reset": {says: []record{{what: failed, id: id(2, 1), fault: reset}},
			want: "failed rst-internal-error", room: 2},
		"one is refused":   {says: []record{{what: refused, id: id(2, 1)}}, want: "refused", room: 2},
		"of another's tag": {says: []record{{what: done, id: id(9, 1)}, {what: done, id: id(1, 77)}}, room: 1},
		"twice":            {says: []record{{what: done, id: id(1, 0)}, {what: done, id: id(1, 0)}}, want: "done", room: 2},
		"the server leaves": {says: []record{{what: leaving, n: everything},
			{what: refused, id: id(3, 2)}, {what: done, id: id(1, 0)}, {what: done, id: id(2, 1)}},
			want: "refused, done, done, closing"},
		"the connection is lost": {says: []record{{what: head, id: id(1, 0), n: 200},
			{what: broken, fault: proto.Fault{Kind: "close-internal-error"}}},
			want: "head 200, failed close-internal-error, failed close-internal-error, " +
				"failed close-internal-error, closing"},
		"the server has left": {says: []record{{what: done, id: id(1, 0)}, {what: leaving, n: 1}},
			want: "done, refused, refused, closing"},
		"and that was an error": {says: []record{{what: leaving, n: 1},
			{what: broken, fault: proto.Fault{Kind: "close-x"}}},
			want: "refused, refused, failed close-x, closing"},
		"and took one before": {says: []record{
			{what: broken, n: 1, fault: proto.Fault{Kind: "close-x"}}},
			want: "refused, refused, failed close-x, closing"},
		"the connection is lost with all": {says: []record{
			{what: broken, fault: proto.Fault{Kind: "close-x"}}},
			want: "failed close-x, failed close-x, failed close-x, closing"},
		"and without any": {says: []record{{what: done, id: id(1, 0)}, {what: done, id: id(2, 1)},
			{what: done, id: id(3, 2)}, {what: broken, fault: proto.Fault{Kind: "close-x"}}},
			want: "done, done, done, broken close-x"},
		"the end": {says: []record{{what: head, id: id(2, 1), n: 200}}, eof: true,
			want: "head 200, failed truncated, broken closed"},
		"the end, and nothing under way": {says: []record{{what: done, id: id(1, 0)},
			{what: done, id: id(2, 1)}, {what: done, id: id(3, 2)}}, eof: true,
			want: "done, done, done, closing"},
	} {
		c := newCodec(t, Options{Streams: 4})
		if c.Room() != 0 {
			t.Errorf("%s: room before the handshake", name)
		}
		tell(c, speech(record{what: shaken}), false)
		for tag := range uint32(3) {
			c.Encode(nil, proto.Message{}, tag)
		}
		if got := tell(c, speech(tc.says...), tc.eof); got != tc.want || c.Room() != tc.room {
			t.Errorf("%s: %s, room for %d; want %s, %d", name, got, c.Room(), tc.want, tc.room)
		}
	}
	if got := tell(newCodec(t, Options{}), nil, true); got != "broken closed" {
		t.Errorf("a connection that was never shaken ends: %s", got)
	}
}

// A handshake has settled its terms when its worker hears of it, so that the worker counts as many.
func TestSettled(t *testing.T) {
	mk, err := Protocol(Options{})([]proto.Request{get}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	states := []tls.ConnectionState{
		{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256, CurveID: tls.X25519MLKEM768},
		{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256, CurveID: tls.X25519MLKEM768, DidResume: true},
		{Version: tls.VersionTLS13, CipherSuite: tls.TLS_CHACHA20_POLY1305_SHA256},
	}
	for _, state := range states {
		c, said := mk(nil), speech(shakenRecord(state))
		before := len(Settled(c))
		if tell(c, said[:len(said)-1], false); len(Settled(c)) != before {
			t.Errorf("of a record that has not come: %v", Settled(c))
		}
		if _, ev := c.Decode(said, false); ev.Kind != proto.Shaken || ev.Resumed != state.DidResume {
			t.Errorf("%+v is told as %+v", state, ev)
		}
	}
	want := map[ptls.Terms]int64{
		{Version: "1.3", Cipher: "TLS_AES_128_GCM_SHA256", Group: "X25519MLKEM768"}: 2,
		{Version: "1.3", Cipher: "TLS_CHACHA20_POLY1305_SHA256"}:                    1,
	}
	if got := Settled(mk(nil)); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if other := Settled(newCodec(t, Options{})); len(other) > 0 {
		t.Errorf("of another worker: %v", other)
	}
}

// What the worker asks for is what the ring reads; and what has been given up is not heard
// of, even if its tag is in use again.
func TestCancel(t *testing.T) {
	c := newCodec(t, Options{Streams: 2})
	tell(c, speech(record{what: shaken, n: 1}), false)
	out := c.Encode(nil, proto.Message{}, 1)
	canceler := c.(proto.Canceler)
	if canceler.Cancel(0) || !canceler.Cancel(1) || canceler.Cancel(1) {
		t.Error("what is not under way can be given up, or what is cannot")
	}
	out = c.Flush(out)
	out = c.Flush(c.Encode(out, proto.Message{}, 1))
	want := speech(record{what: ask, id: id(1, 1)}, record{what: giveUp, id: id(1, 1)},
		record{what: ask, id: id(2, 1)})
	if string(out) != string(want) {
		t.Errorf("%x; want %x", out, want)
	}
	late := speech(record{what: done, id: id(1, 1)}, record{what: head, id: id(2, 1), n: 200})
	if got := tell(c, late, false); got != "head 200" {
		t.Error(got)
	}
}

// What a sink is given of the ring's records, however they are cut.
func TestSink(t *testing.T) {
	_, fill := prototest.Filled(holed, "1", "two", "3")
	one := id(1, 0)
	text := func(what byte, id uint64, name, value string) record {
		return record{what: what, id: id, n: uint64(len(name)), text: []byte(name + value)}
	}
	over := []record{{what: head, id: one, n: 200}, {what: done, id: one, n: 9}}
	for name, tc := range map[string]struct {
		want  proto.Want
		says  []record
		given string
	}{
		"nothing is wanted": {proto.Want{}, []record{text(field, one, "a", "b"), over[0], over[1]}, ""},
		"all": {proto.Want{AllFields: true, Body: 9}, []record{text(field, one, "a", "b"),
			text(field, one, "c", ""), over[0], text(piece, one, "", "hello"), {what: alive},
			text(piece, one, "", ", wo"), text(trailer, one, "t", "r"), over[1]},
			"0 a: b;0 c: ;0 hello, wo;0 t: r (trailer);"},
		"of others": {proto.Want{AllFields: true, Body: 9}, []record{text(field, id(9, 0), "a", "b"),
			text(piece, id(1, 1), "", "x"), text(field, id(1, 77), "a", "b"), over[0],
			text(piece, id(2, 0), "", "y"), over[1], text(piece, one, "", "late")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			prototest.Run(t, prototest.Transcript{
				Protocol: Protocol(Options{CloseAfter: 1}), Requests: []proto.Request{holed}, Fill: fill,
				Hello: string(speech(record{what: shaken})), Replies: speech(tc.says...), Ends: true,
				Wanted: tc.want, Given: tc.given})
		})
	}
}

// A sink is given nothing of an exchange that was canceled, even if its tag is in use again.
func TestSinkOfCanceled(t *testing.T) {
	mk, err := Protocol(Options{Streams: 2})([]proto.Request{get}, proto.Want{AllFields: true, Body: 9})
	if err != nil {
		t.Fatal(err)
	}
	var given prototest.Record
	c := mk(&given)
	tell(c, speech(record{what: shaken}), false)
	body := func(n uint64, b string) record { return record{what: piece, id: id(n, 1), text: []byte(b)} }
	c.Encode(nil, proto.Message{}, 1)
	tell(c, speech(body(1, "abc")), false)
	c.(proto.Canceler).Cancel(1)
	tell(c, speech(body(1, "def")), false)
	c.Encode(nil, proto.Message{}, 1)
	tell(c, speech(body(1, "ghi"), body(2, "jkl")), false)
	if got := given.String(); got != "1 abcjkl;" {
		t.Errorf("given %q", got)
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"streams": {Streams: fields.MaxStreams + 1}, "no streams": {Streams: -1},
		"closing": {CloseAfter: -1}, "agent": {Defaults: []proto.Field{{Name: "User-Agent", Value: "a\nb"}}},
	} {
		if _, err := Protocol(o)([]proto.Request{get}, proto.Want{}); err == nil {
			t.Errorf("%s: %+v is taken", name, o)
		}
	}
	for name, change := range map[string]func(r *proto.Request){
		"begin with /":      func(r *proto.Request) { r.Path = "x" },
		"forbid it":         func(r *proto.Request) { r.Header = []proto.Field{{Name: "Upgrade", Value: "x"}} },
		"control character": func(r *proto.Request) { r.Header = []proto.Field{{Name: "A", Value: "x\x01"}} },
		"differs from message to": func(r *proto.Request) {
			r.Header = []proto.Field{{Name: "Content-Length", Value: "0"}}
			r.Holes = []proto.Hole{{In: proto.InBody}}
		},
		"is not the length of the body, 0": func(r *proto.Request) { r.Header = []proto.Field{{Name: "Content-length", Value: "5"}} },
		"asks for a tunnel, which":         func(r *proto.Request) { r.Method = "CONNECT" },
	} {
		r := get
		change(&r)
		if err := fields.Check(r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := Protocol(Options{})([]proto.Request{get, r}, proto.Want{}); err == nil ||
			!strings.HasPrefix(err.Error(), "request 2: ") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(speech(records...), uint8(3))
	f.Add(speech(record{what: shaken}, record{what: head, id: id(1, 0), n: 200},
		record{what: done, id: id(1, 0)}), uint8(0))
	f.Add(speech(record{what: shaken}, record{what: field, id: id(1, 0), n: 1, text: []byte("ab")},
		record{what: piece, id: id(1, 0), text: []byte("body")}), uint8(5))
	f.Fuzz(func(t *testing.T, in []byte, chunk uint8) {
		var told [2]string
		mk, err := Protocol(Options{Streams: 3})([]proto.Request{get}, proto.Want{AllFields: true, Body: 9})
		if err != nil {
			t.Fatal(err)
		}
		for i, size := range []int{len(in) + 1, int(chunk) + 1} {
			var given prototest.Record
			c := mk(&given)
			c.Encode(nil, proto.Message{}, 0)
			got, err := prototest.Events(c, in, size)
			if err != nil {
				t.Fatal(err)
			}
			told[i] = fmt.Sprint(got, given.String())
		}
		if told[0] != told[1] {
			t.Errorf("whole: %s, split: %s", told[0], told[1])
		}
	})
}
