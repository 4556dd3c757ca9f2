package h1

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/prototest"
)

// tell writes events as a test's table has them: a Head as its status, a Done as
// its bytes of body, Broken as its kind of fault.
func tell(events []proto.Event) string {
	var s []string
	for _, ev := range events {
		switch ev.Kind {
		case proto.Head:
			s = append(s, fmt.Sprint(ev.Status))
		case proto.Done:
			s = append(s, fmt.Sprintf("+%d", ev.Body))
		case proto.Interim:
		case proto.Closing:
			s = append(s, "closing")
		case proto.Broken:
			f := new(proto.Fault)
			errors.As(ev.Err, &f)
			s = append(s, f.Kind)
		default:
			s = append(s, fmt.Sprintf("%+v", ev))
		}
	}
	return strings.Join(s, " ")
}

// Whole conversations: the peer says this in answer to three requests, as far as
// there is room for them, and closes.
var conversations = []struct {
	name   string
	method string // GET if empty
	speech string
	want   string
}{
	{"nothing at all", "", "", "closed"},
	{"one and no more", "", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 +2 closed"},
	{"all three", "", strings.Repeat("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 3),
		"200 +2 200 +2 200 +2 closing"},
	{"four", "", strings.Repeat("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 4),
		"200 +0 200 +0 200 +0 unasked"},
	{"no reason", "", "HTTP/1.1 404\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"404 +0 closing"},
	{"empty reason", "", "HTTP/1.1 599 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"599 +0 closing"},
	{"other minor", "", "HTTP/1.7 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"200 +0 closing"},
	{"bare LF", "", "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx", "200 +1 closing"},
	{"any case", "", "HTTP/1.1 200 OK\r\ncOnTeNt-LENGTH:1\r\nCONNECTION:CLOSE\r\n\r\nx",
		"200 +1 closing"},
	{"spaces", "", "HTTP/1.1 200 OK\r\nContent-Length : \t 1 \r\nConnection:\tclose \r\n\r\nx",
		"200 +1 closing"},
	{"close in a list", "", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: te, Close\r\n\r\n",
		"200 +0 closing"},
	{"close on another line", "",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\nConnection: x\r\n\r\n",
		"200 +0 closing"},
	{"talks on after the end", "",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\n",
		"200 +0 closing"},

	// Where the body ends.
	{"close-delimited", "", "HTTP/1.1 200 OK\r\n\r\nhello", "200 +5 closing"},
	{"close-delimited and empty", "", "HTTP/1.1 200 OK\r\n\r\n", "200 +0 closing"},
	{"HTTP/1.0", "", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 +2 closing"},
	{"HTTP/1.0 kept alive", "",
		"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nhi", "200 +2 closed"},
	{"HTTP/1.0 undecided", "",
		"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive, close\r\n\r\n",
		"200 +0 closing"},
	{"HTTP/1.0 chunked", "",
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"200 +0 closing"},
	{"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", "200 +0 closed"},
	{"HEAD chunked", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200 +0 closed"},
	{"HEAD of no length", "HEAD", "HTTP/1.1 200 OK\r\n\r\n", "200 +0 closed"},
	{"204", "", "HTTP/1.1 204 No Content\r\n\r\n", "204 +0 closed"},
	{"304", "", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "304 +0 closed"},
	{"205 may have one", "", "HTTP/1.1 205 Reset\r\nContent-Length: 1\r\n\r\nx", "205 +1 closed"},
	{"same lengths", "", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 01\r\n\r\nx",
		"200 +1 closed"},
	{"same in a list", "", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1,1\r\n\r\nx", "200 +1 closed"},
	{"two lengths", "", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
		"framing"},
	{"two in a list", "", "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nx", "framing"},
	{"no length", "", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "framing"},
	{"half a list", "", "HTTP/1.1 200 OK\r\nContent-Length: 1,\r\n\r\n", "framing"},
	{"signed", "", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", "framing"},
	{"negative", "", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "framing"},
	{"hex", "", "HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\nx", "framing"},
	{"beyond int64", "", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n", "framing"},
	{"body cut", "", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "200 truncated"},

	// Chunks.
	{"chunked", "", chunked + "5\r\nhello\r\nA;x=\"y\";z\r\n0123456789\r\n000\r\n\r\n",
		"200 +15 closed"},
	{"chunked, extension after space", "", chunked + "1 ; x\r\na\r\n0 \r\n\r\n", "200 +1 closed"},
	{"chunked, trailers", "", chunked + "1\r\na\r\n0\r\nA: b\r\nContent-Length: 9\r\n\r\n",
		"200 +1 closed"},
	{"chunked, bare LF", "", chunked + "1\na\n0\nA: b\n\n", "200 +1 closed"},
	{"chunked wins over length", "",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\ntransfer-encoding: CHUNKED\r\n\r\n0\r\n\r\n",
		"200 +0 closed"},
	{"chunked last", "",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "200 +0 closed"},
	{"chunked last, on its own line", "",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"200 +0 closed"},
	{"chunked not last", "", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\nhello",
		"200 +5 closing"},
	{"other coding", "",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhello", "200 +5 closing"},
	{"chunk without size", "", chunked + "\r\n", "200 framing"},
	{"chunk size, junk", "", chunked + "5 hello\r\nhello\r\n0\r\n\r\n", "200 framing"},
	{"chunk size, extension only", "", chunked + ";x\r\n", "200 framing"},
	{"chunk size, huge", "", chunked + "fffffffffffffffff\r\n", "200 framing"},
	{"chunk longer than told", "", chunked + "1\r\nab\r\n0\r\n\r\n", "200 framing"},
	{"chunk and a lone CR", "", chunked + "1\r\na\rb0\r\n\r\n", "200 framing"},
	{"chunk cut", "", chunked + "5\r\nhel", "200 truncated"},
	{"chunk's end cut", "", chunked + "1\r\na\r", "200 truncated"},
	{"chunk's size cut", "", chunked + "1", "200 truncated"},
	{"trailer cut", "", chunked + "0\r\nA: b\r\n", "200 truncated"},
	{"chunk line without end", "", chunked + "1;" + strings.Repeat("x", maxSize), "200 oversized"},
	{"trailers without end", "", chunked + "0\r\n" + strings.Repeat("A: b\r\n", maxTrailer/6+1),
		"200 oversized"},
	{"trailers too long by their end", "",
		chunked + "0\r\n" + strings.Repeat("A: bcd\r\n", maxTrailer/8) + "\r\n", "200 oversized"},

	// Interim responses.
	{"100", "", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"200 +0 closed"},
	{"103 twice", "", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 2) +
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "200 +1 closed"},
	{"100 says nothing of the next", "",
		"HTTP/1.1 100 Continue\r\nContent-Length: 3\r\nConnection: close\r\n\r\n" +
			"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "200 +1 closed"},
	{"100 and no more", "", "HTTP/1.1 100 Continue\r\n\r\n", "truncated"},
	{"100 for ever", "", strings.Repeat("HTTP/1.1 100 C\r\n\r\n", maxInterim+1), "oversized"},
	{"101", "", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "unasked"},

	// What is no response.
	{"ssh", "", "SSH-2.0-OpenSSH_9.2\r\n", "garbage"},
	{"one wrong byte", "", "h", "garbage"},
	{"binary", "", "\x00\x01\x02\x03", "garbage"},
	{"TLS alert", "", "\x15\x03\x01\x00\x02\x02\x46", "garbage"},
	{"HTTP/2 SETTINGS", "", "\x00\x00\x12\x04\x00\x00\x00\x00\x00", "garbage"},
	{"HTTP/2.0", "", "HTTP/2.0 200 OK\r\n\r\n", "garbage"},
	{"HTTP/0.9", "", "<html>hello</html>", "garbage"},
	{"empty line first", "", "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "garbage"},
	{"status of two digits", "", "HTTP/1.1 20 OK\r\n\r\n", "garbage"},
	{"status of four digits", "", "HTTP/1.1 2000 OK\r\n\r\n", "garbage"},
	{"status below 100", "", "HTTP/1.1 099 OK\r\n\r\n", "garbage"},
	{"status, letters", "", "HTTP/1.1 2x0 OK\r\n\r\n", "garbage"},
	{"status, two spaces", "", "HTTP/1.1  200 OK\r\n\r\n", "garbage"},
	{"version, letter", "", "HTTP/1.x 200 OK\r\n\r\n", "garbage"},
	{"header line without colon", "", "HTTP/1.1 200 OK\r\nhello\r\n\r\n", "garbage"},
	{"header line without name", "", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "garbage"},
	{"Content-Length without colon", "", "HTTP/1.1 200 OK\r\nContent-Length 5\r\n\r\n", "garbage"},
	{"folded", "", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "framing"},
	{"folded with a tab", "", "HTTP/1.1 200 OK\r\nA: b\r\n\tContent-Length: 5\r\n\r\n", "framing"},
	{"header cut", "", "HTTP/1.1 200 OK\r\nContent-Le", "truncated"},
	{"header cut before its end", "", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r", "truncated"},
	{"status line cut", "", "HTTP", "truncated"},
	{"long line", "", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", maxHead) + "\r\n\r\n",
		"oversized"},
	{"many lines", "", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHead/6) + "\r\n",
		"oversized"},
	{"long garbage", "", "SSH-" + strings.Repeat("x", maxHead) + "\r\n", "garbage"},
	{"long status line", "", "HTTP/1.1 nonsense" + strings.Repeat("x", maxHead) + "\r\n",
		"oversized"},
}

const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

func TestConversations(t *testing.T) {
	for _, tc := range conversations {
		t.Run(tc.name, func(t *testing.T) {
			r := get
			if tc.method != "" {
				r.Method = tc.method
			}
			for _, chunk := range []int{1, 2, 3, 7, 1000, 1 << 20} {
				c := newCodec(t, Options{Depth: 3}, r)
				for tag := range uint32(3) {
					c.Encode(nil, proto.Message{}, tag)
				}
				got, err := prototest.Events(c, []byte(tc.speech), chunk)
				if err != nil {
					t.Fatalf("in pieces of %d: %v", chunk, err)
				}
				if s := tell(got); s != tc.want {
					t.Fatalf("in pieces of %d: got %q, want %q: %+v", chunk, s, tc.want, got)
				}
				if c.Room() != 0 {
					t.Errorf("room on a connection that is over")
				}
			}
		})
	}
}

func head(status uint16) proto.Event {
	return proto.Event{What: proto.What{Kind: proto.Head, Status: status}}
}

func done(body int64) proto.Event {
	return proto.Event{What: proto.What{Kind: proto.Done}, Body: body}
}

var closing = proto.Event{What: proto.What{Kind: proto.Closing}}

func TestContract(t *testing.T) {
	head1 := proto.Request{Method: "HEAD", Authority: "x", Path: "/"}
	post := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 100_000)}
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		replies string
		ends    bool
		want    []proto.Event
	}{
		{"length", Options{}, get, small, false, []proto.Event{head(200), done(12)}},
		{"chunked", Options{}, get,
			chunked + "5;x=y\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\n", false,
			[]proto.Event{head(200), done(21)}},
		{"interim", Options{}, get,
			"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 404 No\r\nContent-Length:0\r\n\r\n",
			false, []proto.Event{{What: proto.What{Kind: proto.Interim}}, head(404), done(0)}},
		{"HEAD", Options{}, head1, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", false,
			[]proto.Event{head(200), done(0)}},
		{"upload", Options{}, post, "HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx", false,
			[]proto.Event{head(201), done(1)}},
		{"closes", Options{}, get, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", true,
			[]proto.Event{head(200), done(5), closing}},
		{"pipelined", Options{Depth: MaxDepth}, get, small, false,
			[]proto.Event{head(200), done(12)}},
		{"our last", Options{CloseAfter: 1}, get, small, true,
			[]proto.Event{head(200), done(12), closing}},
		{"HTTP/1.0", Options{Version10: true}, get, small, true,
			[]proto.Event{head(200), done(12), closing}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			prototest.Run(t, prototest.Transcript{
				Protocol: Protocol(tc.options), Requests: []proto.Request{tc.request},
				Replies: []byte(tc.replies), Ends: tc.ends, Want: tc.want,
			})
		})
	}
}

// What a sink is given does not depend on how the bytes were split, nor on what the last response was.
func TestSink(t *testing.T) {
	post := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 100_000)}
	head1 := proto.Request{Method: "HEAD", Authority: "x", Path: "/"}
	for name, tc := range map[string]struct {
		request proto.Request
		replies string
		ends    bool
		want    proto.Want
		given   string
	}{
		"fields": {get, small, false, proto.Want{Fields: []string{"server", "x-y", "x-z"}},
			"0 server: nginx/1.26;0 x-y: abcdefghijkl;"},
		"all fields": {get, "HTTP/1.1 200 OK\r\nA:b\r\nC :  d e \r\nSet-Cookie: x=1\nSet-Cookie:\r\n" +
			"Content-Length: 0\r\n\r\n", false, proto.Want{AllFields: true},
			"0 a: b;0 c: d e;0 set-cookie: x=1;0 set-cookie: ;0 content-length: 0;"},
		"the body": {get, small, false, proto.Want{Body: 100}, "0 hello, world;"},
		"of it 5":  {get, small, false, proto.Want{Body: 5}, "0 hello;"},
		"chunks, and a trailer": {get, chunked + "5;x=y\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\n" +
			"A: b\r\nnone\r\nC: d\r\n\r\n", false, proto.Want{Fields: []string{"a"}, Body: 7},
			"0 hello01;0 a: b (trailer);"},
		"interim": {get, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 404 No\r\n" +
			"Link: y\r\nContent-Length:1\r\n\r\nz", false, proto.Want{AllFields: true, Body: 1},
			"0 link: y;0 content-length: 1;0 z;"},
		"to the end": {get, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", true,
			proto.Want{Body: 4}, "0 hell;"},
		"HEAD": {head1, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", false,
			proto.Want{AllFields: true, Body: 9}, "0 content-length: 9;"},
		"upload": {post, "HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx", false,
			proto.Want{Body: 9}, "0 x;"},
	} {
		t.Run(name, func(t *testing.T) {
			var want []proto.Event // TestContract has the events
			prototest.Run(t, prototest.Transcript{Protocol: Protocol(Options{}),
				Requests: []proto.Request{tc.request}, Replies: []byte(tc.replies), Ends: tc.ends, Want: want,
				Wanted: tc.want, Given: tc.given})
		})
	}
}

// What a fault says is read by people: who was wrong, and by how much.
func TestFaults(t *testing.T) {
	for speech, want := range map[string]string{
		"": "connection closed before the response",
		"HTTP/1.1 200 OK\r\nConte": "connection closed inside the response header," +
			" after 22 bytes",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel": "connection closed after 3 of 5" +
			" bytes of body",
		chunked + "5\r\nhel": "connection closed inside a chunked body, after 3 bytes of it",
		"\x15\x03\x01\x00\x02\x02\x46": `not an HTTP/1.x response: it begins with` +
			` "\x15\x03\x01\x00\x02\x02F"; is this an https:// server?`,
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n": "Content-Length" +
			" is both 1 and 2",
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

// A header of a gigabyte is given up after a quarter of a megabyte, and nothing
// of it has to be kept.
func TestEndlessHeader(t *testing.T) {
	c := newCodec(t, Options{}, get)
	c.Encode(nil, proto.Message{}, 0)
	c.Decode([]byte("HTTP/1.1 200 OK\r\n"), false)
	line := []byte("X-Filler: abcdefghijklmnopqrstuvwxyz\r\n")
	for sent := 0; sent < 1<<30; sent += len(line) {
		n, ev := c.Decode(line, false)
		if ev.Kind == proto.Broken {
			if sent > maxHead+len(line) {
				t.Errorf("given up only after %d bytes", sent)
			}
			return
		}
		if n != len(line) {
			t.Fatalf("%d bytes of a whole line used", n)
		}
	}
	t.Error("not given up")
}

func FuzzDecode(f *testing.F) {
	for _, tc := range conversations {
		if len(tc.speech) < 1000 {
			f.Add([]byte(tc.speech), uint8(3), uint8(0))
			f.Add([]byte(tc.speech), uint8(1), uint8(3))
		}
	}
	f.Fuzz(func(t *testing.T, speech []byte, chunk, how uint8) {
		r := get
		if how&1 != 0 {
			r.Method = "HEAD"
		}
		o := Options{Depth: 1 + int(how>>4), Version10: how&2 != 0, CloseAfter: int(how >> 2 & 3)}
		var told [2]string
		for i, chunk := range []int{len(speech) + 1, int(chunk) + 1} {
			c := newCodec(t, o, r)
			for tag := uint32(0); c.Room() > 0; tag++ {
				c.Encode(nil, proto.Message{}, tag)
			}
			got, err := prototest.Events(c, speech, chunk)
			if err != nil {
				t.Fatal(err)
			}
			told[i] = tell(got)
		}
		if told[0] != told[1] {
			t.Errorf("whole: %q, split: %q", told[0], told[1])
		}
	})
}
