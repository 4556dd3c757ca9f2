package fcgi

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/prototest"
)

func newCodec(t testing.TB, o Options, r proto.Request) *codec {
	t.Helper()
	mk, err := Protocol(o)([]proto.Request{r}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	return mk(nil).(*codec)
}

var get = proto.Request{Method: "GET", Authority: "x", Path: "/"}

// rec is a record of request 1, padded.
func rec(kind byte, content string, pad int) string {
	b := appendRecord(nil, kind, []byte(content))
	b[6] = byte(pad)
	return string(append(b, make([]byte, pad)...))
}

func out(s string) string { return rec(stdout, s, 0) }

func end(status byte) string {
	return rec(endRequest, "\x00\x00\x00\x07"+string(status)+"\x00\x00\x00", 0)
}

var hello = out("Status: 201 Created\r\nContent-Type: text/plain\r\n\r\nhello") + out("") + end(complete)

// tell writes events as a test's table has them.
func tell(events []proto.Event) string {
	var s []string
	for _, ev := range events {
		f := new(proto.Fault)
		errors.As(ev.Err, &f)
		switch ev.Kind {
		case proto.Head:
			s = append(s, fmt.Sprint(ev.Status))
		case proto.Done:
			s = append(s, fmt.Sprintf("+%d", ev.Body))
		case proto.Closing:
			s = append(s, "closing")
		case proto.Failed:
			s = append(s, "failed:"+f.Kind)
		case proto.Broken:
			s = append(s, f.Kind)
		default:
			s = append(s, fmt.Sprintf("%+v", ev))
		}
	}
	return strings.Join(s, " ")
}

// What the application says to one request, and then it closes.
var conversations = []struct {
	name   string
	method string // GET if empty
	speech string
	want   string
}{
	{"nothing at all", "", "", "closed"},
	{"plain", "", hello, "201 +5 closing"},
	{"no Status", "", out("Content-Type: a/b\r\n\r\nhi") + end(complete), "200 +2 closing"},
	{"Location", "", out("LOCATION: http://x/\r\n\r\n") + end(complete), "302 +0 closing"},
	{"Location and Status", "", out("Location: /x\r\nStatus: 301\r\n\r\n") + end(complete),
		"301 +0 closing"},
	{"bare LF", "", out("Status: 404 No\nA: b\n\nhi") + end(complete), "404 +2 closing"},
	{"any case", "", out("sTATUS:\t500 \r\n\r\n") + end(complete), "500 +0 closing"},
	{"empty header", "", out("\r\nhi") + end(complete), "200 +2 closing"},
	{"header over records", "", out("Stat") + out("us: 40") + rec(stderr, "x", 3) + out("4 No\r") +
		out("\n\r") + out("") + out("\nbo") + out("dy") + end(complete), "404 +4 closing"},
	{"padding", "", rec(stdout, "A: b\r\n\r\nhi", 255) + rec(stdout, "ho", 1) +
		rec(endRequest, strings.Repeat("\x00", 8), 7), "200 +4 closing"},
	{"long line", "", out("A: "+strings.Repeat("x", 60_000)+"\r\nStatus: 299\r\n\r\n") + end(complete),
		"299 +0 closing"},
	{"long name", "", out(strings.Repeat("x", 60_000)+": y\r\n\r\n") + end(complete),
		"200 +0 closing"},
	{"exit status", "", out("A: b\r\n\r\n") + rec(endRequest, "\x00\x00\x00\xff\x00\x00\x00\x00", 0),
		"200 +0 closing"},
	{"no end of stdout", "", out("A: b\r\n\r\nhi") + end(complete), "200 +2 closing"},

	// Lengths.
	{"right length", "", out("Content-Length: 2\r\n\r\nhi") + end(complete), "200 +2 closing"},
	{"same length twice", "", out("Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi") + end(complete),
		"200 +2 closing"},
	{"too little", "", out("Content-Length: 3\r\n\r\nhi") + end(complete),
		"200 failed:framing closing"},
	{"too much", "", out("Content-Length: 1\r\n\r\nhi") + end(complete), "200 failed:framing closing"},
	{"two lengths", "", out("Content-Length: 1\r\nContent-Length: 2\r\n\r\nhi") + end(complete),
		"failed:framing closing"},
	{"no number", "", out("Content-Length: +2\r\n\r\nhi") + end(complete), "failed:framing closing"},
	{"negative", "", out("Content-Length: -2\r\n\r\nhi") + end(complete), "failed:framing closing"},
	{"HEAD", "HEAD", out("Content-Length: 9\r\n\r\n") + end(complete), "200 +0 closing"},
	{"HEAD answered as GET", "HEAD", out("Content-Length: 2\r\n\r\nhi") + end(complete),
		"200 +2 closing"},
	{"304", "", out("Status: 304\r\nContent-Length: 9\r\n\r\n") + end(complete), "304 +0 closing"},

	// What is no CGI response.
	{"no output", "", out("") + end(complete), "failed:truncated closing"},
	{"no end of header", "", out("A: b\r\n") + end(complete), "failed:truncated closing"},
	{"no header", "", out("<html>\n<p>\n\nhi") + end(complete), "failed:garbage closing"},
	{"status line", "", out("HTTP/1.1 200 OK\r\n\r\n") + end(complete), "failed:garbage closing"},
	{"no name", "", out(": b\r\n\r\n") + end(complete), "failed:garbage closing"},
	{"bad Status", "", out("Status: OK\r\n\r\n") + end(complete), "failed:garbage closing"},
	{"short Status", "", out("Status: 20\r\n\r\n") + end(complete), "failed:garbage closing"},
	{"interim", "", out("Status: 100 Continue\r\n\r\n") + end(complete), "failed:garbage closing"},
	{"endless header", "", strings.Repeat(out(strings.Repeat("A: b\r\n", 10_000)), 5), "oversized"},
	{"endless line", "", strings.Repeat(out(strings.Repeat("A", 60_000)), 5), "oversized"},

	// What the application says of the request.
	{"overloaded", "", end(overloaded), "failed:overloaded closing"},
	{"cannot multiplex", "", end(cannotMultiplex), "failed:multiplexed closing"},
	{"unknown role", "", end(unknownRole), "failed:unknown-role closing"},
	{"no such status", "", end(4), "garbage"},
	{"short end", "", rec(endRequest, "\x00\x00\x00\x00", 0), "framing"},
	{"long end", "", rec(endRequest, strings.Repeat("\x00", 9), 0), "framing"},

	// Records.
	{"management", "", "\x01\x0b\x00\x00\x00\x08\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x0a\x00\x00\x00\x03\x05\x00abcpadde" + hello, "201 +5 closing"},
	{"unknown type", "", rec(12, "abc", 5) + rec(255, "", 0) + hello, "201 +5 closing"},
	{"a server's type", "", rec(beginRequest, "\x00\x01\x00\x00\x00\x00\x00\x00", 0), "garbage"},
	{"an echo", "", rec(stdin, "", 0), "garbage"},
	{"type 0", "", rec(0, "", 0), "garbage"},
	{"other request", "", "\x01\x06\x00\x02\x00\x00\x00\x00", "unasked"},
	{"after the end", "", hello + out("more"), "201 +5 unasked"},
	{"version 2", "", "\x02\x06\x00\x01\x00\x00\x00\x00", "garbage"},
	{"version 0", "", "\x00", "garbage"},
	{"HTTP", "", "HTTP/1.1 400 Bad Request\r\n\r\n", "garbage"},

	// Ends in the middle.
	{"cut in a record's header", "", "\x01\x06\x00", "truncated"},
	{"cut in the header", "", out("Status: 2"), "truncated"},
	{"cut in a record", "", rec(stdout, "A: b\r\n\r\nhello", 0)[:15], "truncated"},
	{"cut in the body", "", out("A: b\r\n\r\nhello"), "200 truncated"},
	{"cut in padding", "", rec(stdout, "A: b\r\n\r\nhello", 9)[:25], "200 truncated"},
	{"cut in the end", "", out("A: b\r\n\r\nhello") + end(complete)[:12], "200 truncated"},
}

func TestConversations(t *testing.T) {
	for _, tc := range conversations {
		t.Run(tc.name, func(t *testing.T) {
			r := get
			if tc.method != "" {
				r.Method = tc.method
			}
			for _, chunk := range []int{1, 2, 3, 7, 1000, 1 << 20} {
				c := newCodec(t, Options{}, r)
				c.Encode(nil, proto.Message{}, 0)
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

// A refused exchange leaves the connection as it was.
func TestRoomAfterFailure(t *testing.T) {
	c := newCodec(t, Options{}, get)
	for range 3 {
		c.Encode(nil, proto.Message{}, 0)
		in := []byte(end(overloaded))
		if n, ev := c.Decode(in, false); n != len(in) || ev.Kind != proto.Failed || c.Room() != 1 {
			t.Fatalf("%d %+v, room %d", n, ev, c.Room())
		}
	}
}

func TestContract(t *testing.T) {
	post := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 200_000)}
	head := func(status uint16) proto.Event {
		return proto.Event{What: proto.What{Kind: proto.Head, Status: status}}
	}
	done := func(n int64) proto.Event {
		return proto.Event{What: proto.What{Kind: proto.Done}, Body: n}
	}
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		replies string
		ends    bool
		want    []proto.Event
	}{
		{"plain", Options{}, get, hello, false, []proto.Event{head(201), done(5)}},
		{"padded", Options{}, get, rec(stdout, "A: b\r\nContent-Length: 2\r\n\r\nhi", 6) +
			rec(stderr, "oh\n", 5) + end(complete), false, []proto.Event{head(200), done(2)}},
		{"upload", Options{}, post, hello, false, []proto.Event{head(201), done(5)}},
		{"our last", Options{CloseAfter: 1}, get, hello, true,
			[]proto.Event{head(201), done(5), {What: proto.What{Kind: proto.Closing}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			prototest.Run(t, prototest.Transcript{
				Protocol: Protocol(tc.options), Requests: []proto.Request{tc.request},
				Replies: []byte(tc.replies), Ends: tc.ends, Want: tc.want,
			})
		})
	}
}

// What a sink is given of a response, however it came.
func TestSink(t *testing.T) {
	post := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 200_000)}
	long := strings.Repeat("l", 3*textFirst)
	fields := func(names ...string) proto.Want { return proto.Want{Fields: names} }
	for name, tc := range map[string]struct {
		options Options
		request proto.Request
		replies string
		want    proto.Want
		given   string
	}{
		"nothing": {Options{}, get, hello, proto.Want{}, ""},
		"fields, and Status is none": {Options{}, get, hello, proto.Want{AllFields: true},
			"0 content-type: text/plain;"},
		"one of them": {Options{}, get, out("A: b\r\nX-Y:\t c:d \r\nx-y:\r\nX-Yz: e\r\n\r\nhi") + end(complete),
			fields("x-y", "status"), "0 x-y: c:d;0 x-y: ;"},
		"bare LF, and a folded line": {Options{}, get, out("A: b\n c: d\nE: f\nLocation: /x\n\n") +
			end(complete), proto.Want{AllFields: true}, "0 a: b;0 e: f;0 location: /x;"},
		"header over records": {Options{}, get, out("X-Lo") + out("ng: ") + rec(stderr, "A: b\r\n\r\n", 3) +
			rec(stdout, long[:700], 7) + out(long[700:]+"\r") + out("\nA: b\r\n\r") + rec(stderr, "x", 1) +
			out("\nbo") + out("dy") + end(complete), proto.Want{AllFields: true, Body: 100},
			"0 x-long: " + long + ";0 a: b;0 body;"},
		"body over padded records, with stderr between": {Options{}, get, rec(stdout, "A: b\r\n\r\nhe", 255) +
			rec(stderr, "oh", 5) + rec(stdout, "llo", 1) + rec(12, "what", 2) + rec(stdout, ", world", 3) +
			end(complete), proto.Want{Body: 9}, "0 hello, wo;"},
		"a body longer than is wanted": {Options{}, get, out("A: b\r\n\r\n") + strings.Repeat(out(long), 2) +
			end(complete), proto.Want{Body: 1}, "0 l;"},
		"upload": {Options{}, post, hello, proto.Want{Body: 9}, "0 hello;"},
		"our last": {Options{CloseAfter: 1}, get, out("A: b\r\nC: ") + out("d\r\n\r\nhello") + end(complete),
			proto.Want{AllFields: true, Body: 9}, "0 a: b;0 c: d;0 hello;"},
	} {
		t.Run(name, func(t *testing.T) {
			prototest.Run(t, prototest.Transcript{
				Protocol: Protocol(tc.options), Requests: []proto.Request{tc.request},
				Replies: []byte(tc.replies), Ends: tc.options.CloseAfter > 0,
				Wanted: tc.want, Given: tc.given,
			})
		})
	}
}

// Stderr is kept up to its limit, for all connections together.
func TestStderr(t *testing.T) {
	mk, err := Protocol(Options{})([]proto.Request{get}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for i := range 100 {
		c := mk(nil)
		c.Encode(nil, proto.Message{}, 0)
		line := fmt.Sprintf("PHP Warning: number %d of them, and a reason\n", i)
		want = append(want, line...)
		if _, err := prototest.Events(c, []byte(rec(stderr, line, 4)+hello), 1+i); err != nil {
			t.Fatal(err)
		}
	}
	got, total := Stderr(mk(nil))
	if !bytes.Equal(got, want[:maxStderr]) || total != int64(len(want)) {
		t.Errorf("%d of %d bytes: %q", len(got), total, got)
	}
}

// What a fault says is read by people.
func TestFaults(t *testing.T) {
	for speech, want := range map[string]string{
		"": "connection closed before the response",
		"HTTP/1.1 200 OK\r\n": `not a FastCGI record: it begins with "HTTP/1.1 200 OK\r\n";` +
			` is this an http:// server?`,
		out("A: b"):                        "connection closed inside the response header, after 4 bytes",
		out("A: b\n\nhi"):                  "connection closed without FCGI_END_REQUEST, after 2 bytes of body",
		"\x01\x06\x00\x05\x00\x00\x00\x00": "the application sent a record of request 5; only request 1 was begun",
		rec(endRequest, "12345678", 0)[:8]: "connection closed inside the response header, after 0 bytes",
	} {
		c := newCodec(t, Options{}, get)
		c.Encode(nil, proto.Message{}, 0)
		got, err := prototest.Events(c, []byte(speech), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if s := got[len(got)-1].Err.Error(); s != want {
			t.Errorf("%q: got %q, want %q", speech, s, want)
		}
	}
}

// However an application cuts its response into records, it is the same response.
func TestAnyRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const response = "Content-Type: text/plain\r\nStatus: 418 Teapot\r\nContent-Length: 33\r\n\r\n" +
		"I am a teapot, short and stout...\n"
	for range 2000 {
		var speech strings.Builder
		for rest := response[:len(response)-1]; rest != ""; {
			n := 1 + rng.IntN(min(len(rest), 1+rng.IntN(40)))
			speech.WriteString(rec(stdout, rest[:n], rng.IntN(9)))
			if rng.IntN(4) == 0 {
				speech.WriteString(rec(stderr, "oh", rng.IntN(9)))
			}
			rest = rest[n:]
		}
		speech.WriteString(end(complete))
		c := newCodec(t, Options{}, get)
		c.Encode(nil, proto.Message{}, 0)
		got, err := prototest.Events(c, []byte(speech.String()), 1+rng.IntN(30))
		if s := tell(got); err != nil || s != "418 +33 closing" {
			t.Fatalf("%q, %v: %q", s, err, speech.String())
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, tc := range conversations {
		if len(tc.speech) < 1000 {
			f.Add([]byte(tc.speech), uint8(3), uint8(0))
			f.Add([]byte(tc.speech), uint8(0), uint8(3))
			f.Add([]byte(tc.speech), uint8(1), uint8(4|3<<3))
		}
	}
	f.Fuzz(func(t *testing.T, speech []byte, chunk, how uint8) {
		r := get
		if how&1 != 0 {
			r.Method = "HEAD"
		}
		mk, err := Protocol(Options{CloseAfter: int(how >> 1 & 1)})([]proto.Request{r},
			proto.Want{AllFields: how&4 != 0, Fields: []string{"a", "content-type"}, Body: int64(how >> 3)})
		if err != nil {
			t.Fatal(err)
		}
		var told [2]string
		for i, chunk := range []int{len(speech) + 1, int(chunk) + 1} {
			var given prototest.Record
			c := mk(&given)
			c.Encode(nil, proto.Message{}, 0)
			got, err := prototest.Events(c, speech, chunk)
			if err != nil {
				t.Fatal(err)
			}
			if sample, _ := Stderr(c); len(sample) > maxStderr {
				t.Fatalf("%d bytes of stderr kept", len(sample))
			}
			told[i] = tell(got) + ", given " + given.String()
		}
		if told[0] != told[1] {
			t.Errorf("whole: %q, split: %q", told[0], told[1])
		}
	})
}

// One exchange as a worker does it.
func BenchmarkExchange(b *testing.B) {
	c := newCodec(b, Options{}, get)
	in := []byte(out("Content-Type: text/plain; charset=utf-8\r\nX-Powered-By: PHP/8.2.0\r\n\r\n"+
		"hello, world") + end(complete))
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf = c.Flush(c.Encode(buf[:0], proto.Message{}, 7))
		n, ev := c.Decode(in, false)
		if ev.Kind != proto.Head {
			b.Fatal(ev)
		}
		if k, ev := c.Decode(in[n:], false); ev.Kind != proto.Done || n+k != len(in) {
			b.Fatal(ev)
		}
		c.Decode(nil, false)
	}
}
