package h2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"dyno/proto"
	"dyno/proto/prototest"
)

func newTestCodec(t testing.TB, o Options, reqs ...proto.Request) *codec {
	t.Helper()
	if o.Scheme == "" {
		o.Scheme = "http"
	}
	mk, err := Protocol(o)(reqs)
	if err != nil {
		t.Fatal(err)
	}
	return mk().(*codec)
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
func tell(events []proto.Event) string {
	var s []string
	for _, ev := range events {
		f := new(proto.Fault)
		errors.As(ev.Err, &f)
		switch ev.Kind {
		case proto.Head:
			s = append(s, fmt.Sprintf("%d:%d", ev.Tag, ev.Status))
		case proto.Done:
			s = append(s, fmt.Sprintf("%d+%d", ev.Tag, ev.Body))
		case proto.Refused:
			s = append(s, fmt.Sprintf("%d:refused", ev.Tag))
		case proto.Failed:
			s = append(s, fmt.Sprintf("%d:%s", ev.Tag, f.Kind))
		case proto.Closing:
			s = append(s, "closing")
		case proto.Broken:
			s = append(s, f.Kind)
		default:
			s = append(s, fmt.Sprintf("%+v", ev))
		}
	}
	return strings.Join(s, " ")
}

var all3 = reply(1) + reply(3) + reply(5)

// Whole conversations: the server's SETTINGS have come and three requests have
// been sent, a GET, a HEAD and a POST whose body waits for a window; the server
// says this, and closes. The numbers are RFC 9113's sections.
var conversations = []struct {
	name   string
	speech string
	want   string
}{
	{"nothing at all", "", "closed"},
	{"all", all3, "0:200 0+5 1:200 1:framing 2:200 2+5 closing"},
	{"one of three", reply(1), "0:200 0+5 closed"},
	{"any order", reply(5) + reply(1), "2:200 2+5 0:200 0+5 closed"},
	{"interleaved", head(1, ":status: 200") + head(5, ":status: 404") + fr(frameData, 0, 1, "ab") +
		data(5, "x") + data(1, "cde"), "0:200 2:404 2+1 0+5 closed"},
	{"cut in a body", head(1, ":status: 200") + fr(frameData, 0, 1, "ab"), "0:200 0:truncated closed"},
	{"cut in a frame", head(1, ":status: 200") + data(1, "abcdef")[:12], "0:200 0:truncated closed"},
	{"cut in a frame's header", "\x00\x00", "closed"},
	{"cut after 1xx", head(1, ":status: 103"), "0:truncated closed"},

	// 4.1, 4.2: frames.
	{"4.1 unknown type", fr(99, 0xff, 77, "what") + fr(10, 0, 0, "h2=") + reply(1),
		"0:200 0+5 closed"},
	{"4.1 unknown flags", fr(frameHeaders, 0xd2|flagEndHeaders, 1, ok) +
		fr(frameData, 0xf6|flagEnd, 1, "x"), "0:200 0+1 closed"},
	{"4.1 reserved bit", fr(frameHeaders, flagEndHeaders, 1|1<<31, ok) + data(1|1<<31, "x"),
		"0:200 0+1 closed"},
	{"4.2 a frame too large", "\x00\x40\x01\x00\x00\x00\x00\x00\x01", "framing"},
	{"4.2 a frame as large as may be", head(1, ":status: 200") +
		data(1, strings.Repeat("x", frameMin)), "0:200 0+16384 closed"},

	// 4.3: header blocks.
	{"4.3 CONTINUATION", fr(frameHeaders, 0, 1, ok[:1]) + fr(frameContinuation, 0, 1) +
		fr(frameContinuation, flagEndHeaders, 1, hdr("a: b")) + data(1, ""), "0:200 0+0 closed"},
	{"4.3 CONTINUATION ends the stream", fr(frameHeaders, flagEnd, 1, hdr(":status: 404")[:1]) +
		fr(frameContinuation, flagEndHeaders, 1, ""), "0:404 0+0 closed"},
	{"4.3 DATA inside a header", fr(frameHeaders, 0, 1, ok) + data(1, "x"), "violation"},
	{"4.3 another stream inside a header", fr(frameHeaders, 0, 1, ok) +
		fr(frameContinuation, flagEndHeaders, 3, ""), "violation"},
	{"4.3 PING inside a header", fr(frameHeaders, 0, 1, ok) + fr(framePing, 0, 0, "12345678"),
		"violation"},
	{"4.3 unknown type inside a header", fr(frameHeaders, 0, 1, ok) + fr(99, 0, 0), "violation"},
	{"6.10 CONTINUATION of nothing", fr(frameContinuation, flagEndHeaders, 1, ok), "violation"},
	{"4.3 cut inside a header", fr(frameHeaders, 0, 1, ok), "closed"},
	{"4.3 index beyond the table", fr(frameHeaders, flagEndHeaders, 1, "\xff\x20"), "compression"},
	{"4.3 index 0", fr(frameHeaders, flagEndHeaders, 1, "\x80"), "compression"},
	{"4.3 block is cut", fr(frameHeaders, flagEndHeaders, 1, "\x88\x0f"), "compression"},
	{"4.3 string is cut", fr(frameHeaders, flagEndHeaders, 1, "\x88\x00\x05ab"), "compression"},
	{"4.3 number without end", fr(frameHeaders, flagEndHeaders, 1,
		"\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "compression"},
	{"4.3 EOS in a string", fr(frameHeaders, flagEndHeaders, 1, "\x88\x00\x84\xff\xff\xff\xff"),
		"compression"},
	{"4.3 wrong padding of a string", fr(frameHeaders, flagEndHeaders, 1, "\x88\x00\x81\x00\x00"),
		"compression"},
	{"4.3 table too large", fr(frameHeaders, flagEndHeaders, 1, "\x3f\xe2\x1f\x88"), "compression"},
	{"4.3 table's size after a field", fr(frameHeaders, flagEndHeaders, 1, "\x88\x20"), "compression"},
	{"4.3 table's size, twice", fr(frameHeaders, flagEndHeaders|flagEnd, 1, "\x20\x3f\xe1\x1f\x88"),
		"0:200 0+0 closed"},
	{"endless header", fr(frameHeaders, 0, 1, ok) +
		strings.Repeat(fr(frameContinuation, 0, 1, strings.Repeat("\x88", 16000)), 17), "oversized"},
	{"endless header of nothing", fr(frameHeaders, 0, 1, ok) +
		strings.Repeat(fr(frameContinuation, 0, 1), maxHead/frameHeader+1), "oversized"},
	{"a long list in a short block", fr(frameHeaders, flagEndHeaders, 1,
		"\x88\x40\x01a\x7f\xe0\x1e"+strings.Repeat("x", 4063)+strings.Repeat("\xbe", 70)) +
		fr(frameHeaders, flagEndHeaders|flagEnd, 5, "\x88\xbe"), "0:oversized 2:200 2+0 closed"},
	{"dynamic table", fr(frameHeaders, flagEndHeaders|flagEnd, 1, "\x48\x03418") +
		fr(frameHeaders, flagEndHeaders|flagEnd, 5, "\xbe"), "0:418 0+0 2:418 2+0 closed"},

	// 5.1: states of a stream.
	{"5.1 HEADERS on an idle stream", head(7, ":status: 200"), "violation"},
	{"5.1 DATA on an idle stream", data(7, "x"), "violation"},
	{"5.1 RST_STREAM on an idle stream", fr(frameReset, 0, 7, u32(8)), "violation"},
	{"5.1 WINDOW_UPDATE on an idle stream", fr(frameWindow, 0, 7, u32(8)), "violation"},
	{"5.1 PRIORITY on an idle stream", fr(framePriority, 0, 7, "\x00\x00\x00\x00\x00") + reply(1),
		"0:200 0+5 closed"},
	{"5.1 DATA after the end", reply(1) + data(1, "x"), "0:200 0+5 violation"},
	{"5.1 HEADERS after the end", reply(1) + reply(1), "0:200 0+5 violation"},
	{"5.1 DATA after their RST_STREAM", fr(frameReset, 0, 1, u32(8)) + data(1, ""),
		"0:rst-cancel violation"},
	{"5.1 what may follow the end", reply(1) + fr(frameWindow, 0, 1, u32(9)) +
		fr(frameReset, 0, 1, u32(0)) + fr(framePriority, 0, 1, "\x00\x00\x00\x00\x00") + reply(5),
		"0:200 0+5 2:200 2+5 closed"},
	{"5.1 what follows our RST_STREAM", head(1, "a: b") + reply(1) + reply(5),
		"0:malformed 2:200 2+5 closed"},
	{"5.1.1 a server's stream", head(2, ":status: 200"), "violation"},
	{"5.1.1 stream 0", fr(frameHeaders, flagEndHeaders, 0, ok), "violation"},
	{"6.1 DATA on stream 0", data(0, "x"), "violation"},

	// 6.1: DATA.
	{"6.1 padding", head(1, ":status: 200") + fr(frameData, flagPadded, 1, "\x03abPPP") +
		fr(frameData, flagPadded|flagEnd, 1, "\x02PP"), "0:200 0+2 closed"},
	{"6.1 padding of nothing", head(1, ":status: 200") + fr(frameData, flagPadded|flagEnd, 1, "\x00x"),
		"0:200 0+1 closed"},
	{"6.1 too much padding", head(1, ":status: 200") + fr(frameData, flagPadded, 1, "\x03PP"),
		"0:200 violation"},
	{"6.1 only padding", head(1, ":status: 200") + fr(frameData, flagPadded, 1, "\x02PP"),
		"0:200 0:truncated closed"},
	{"6.1 no room for padding", head(1, ":status: 200") + fr(frameData, flagPadded, 1), "0:200 violation"},
	{"6.1 empty", head(1, ":status: 200") + strings.Repeat(fr(frameData, 0, 1), 100) + data(1, ""),
		"0:200 0+0 closed"},

	// 6.2, 6.3: HEADERS, PRIORITY.
	{"6.2 padding and priority", fr(frameHeaders, flagEndHeaders|flagPadded|flagPriority|flagEnd, 1,
		"\x02", "\x80\x00\x00\x03\xff", ok, "PP"), "0:200 0+0 closed"},
	{"6.2 too much padding", fr(frameHeaders, flagEndHeaders|flagPadded, 1, "\x02", ok), "violation"},
	{"6.2 no room for padding", fr(frameHeaders, flagEndHeaders|flagPadded, 1), "violation"},
	{"6.2 no room for priority", fr(frameHeaders, flagEndHeaders|flagPriority, 1, ok), "framing"},
	{"6.3 PRIORITY on stream 0", fr(framePriority, 0, 0, "12345"), "violation"},
	{"6.3 PRIORITY, wrong length", fr(framePriority, 0, 1, "1234"), "0:framing closed"},

	// 6.4: RST_STREAM.
	{"6.4 refused", fr(frameReset, 0, 3, u32(7)) + reply(1), "1:refused 0:200 0+5 closed"},
	{"6.4 internal error", fr(frameReset, 0, 1, u32(2)) + reply(5),
		"0:rst-internal-error 2:200 2+5 closed"},
	{"6.4 in a body", head(1, ":status: 200") + fr(frameData, 0, 1, "x") + fr(frameReset, 0, 1, u32(11)),
		"0:200 0:rst-enhance-your-calm closed"},
	{"6.4 no error, too early", fr(frameReset, 0, 1, u32(0)), "0:rst-no-error closed"},
	{"6.4 unknown code", fr(frameReset, 0, 1, u32(0xdead)), "0:rst-unknown closed"},
	{"6.4 wrong length", fr(frameReset, 0, 1, "abc"), "framing"},
	{"6.4 stream 0", fr(frameReset, 0, 0, u32(1)), "violation"},

	// 6.5: SETTINGS.
	{"6.5 acknowledged", fr(frameSettings, flagAck, 0) + reply(1), "0:200 0+5 closed"},
	{"6.5 acknowledged with more", fr(frameSettings, flagAck, 0, set(1, 1)), "framing"},
	{"6.5 wrong length", fr(frameSettings, 0, 0, "abcde"), "framing"},
	{"6.5 on a stream", fr(frameSettings, 0, 1), "violation"},
	{"6.5 unknown", fr(frameSettings, 0, 0, set(0x0a0a, 5)) + reply(1), "0:200 0+5 closed"},
	{"6.5.2 push enabled", fr(frameSettings, 0, 0, set(2, 1)), "violation"},
	{"6.5.2 push disabled", fr(frameSettings, 0, 0, set(2, 0)) + reply(1), "0:200 0+5 closed"},
	{"6.5.2 push neither", fr(frameSettings, 0, 0, set(2, 2)), "violation"},
	{"6.5.2 window too large", fr(frameSettings, 0, 0, set(4, 1<<31)), "flow-control"},
	{"6.5.2 frame too small", fr(frameSettings, 0, 0, set(5, 1<<14-1)), "violation"},
	{"6.5.2 frame too large", fr(frameSettings, 0, 0, set(5, 1<<24)), "violation"},
	{"6.5.2 largest frame", fr(frameSettings, 0, 0, set(5, 1<<24-1)) + reply(1), "0:200 0+5 closed"},
	{"6.5 without end", strings.Repeat(settled, maxOwed+1), "flood"},

	// 6.6: PUSH_PROMISE.
	{"6.6 push", fr(framePush, flagEndHeaders, 1, u32(2), ok), "violation"},

	// 6.7: PING.
	{"6.7 PING", fr(framePing, 0, 0, "12345678") + reply(1), "0:200 0+5 closed"},
	{"6.7 PING that answers nothing", fr(framePing, flagAck, 0, "dyno rst") + reply(1),
		"0:200 0+5 closed"},
	{"6.7 wrong length", fr(framePing, 0, 0, "1234567"), "framing"},
	{"6.7 on a stream", fr(framePing, 0, 1, "12345678"), "violation"},
	{"6.7 without end", strings.Repeat(fr(framePing, 0, 0, "12345678"), maxOwed+1), "flood"},

	// 6.8: GOAWAY.
	{"6.8 in peace", fr(frameGoAway, 0, 0, u32(5), u32(0)) + reply(1) + reply(5) + head(3, ":status: 204"),
		"0:200 0+5 2:200 2+5 1:204 1:truncated closing"},
	{"6.8 after all", reply(1) + fr(frameReset, 0, 3, u32(8)) + reply(5) +
		fr(frameGoAway, 0, 0, u32(5), u32(0)) + "more", "0:200 0+5 1:rst-cancel 2:200 2+5 closing"},
	{"6.8 none processed", fr(frameGoAway, 0, 0, u32(0), u32(0)),
		"0:refused 1:refused 2:refused closing"},
	{"6.8 the first processed", fr(frameGoAway, 0, 0, u32(1), u32(0)) + reply(1),
		"1:refused 2:refused 0:200 0+5 closing"},
	{"6.8 in two steps", fr(frameGoAway, 0, 0, u32(maxID), u32(0)) + reply(5) +
		fr(frameGoAway, 0, 0, u32(3), u32(0), "debug") + reply(1) +
		fr(frameHeaders, flagEndHeaders|flagEnd, 3, ok), "2:200 2+5 0:200 0+5 1:200 1+0 closing"},
	{"6.8 and closed", fr(frameGoAway, 0, 0, u32(1), u32(0)), "1:refused 2:refused closed"},
	{"6.8 an error", fr(frameGoAway, 0, 0, u32(1), u32(11), "slow down"),
		"1:refused 2:refused goaway-enhance-your-calm"},
	{"6.8 on a stream", fr(frameGoAway, 0, 1, u32(1), u32(0)), "violation"},
	{"6.8 wrong length", fr(frameGoAway, 0, 0, u32(1)), "framing"},

	// 6.9: WINDOW_UPDATE.
	{"6.9 wrong length", fr(frameWindow, 0, 0, "abc"), "framing"},
	{"6.9 nothing, connection", fr(frameWindow, 0, 0, u32(0)), "violation"},
	{"6.9 nothing, stream", fr(frameWindow, 0, 1, u32(0)) + reply(5), "0:violation 2:200 2+5 closed"},
	{"6.9.1 too large, connection", fr(frameWindow, 0, 0, u32(maxWindow)) +
		fr(frameWindow, 0, 0, u32(1)), "flow-control"},
	{"6.9.1 too large, stream", fr(frameWindow, 0, 1, u32(maxWindow)) + reply(5),
		"0:flow-control 2:200 2+5 closed"},
	{"6.9.2 too large by SETTINGS", fr(frameWindow, 0, 5, u32(maxWindow)) +
		fr(frameSettings, 0, 0, set(4, firstWindow+1)), "flow-control"},

	// 8.1 to 8.3: messages.
	{"8.1 interim", head(1, ":status: 100") + head(1, ":status: 103", "link: x") + reply(1),
		"0:200 0+5 closed"},
	{"8.1 interim ends", fr(frameHeaders, flagEndHeaders|flagEnd, 1, hdr(":status: 103")),
		"0:malformed closed"},
	{"8.1 interim for ever", strings.Repeat(head(1, ":status: 100"), maxInterim+1),
		"0:oversized closed"},
	{"8.6 status 101", head(1, ":status: 101"), "0:malformed closed"},
	{"8.1 trailer", head(1, ":status: 200") + fr(frameData, 0, 1, "ab") +
		fr(frameHeaders, flagEndHeaders|flagEnd, 1, hdr("grpc-status: 0")), "0:200 0+2 closed"},
	{"8.1 trailer does not end", head(1, ":status: 200") + head(1, "a: b"), "0:200 0:malformed closed"},
	{"8.1 trailer with a status", head(1, ":status: 200") +
		fr(frameHeaders, flagEndHeaders|flagEnd, 1, ok), "0:200 0:malformed closed"},
	{"8.1 DATA first", data(1, "x"), "0:malformed closed"},
	{"8.1 DATA after an interim", head(1, ":status: 100") + data(1, "x"), "0:malformed closed"},
	{"8.1.1 right length", head(1, ":status: 200", "content-length: 5") + data(1, "hello"),
		"0:200 0+5 closed"},
	{"8.1.1 too little", head(1, ":status: 200", "content-length: 6") + data(1, "hello"),
		"0:200 0:framing closed"},
	{"8.1.1 too much", head(1, ":status: 200", "content-length: 4") + data(1, "hello"),
		"0:200 0:framing closed"},
	{"8.1.1 too much, and more", head(1, ":status: 200", "content-length: 1") +
		fr(frameData, 0, 1, "hello") + data(1, "hello") + reply(5), "0:200 0:framing 2:200 2+5 closed"},
	{"8.1.1 length and no body", fr(frameHeaders, flagEndHeaders|flagEnd, 1,
		hdr(":status: 200", "content-length: 4")), "0:200 0:framing closed"},
	{"8.1.1 two lengths", head(1, ":status: 200", "content-length: 4", "content-length: 5"),
		"0:malformed closed"},
	{"8.1.1 same length twice", head(1, ":status: 200", "content-length: 1", "content-length: 1") +
		data(1, "x"), "0:200 0+1 closed"},
	{"8.1.1 no number", head(1, ":status: 200", "content-length: +4"), "0:malformed closed"},
	{"8.1.1 HEAD", fr(frameHeaders, flagEndHeaders|flagEnd, 3, hdr(":status: 200", "content-length: 4")),
		"1:200 1+0 closed"},
	{"8.1.1 HEAD, empty DATA", head(3, ":status: 200") + data(3, ""), "1:200 1+0 closed"},
	{"8.1.1 HEAD with a body", head(3, ":status: 200") + data(3, "x"), "1:200 1:framing closed"},
	{"8.1.1 304", fr(frameHeaders, flagEndHeaders|flagEnd, 1, hdr(":status: 304", "content-length: 4")),
		"0:304 0+0 closed"},
	{"8.1.1 204 with a body", head(1, ":status: 204") + data(1, "x"), "0:204 0:framing closed"},
	{"8.2.1 capitals", head(1, ":status: 200", "A: b"), "0:malformed closed"},
	{"8.2.1 a space in a name", head(1, ":status: 200", "a b: c"), "0:malformed closed"},
	{"8.2.1 empty name", fr(frameHeaders, flagEndHeaders, 1, ok, "\x00\x00\x01a"), "0:malformed closed"},
	{"8.2.1 NUL in a value", head(1, ":status: 200", "a: b\x00"), "0:malformed closed"},
	{"8.2.1 CR in a value", head(1, ":status: 200", "a: b\rc"), "0:malformed closed"},
	{"8.2.1 LF in a value", head(1, ":status: 200", "a: b\nc"), "0:malformed closed"},
	{"8.2.1 space before a value", head(1, ":status: 200", "a:  b"), "0:malformed closed"},
	{"8.2.1 tab behind a value", head(1, ":status: 200", "a: b\t"), "0:malformed closed"},
	{"8.2.1 empty value", head(1, ":status: 200", "a: ") + data(1, ""), "0:200 0+0 closed"},
	{"8.2.2 connection", head(1, ":status: 200", "connection: close"), "0:malformed closed"},
	{"8.2.2 keep-alive", head(1, ":status: 200", "keep-alive: 1"), "0:malformed closed"},
	{"8.2.2 proxy-connection", head(1, ":status: 200", "proxy-connection: x"), "0:malformed closed"},
	{"8.2.2 transfer-encoding", head(1, ":status: 200", "transfer-encoding: chunked"),
		"0:malformed closed"},
	{"8.2.2 upgrade", head(1, ":status: 200", "upgrade: h2c"), "0:malformed closed"},
	{"8.3 no status", head(1, "a: b"), "0:malformed closed"},
	{"8.3 nothing", fr(frameHeaders, flagEndHeaders, 1), "0:malformed closed"},
	{"8.3 two statuses", head(1, ":status: 200", ":status: 200"), "0:malformed closed"},
	{"8.3 status comes late", head(1, "a: b", ":status: 200"), "0:malformed closed"},
	{"8.3 a request's field", head(1, ":status: 200", ":path: /"), "0:malformed closed"},
	{"8.3 unknown pseudo-header", head(1, ":status: 200", ":x: y"), "0:malformed closed"},
	{"8.3.2 status of two digits", head(1, ":status: 20"), "0:malformed closed"},
	{"8.3.2 status of four digits", head(1, ":status: 2000"), "0:malformed closed"},
	{"8.3.2 status in letters", head(1, ":status: abc"), "0:malformed closed"},
	{"8.3.2 status below 100", head(1, ":status: 099"), "0:malformed closed"},
	{"8.3.2 any status", head(1, ":status: 999") + data(1, ""), "0:999 0+0 closed"},
}

// open3 is a connection on which three requests have been sent.
func open3(t testing.TB, o Options) *codec {
	o.Streams = 3
	post := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 100_000)}
	c := newTestCodec(t, o, get, proto.Request{Method: "HEAD", Authority: "x", Path: "/"}, post)
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
		c.Encode(nil, i, uint32(i))
	}
	return c
}

func TestConversations(t *testing.T) {
	for _, tc := range conversations {
		t.Run(tc.name, func(t *testing.T) {
			for _, chunk := range []int{1, 2, 3, 7, 1000, 1 << 20} {
				c := open3(t, Options{})
				got, err := prototest.Events(c, []byte(tc.speech), chunk)
				if err != nil {
					t.Fatalf("in pieces of %d: %v", chunk, err)
				}
				if s := tell(got); s != tc.want {
					t.Fatalf("in pieces of %d: got %q, want %q: %+v", chunk, s, tc.want, got)
				}
				if c.Room() != 0 {
					t.Error("room on a connection that is over")
				}
			}
		})
	}
}

// What a server may say first.
func TestBeginnings(t *testing.T) {
	for speech, want := range map[string]string{
		"":                                    "closed",
		"HTTP/1.1 400 Bad Request\r\n\r\n":    "garbage",
		"\x15\x03\x01\x00\x02\x02\x46":        "garbage",
		settled:                               "closing",
		settled[:5]:                           "closed",
		fr(frameSettings, flagAck, 0):         "violation",
		fr(framePing, 0, 0, "12345678"):       "violation",
		fr(frameGoAway, 0, 0, u32(0), u32(1)): "violation",
		settled + fr(frameGoAway, 0, 0, u32(0), u32(1)): "closing",
		settled + reply(1): "violation",
	} {
		for _, chunk := range []int{1, 3, 1000} {
			c := newTestCodec(t, Options{}, get)
			c.Flush(nil)
			got, err := prototest.Events(c, []byte(speech), chunk)
			if err != nil || tell(got) != want {
				t.Errorf("%q: %q, want %q, %v", speech, tell(got), want, err)
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
			tc.options.Scheme = "http"
			var ids []int // where a frame has the stream's id
			replies := strings.Join(tc.frames, "")
			for i, f := 0, 0; f < len(tc.frames); f++ {
				if tc.frames[f][8] == 1 {
					ids = append(ids, i+5)
				}
				i += len(tc.frames[f])
			}
			prototest.Run(t, prototest.Transcript{
				Protocol: Protocol(tc.options), Requests: []proto.Request{tc.request},
				Hello: settled + fr(frameSettings, flagAck, 0), Replies: []byte(replies),
				Patch: func(b []byte) {
					for _, i := range ids {
						binary.BigEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:])+2)
					}
				},
				Ends: tc.ends, Want: tc.want,
			})
		})
	}
}

// What a fault says is read by people.
func TestFaults(t *testing.T) {
	for speech, want := range map[string]string{
		"":                                     "connection closed before the response",
		"\x00\x40\x01\x00\x00\x00\x00\x00\x01": "a frame (type 0) of 16385 bytes; 16384 are allowed",
		head(1, ":status: 200") + fr(frameData, 0, 1, "abc"): "connection closed inside the response, " +
			"after 3 bytes of body",
		fr(frameGoAway, 0, 0, u32(9), u32(11), "slow"): "the server gave up the connection (GOAWAY, " +
			`enhance-your-calm), saying "slow"`,
		fr(frameReset, 0, 1, u32(13)): "the server reset the stream (RST_STREAM, http-1-1-required);" +
			" use --http 1.1",
		head(1, "a: b"): "malformed response: it has no :status",
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
		if first == nil || first.Error() != want {
			t.Errorf("%q: got %q, want %q", speech, first, want)
		}
	}
}

// However a server splits what it says, it means the same; and whatever it says,
// it is taken without panic and comes to an end.
func FuzzDecode(f *testing.F) {
	for _, tc := range conversations {
		if len(tc.speech) < 1000 {
			f.Add([]byte(tc.speech), uint8(3), uint8(0))
			f.Add([]byte(tc.speech), uint8(0), uint8(3))
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
			told[i] = tell(got)
		}
		if told[0] != told[1] {
			t.Errorf("whole: %q, split: %q", told[0], told[1])
		}
	})
}
