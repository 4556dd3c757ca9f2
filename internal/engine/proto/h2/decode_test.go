package h2

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/h2/conform"
	"dyno/internal/engine/proto/prototest"
	"dyno/internal/fact"
)

func newTestCodec(t testing.TB, o Options, reqs ...proto.Request) *codec {
	t.Helper()
	if o.Scheme == "" {
		o.Scheme = "http"
	}
	mk, err := Protocol(o)(reqs, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	return mk(nil).(*codec)
}

var get = proto.Request{Method: "GET", Authority: "x", Path: "/"}

// fr is a frame. The payload is that of the parts together.
func fr(kind, flags byte, id uint32, payload ...string) string {
	p := strings.Join(payload, "")
	return string(appendFrame(nil, len(p), kind, flags, id)) + p
}

func u32(v uint32) string { return string(binary.BigEndian.AppendUint32(nil, v)) }

func set(which uint16, v uint32) string {
	return string(binary.BigEndian.AppendUint16(nil, which)) + u32(v)
}

// block is a header block of "name: value" lines.
func hdr(lines ...string) string {
	var b []byte
	for _, l := range lines {
		i := strings.Index(l[1:], ":") + 1
		b = appendField(b, l[:i], strings.TrimPrefix(l[i+1:], " "))
	}
	return string(b)
}

var (
	settled = fr(frameSettings, 0, 0)
	ok      = hdr(":status: 200")
)

func head(id uint32, lines ...string) string {
	return fr(frameHeaders, flagEndHeaders, id, hdr(lines...))
}

func data(id uint32, body string) string { return fr(frameData, flagEnd, id, body) }

// reply is a whole response.
func reply(id uint32) string { return head(id, ":status: 200", "a: b") + data(id, "hello") }

// tell writes events as a test's table has them.
func tell(events []proto.Event) string { return conform.FormatEvents(events) }

// lastWord is what a codec says when all is over, and it says it once.
func lastWord(t testing.TB, c proto.Codec) string {
	t.Helper()
	said := c.Flush(nil)
	if more := c.Flush(nil); len(more) > 0 {
		t.Errorf("and after its last word %q", more)
	}
	return conform.GoAwayCode(said)
}

// open3 is a connection on which three requests have been sent.
func open3(t testing.TB, o Options) *codec {
	o.Streams = 3
	c := newTestCodec(t, o, conform.Requests()...)
	c.Flush(nil)
	if c.Room() != 0 {
		t.Fatal("room before SETTINGS")
	}
	if n, ev := c.Decode([]byte(settled), false); n != len(settled) || ev.Kind != proto.More {
		t.Fatal(n, ev)
	}
	for i := range 3 {
		if c.Room() != 3-i {
			t.Fatal("room for", c.Room())
		}
		c.Encode(nil, proto.Message{Request: i}, uint32(i))
	}
	return c
}

// All that a server may say, however it comes in pieces.
func TestConversations(t *testing.T) {
	for _, tc := range conform.Cases {
		t.Run(tc.String(), func(t *testing.T) {
			for _, chunk := range []int{1, 2, 3, 7, 1000, 1 << 20} {
				c := open3(t, Options{})
				got, err := prototest.Events(c, []byte(tc.ServerBytes), chunk)
				if err != nil {
					t.Fatalf("in pieces of %d: %v", chunk, err)
				}
				told, leaves := tc.WantedParts()
				if s := tell(got); s != told {
					t.Fatalf("in pieces of %d: got %q, want %q: %+v", chunk, s, told, got)
				}
				if s := lastWord(t, c); s != leaves {
					t.Fatalf("in pieces of %d: it says %q at last, not %q", chunk, s, leaves)
				}
				if c.Room() != 0 {
					t.Error("room on a connection that is over")
				}
			}
		})
	}
}

// A server that begins with an acknowledgement is told so, not that SETTINGS are none.
func TestAckFirst(t *testing.T) {
	c := newTestCodec(t, Options{}, get)
	c.Flush(nil)
	got, err := prototest.Events(c, []byte("\x00\x00\x00\x04\x01\x00\x00\x00\x00"), 100)
	want := "the server began by acknowledging our SETTINGS, not with its own"
	if err != nil || len(got) != 1 || got[0].Err == nil || got[0].Err.Error() != want {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a server may say first.
func TestBeginnings(t *testing.T) {
	for _, tc := range conform.Beginnings {
		for _, chunk := range []int{1, 3, 1000} {
			c := newTestCodec(t, Options{}, get)
			c.Flush(nil)
			got, err := prototest.Events(c, []byte(tc.ServerBytes), chunk)
			told, leaves := tc.WantedParts()
			if err != nil || tell(got) != told {
				t.Errorf("%v: %q, want %q, %v", tc, tell(got), told, err)
			}
			if s := lastWord(t, c); s != leaves {
				t.Errorf("%v: it says %q at last, not %q", tc, s, leaves)
			}
		}
	}
}

func TestContract(t *testing.T) {
	post := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 20_000)}
	headed := func(status uint16) proto.Event {
		return proto.Event{What: proto.What{Kind: proto.Head, Status: status}}
	}
	done := func(n int64) proto.Event {
		return proto.Event{What: proto.What{Kind: proto.Done}, Body: n}
	}
	inserting := "\x88" + "\x76\x05nginx" + "\x61\x1dMon, 06 Jan 2025 10:00:00 GMT" + "\x5c\x0212"
	big := strings.Repeat("x", 200)
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		frames  []string // of stream 1
		ends    bool
		want    []proto.Event
	}{
		{"plain", Options{}, get, []string{head(1, ":status: 200"), data(1, "hello")}, false,
			[]proto.Event{headed(200), done(5)}},
		{"header only", Options{Streams: 100}, get, []string{fr(frameHeaders, 5, 1, ok)}, false,
			[]proto.Event{headed(200), done(0)}},
		{"inserts", Options{}, get, []string{fr(frameHeaders, flagEndHeaders, 1, inserting),
			data(1, "hello, world")}, false, []proto.Event{headed(200), done(12)}},
		{"inserts, by index", Options{}, get, []string{fr(frameHeaders, flagEndHeaders, 1,
			"\x88\x40\x01a\x01b\xbe\x7e\x01c\xbf\xbe"), data(1, "")}, false,
			[]proto.Event{headed(200), done(0)}},
		{"no table", Options{NoTable: true}, get, []string{fr(frameHeaders, flagEndHeaders, 1, inserting),
			data(1, "hello, world")}, false, []proto.Event{headed(200), done(12)}},
		{"split header", Options{}, get, []string{fr(frameHeaders, 0, 1, ok, "\x40\x7f\x49", big[:100]),
			fr(frameContinuation, 0, 1, big[100:]), fr(frameContinuation, flagEndHeaders, 1, "\x01x"),
			data(1, "hi")}, false, []proto.Event{headed(200), done(2)}},
		{"all sorts", Options{}, get, []string{fr(framePing, 0, 0, "12345678"),
			head(1, ":status: 103", "link: x"), fr(frameSettings, 0, 0, set(3, 50)), head(1, ":status: 404"),
			fr(frameData, flagPadded, 1, "\x02hiPP"), fr(frameWindow, 0, 0, u32(1)),
			fr(framePriority, 0, 1, "12345"), fr(frameHeaders, 5, 1, hdr("t: r"))}, false,
			[]proto.Event{headed(404), done(2)}},
		{"upload", Options{}, post, []string{fr(frameWindow, 0, 0, u32(20_000)),
			fr(frameWindow, 0, 1, u32(20_000)), head(1, ":status: 201"), data(1, "")}, false,
			[]proto.Event{headed(201), done(0)}},
		{"our last", Options{CloseAfter: 1}, get, []string{fr(frameHeaders, 5, 1, ok)}, true,
			[]proto.Event{headed(200), done(0), {What: proto.What{Kind: proto.Closing}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := transcriptOf(tc.options, tc.request, tc.frames)
			tr.Ends, tr.Want = tc.ends, tc.want
			prototest.Run(t, tr)
		})
	}
}

// transcriptOf is of a server that answers each request with the same frames, on its stream.
func transcriptOf(o Options, r proto.Request, frames []string) prototest.Transcript {
	o.Scheme = "http"
	var ids []int // where a frame has the stream's id
	for i, f := 0, 0; f < len(frames); f++ {
		if frames[f][8] == 1 {
			ids = append(ids, i+5)
		}
		i += len(frames[f])
	}
	return prototest.Transcript{
		Protocol: Protocol(o), Requests: []proto.Request{r},
		Hello: settled + fr(frameSettings, flagAck, 0), Replies: []byte(strings.Join(frames, "")),
		Patch: func(b []byte) {
			for _, i := range ids {
				binary.BigEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:])+2)
			}
		},
	}
}

// What a sink is given does not depend on how the bytes were split, nor on what the table has.
func TestSink(t *testing.T) {
	long := strings.Repeat("l", 300)
	for name, tc := range map[string]struct {
		request proto.Request
		frames  []string
		ends    bool
		want    proto.Want
		given   string
	}{
		"fields": {get, []string{head(1, ":status: 200", "server: a", "x-y: b"), data(1, "hello")}, false,
			proto.Want{Fields: []string{"x-y"}}, "0 x-y: b;"},
		"of the table": {get, []string{fr(frameHeaders, flagEndHeaders, 1,
			"\x88\x40\x01a\x01b\xbe\x7e\x01c\xbf\xbe"), data(1, "")}, false, proto.Want{AllFields: true},
			"0 a: b;0 a: b;0 a: c;0 a: b;0 a: c;"},
		"in Huffman code": {get, []string{head(1, ":status: 200", "content-type: text/html",
			"x-long: "+long), data(1, "")}, false, proto.Want{AllFields: true},
			"0 content-type: text/html;0 x-long: " + long + ";"},
		"the body, in padded frames": {get, []string{head(1, ":status: 200"),
			fr(frameData, flagPadded, 1, "\x02hePP"), fr(framePing, 0, 0, "12345678"),
			fr(frameData, flagPadded, 1, "\x00"), data(1, "llo, world")}, false, proto.Want{Body: 9},
			"0 hello, wo;"},
		"interim, and a trailer": {get, []string{head(1, ":status: 103", "link: x"),
			head(1, ":status: 200", "link: y"), fr(frameData, 0, 1, "hi"),
			fr(frameHeaders, 5, 1, hdr("t: r"))}, false, proto.Want{AllFields: true, Body: 100},
			"0 link: y;0 hi;0 t: r (trailer);"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := transcriptOf(Options{}, tc.request, tc.frames)
			tr.Ends, tr.Wanted, tr.Given = tc.ends, tc.want, tc.given
			prototest.Run(t, tr)
		})
	}
}

// A sink is given nothing of a stream that was canceled, though its frame goes on.
func TestSinkOfCanceled(t *testing.T) {
	mk, err := Protocol(Options{Scheme: "http", Streams: 2})([]proto.Request{get},
		proto.Want{AllFields: true, Body: 100})
	if err != nil {
		t.Fatal(err)
	}
	var given prototest.Record
	c := mk(&given)
	c.Flush(nil)
	hear(t, c.(*codec), settled)
	c.Encode(c.Encode(nil, proto.Message{}, 5), proto.Message{}, 6)
	hear(t, c.(*codec), head(1, ":status: 200", "a: b"))
	frame := fr(frameData, 0, 1, "abcdef")
	n, _ := c.Decode([]byte(frame[:12]), false)
	c.(proto.Canceler).Cancel(5)
	hear(t, c.(*codec), frame[n:]+fr(frameData, 1, 1, "gh")+head(3, ":status: 200", "c: d")+data(3, "x"))
	if got := given.String(); got != "5 a: b;5 abc;6 c: d;6 x;" {
		t.Errorf("given %q", got)
	}
}

// A sizes is a sink that counts bytes of fields.
type sizes struct{ header, trailer int }

func (s *sizes) Field(_ uint32, name, value []byte, trailer bool) {
	if n := len(name) + len(value); trailer {
		s.trailer += n
	} else {
		s.header += n
	}
}
func (s *sizes) Body(uint32, []byte) {}

// A byte of a header block can stand for a field of 4 KB in the table. The response fails, and the
// sink is given no more of it than the longest header that is allowed.
func TestSinkOfOversized(t *testing.T) {
	mk, err := Protocol(Options{Scheme: "http", Streams: 3})([]proto.Request{get},
		proto.Want{Fields: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	var given sizes
	c := mk(&given)
	c.Flush(nil)
	hear(t, c, settled)
	for tag := range uint32(3) {
		c.Encode(nil, proto.Message{}, tag)
	}
	const field, each = "a", 4000
	added := "\x40\x01" + field + string(fields.AppendInteger(nil, 0, 0x7f, each)) + strings.Repeat("v", each)
	hear(t, c, fr(frameHeaders, 5, 1, ok, added))
	if given != (sizes{header: 1 + each}) {
		t.Fatalf("given %+v of one field", given)
	}
	bomb := strings.Repeat("\xbe", 16_000)
	most := (1 + each) * (fields.MaxHead / (1 + each + fields.Overhead))
	given = sizes{}
	if got := hear(t, c, fr(frameHeaders, flagEndHeaders, 3, ok, bomb)); got != "1:oversized" || given.header == 0 ||
		given.header > most {
		t.Errorf("header: %q, and %d bytes are given, at most %d", got, given.header, most)
	}
	got := hear(t, c, head(5, ":status: 200")+fr(frameHeaders, 5, 5, bomb))
	if got != "2:200 2:oversized" || given.trailer == 0 || given.trailer > most {
		t.Errorf("trailer: %q, and %d bytes are given, at most %d", got, given.trailer, most)
	}
}

// What a fault says is read by people.
func TestFaults(t *testing.T) {
	for speech, want := range map[string]string{
		"":                                     "connection closed before the response",
		"\x00\x40\x01\x00\x00\x00\x00\x00\x01": "a frame (type 0) of 16385 bytes; 16384 are allowed",
		head(1, ":status: 200") + fr(frameData, 0, 1, "abc"): "connection closed inside the response, " +
			"after 3 bytes of body",
		fr(frameGoAway, 0, 0, u32(9), u32(11), "slow"): "ended by the server: GOAWAY, " +
			`ENHANCE_YOUR_CALM: "slow"`,
		fr(frameGoAway, 0, 0, u32(9), u32(99)):                      "ended by the server: GOAWAY, error code 99",
		fr(frameReset, 0, 1, u32(13)):                               "the server reset the stream (RST_STREAM, http-1-1-required) [{http 1.1}]",
		head(1, "a: b"):                                             "malformed response: it has no :status",
		fr(frameHeaders, flagEndHeaders, 1, "\xff\x20"):             "the header of stream 1 cannot be decompressed: an index is beyond the table's end",
		head(1, ":status: 200", "content-length: 7") + data(1, "x"): "the stream ended after 1 of 7 bytes of body",
	} {
		got, err := prototest.Events(open3(t, Options{}), []byte(speech), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var first error
		for _, ev := range got {
			if first == nil {
				first = ev.Err
			}
		}
		said := fmt.Sprint(first)
		if mend := fact.RemediesOf(first); mend != nil {
			said += fmt.Sprint(" ", mend)
		}
		if said != want {
			t.Errorf("%q: got %q, want %q", speech, said, want)
		}
	}
	const want = `not HTTP/2: the server began with "HTTP/1.1 400 "; is this an HTTP/1.1 server? [{url http://} {http 1.1}]`
	if f := foreignProtocol([]byte("HTTP/1.1 400 ")); fmt.Sprint(f, " ", f.Mend) != want {
		t.Error(f, f.Mend)
	}
}

// However a server splits what it says, it means the same; and whatever it says,
// it is taken without panic and comes to an end.
func FuzzDecode(f *testing.F) {
	for _, tc := range conform.Cases {
		if len(tc.ServerBytes) < 1000 {
			f.Add([]byte(tc.ServerBytes), uint8(3), uint8(0))
			f.Add([]byte(tc.ServerBytes), uint8(0), uint8(3))
		}
	}
	f.Fuzz(func(t *testing.T, speech []byte, chunk, how uint8) {
		var told [2]string
		for i, chunk := range []int{len(speech) + 1, int(chunk) + 1} {
			c := open3(t, Options{NoTable: how&1 != 0, CloseAfter: int(how >> 1 & 4)})
			got, err := prototest.Events(c, speech, chunk)
			if err != nil {
				t.Fatal(err)
			}
			over := map[uint32]bool{}
			for _, ev := range got {
				switch ev.Kind {
				case proto.Head, proto.Done, proto.Failed, proto.Refused:
					if over[ev.Tag] || ev.Tag > 2 {
						t.Fatalf("tag %d is told of after its end: %s", ev.Tag, tell(got))
					}
					over[ev.Tag] = ev.Kind != proto.Head
				}
			}
			told[i] = tell(got) + " " + lastWord(t, c)
			broke := len(got) > 0 && got[len(got)-1].Kind == proto.Broken
			if strings.Contains(told[i], `"`) || !broke && !strings.HasSuffix(told[i], " ") {
				t.Fatalf("what it says at last: %s", told[i])
			}
		}
		if told[0] != told[1] {
			t.Errorf("whole: %q, split: %q", told[0], told[1])
		}
	})
}
