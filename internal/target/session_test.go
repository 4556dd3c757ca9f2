package target

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// The answers of the default configuration but for the date, which is fixed.
const (
	date = "Date: Sun, 15 Dec 2013 14:59:14 GMT"
	rest = "Content-Length: 12\r\nContent-Type: text/plain\r\nServer: dyno1\r\n" + date +
		"\r\n\r\n"
	keepHead = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n" + rest
	lastHead = "HTTP/1.1 200 OK\r\nConnection: close\r\n" + rest
	keep     = keepHead + "Hello World\n"
	last     = lastHead + "Hello World\n"
	interim  = "HTTP/1.1 100 Continue\r\n\r\n"
	get      = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	getLast  = "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	post     = "POST / HTTP/1.1\r\n"
)

func fixed() Config { return Config{Addr: "127.0.0.1:0", Body: 12, Header: []string{date}} }

// exchanges are what clients may send, and all that must come back before the
// connection ends. Every one of them ends it.
var exchanges = []struct{ name, send, want string }{
	{"close", getLast, last},
	{"keep alive", get + getLast, keep + last},
	{"pipelined", strings.Repeat(get, 50) + getLast, strings.Repeat(keep, 50) + last},
	{"head", "HEAD / HTTP/1.1\r\n\r\n" + getLast, keepHead + last},
	{"head close", "HEAD / HTTP/1.1\r\nconnection: Close\r\n\r\n", lastHead},
	{"any method", "BREW /pot HTTP/1.1\r\n\r\n" + getLast, keep + last},
	{"options", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n" + getLast, keep + last},
	{"blank line first", "\r\n\r\n" + getLast, last},
	{"1.0", "GET / HTTP/1.0\r\n\r\n", last},
	{"1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n" +
		"GET / HTTP/1.0\r\nConnection: foo, keep-alive\r\n\r\n" +
		"GET / HTTP/1.0\r\n\r\n", keep + keep + last},
	{"1.0 both", "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", last},
	{"close in a list", "GET / HTTP/1.1\r\nConnection: foo ,\tCLOSE\r\n\r\n", last},
	{"length", post + "Content-Length: 5\r\n\r\nGET /" + getLast, keep + last},
	{"length 0", post + "Content-Length: 0\r\n\r\n" + getLast, keep + last},
	{"length twice", post + "content-length: 3\r\nContent-Length:3 \r\n\r\nabc" + getLast,
		keep + last},
	{"chunked", post + "Transfer-Encoding: chunked\r\n\r\n" +
		"5\r\nhello\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\n\r\n" + getLast, keep + last},
	{"trailers", post + "transfer-encoding: Chunked\r\n\r\n" +
		"1\r\n\r\r\n0\r\nSum: 1\r\nMore: 2\r\n\r\n" + getLast, keep + last},
	{"expect", post + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nab" + getLast,
		interim + keep + last},
	{"expect chunked", post + "Expect: 100-Continue\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"1\r\na\r\n0\r\n\r\n" + getLast, interim + keep + last},
	{"expect nothing", "GET / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n" + getLast, keep + last},
	{"expect 1.0", "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na", last},
	{"similar headers", "GET / HTTP/1.1\r\nContent-Lengthy: x\r\nTE: trailers\r\nExpected: 1\r\n" +
		"Connect: close\r\n\r\n" + getLast, keep + last},

	{"no method", " / HTTP/1.1\r\n\r\n", refused(400)},
	{"no target", "GET HTTP/1.1\r\n\r\n", refused(400)},
	{"two targets", "GET / / HTTP/1.1\r\n\r\n", refused(400)},
	{"no version", "GET /\r\n\r\n", refused(400)},
	{"long version", "GET / HTTP/1.11\r\n\r\n", refused(400)},
	{"lower version", "GET / http/1.1\r\n\r\n", refused(400)},
	{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", refused(505)},
	{"line feed only", "GET / HTTP/1.1\n\n", refused(400)},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", refused(400)},
	{"header without colon", "GET / HTTP/1.1\r\nHost\r\n\r\n", refused(400)},
	{"space before colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", refused(400)},
	{"folded header", "GET / HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n", refused(400)},
	{"nameless header", "GET / HTTP/1.1\r\n: x\r\n\r\n", refused(400)},
	{"length not a number", post + "Content-Length: +5\r\n\r\n", refused(400)},
	{"no length", post + "Content-Length: \r\n\r\n", refused(400)},
	{"absurd length", post + "Content-Length: 1000000000000000000\r\n\r\n", refused(400)},
	{"two lengths", post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", refused(400)},
	{"length and chunked", post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		refused(400)},
	{"1.0 chunked", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", refused(400)},
	{"chunked twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		refused(400)},
	{"other coding", post + "Transfer-Encoding: gzip, chunked\r\n\r\n", refused(501)},
	{"other expectation", post + "Expect: gold\r\n\r\n", refused(417)},
	{"chunk size", post + "Transfer-Encoding: chunked\r\n\r\nx\r\n", refused(400)},
	{"no chunk size", post + "Transfer-Encoding: chunked\r\n\r\n;a\r\n", refused(400)},
	{"absurd chunk size", post + "Transfer-Encoding: chunked\r\n\r\n1000000000000000\r\n",
		refused(400)},
	{"long chunk line", post + "Transfer-Encoding: chunked\r\n\r\n1;" +
		strings.Repeat("a", chunkLineMax) + "\r\n", refused(400)},
	{"chunk overrun", post + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", refused(400)},
	{"bad trailer", post + "Transfer-Encoding: chunked\r\n\r\n0\r\nabc\r\n", refused(400)},
	{"answers before a refusal", get + "x\r\n", keep + refused(400)},
}

func refused(status int) string { return string(appendRefusal(nil, status)) }

// A pipe drives a session as an engine does, but for sockets and time.
type pipe struct {
	session
	in, out []byte
}

func newPipe(c Config) *pipe {
	s := newSite(c)
	p := &pipe{}
	p.beginConn(&worker{site: s, count: &s.counts[0], answer: s.answer})
	return p
}

func (p *pipe) write(data string) {
	p.in = append(p.in, data...)
	for !p.closing {
		n, out, need := p.answerRequests(1, p.in, p.out)
		p.in = p.in[n:]
		body := p.worker.answer.body
		p.out = append(out, body[len(body)-p.body:]...)
		p.body = 0
		if need == input {
			return
		}
	}
}

func TestExchangesHoweverSplit(t *testing.T) {
	for _, e := range exchanges {
		t.Run(e.name, func(t *testing.T) {
			for i := range len(e.send) {
				p := newPipe(fixed())
				p.write(e.send[:i])
				p.write(e.send[i:])
				if got := string(p.out); got != e.want {
					t.Fatalf("split at %d:\n%q\nwant\n%q", i, got, e.want)
				}
			}
			p := newPipe(fixed())
			for i := range len(e.send) {
				p.write(e.send[i : i+1])
			}
			if got := string(p.out); got != e.want || !p.closing {
				t.Errorf("byte by byte:\n%q\nwant\n%q", got, e.want)
			}
		})
	}
}

func TestNothingAfterTheLast(t *testing.T) {
	p := newPipe(fixed())
	p.write(getLast + get)
	p.write(get)
	if got := string(p.out); got != last || p.worker.site.readCounts().Requests != 1 {
		t.Errorf("%q", got)
	}
}

func TestHeaderLimit(t *testing.T) {
	head := func(size int) string {
		const before, after = "GET / HTTP/1.1\r\nA: ", "\r\n\r\n"
		return before + strings.Repeat("a", size-len(before)-len(after)) + after
	}
	long := strings.Repeat("a", sectionMax+1)
	chunked := post + "Transfer-Encoding: chunked\r\n\r\n0\r\n"
	for _, e := range []struct{ name, send, want string }{
		{"at the limit", head(sectionMax), keep},
		{"above", head(sectionMax + 1), refused(431)},
		{"without end", "GET / HTTP/1.1\r\nA: " + long, refused(431)},
		{"request line", "GET /" + long, refused(431)},
		{"many lines", "GET / HTTP/1.1\r\n" + strings.Repeat("a:\r\n", sectionMax/4),
			refused(431)},
		{"trailers", chunked + strings.Repeat("a:\r\n", sectionMax/4+1), refused(431)},
		{"a new one each time", head(sectionMax) + head(sectionMax), keep + keep},
	} {
		p := newPipe(fixed())
		for data := e.send; len(data) > 0; {
			k := min(len(data), 1000)
			p.write(data[:k])
			data = data[k:]
		}
		if got := string(p.out); got != e.want {
			t.Errorf("%s: %q, want %q", e.name, got, e.want)
		}
	}
}

func TestHeadIsOfPublishedSize(t *testing.T) {
	p := newPipe(Config{Addr: ":0", Body: 12})
	p.write(get)
	head, body, _ := bytes.Cut(p.out, []byte("\r\n\r\n"))
	if n := len(head) + 4; n != 141 {
		t.Errorf("the head has %d bytes, want 141:\n%s", n, head)
	}
	if string(body) != "Hello World\n" {
		t.Errorf("body %q", body)
	}
}

func TestAnswers(t *testing.T) {
	for _, e := range []struct {
		name string
		c    Config
		want string
	}{
		{"status", Config{Status: 404, Body: 3}, "HTTP/1.1 404 Not Found\r\n" +
			"Connection: keep-alive\r\nContent-Length: 3\r\nContent-Type: text/plain\r\n" +
			"Server: dyno1\r\n" + date + "\r\n\r\nHel"},
		{"no text", Config{Status: 599}, "HTTP/1.1 599 \r\n" +
			"Connection: keep-alive\r\nContent-Length: 0\r\nContent-Type: text/plain\r\n" +
			"Server: dyno1\r\n" + date + "\r\n\r\n"},
		{"bodiless", Config{Status: 204, Body: 12}, "HTTP/1.1 204 No Content\r\n" +
			"Connection: keep-alive\r\nServer: dyno1\r\n" + date + "\r\n\r\n"},
		{"headers", Config{Header: []string{"server: mine", "X-A: 1", "X-A: 2"}},
			"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n" +
				"Content-Type: text/plain\r\nserver: mine\r\nX-A: 1\r\nX-A: 2\r\n" +
				date + "\r\n\r\n"},
		{"filler", Config{Body: 25}, "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n" +
			"Content-Length: 25\r\nContent-Type: text/plain\r\nServer: dyno1\r\n" +
			date + "\r\n\r\nHello World\nHello World\nH"},
	} {
		e.c.Header = append(e.c.Header, date)
		p := newPipe(e.c)
		p.write(get)
		if got := string(p.out); got != e.want {
			t.Errorf("%s:\n%q\nwant\n%q", e.name, got, e.want)
		}
	}
}

func TestCounts(t *testing.T) {
	const ask = "GET /.dyno/served HTTP/1.1\r\n\r\n"
	told := func(counts string) string {
		return string(appendPlain(nil, 200, "application/json", []byte(counts), false, false))
	}
	p := newPipe(fixed())
	p.write(get + post + "Content-Length: 3\r\n\r\nabc" + ask)
	want := keep + keep + told(`{"served":2,"connections":1,"refused":0,`+
		`"bytes_received":68,"bytes_sent":306}`+"\n")
	if got := string(p.out); got != want {
		t.Errorf("counts after two requests:\n%q\nwant\n%q", got, want)
	}
	observer := newPipe(fixed())
	observer.worker = p.worker
	p.worker.count.connections.Add(1)
	observer.write(ask + "HEAD /.dyno/served HTTP/1.1\r\n\r\n" + ask)
	if c := p.worker.site.readCounts(); c.Connections != 1 || c.Requests != 2 {
		t.Errorf("asking for the counts was counted: %+v", c)
	}
	p.write("POST /.dyno/served HTTP/1.1\r\n\r\nbad\r\n")
	if c := p.worker.site.readCounts(); c.Requests != 3 || c.Refused != 1 {
		t.Errorf("POST is a request like any, and what follows is none: %+v", c)
	}
}

func TestRequestsAllocateNothing(t *testing.T) {
	p := newPipe(fixed())
	in := []byte(get + post + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
	out := make([]byte, 0, 1024)
	n := testing.AllocsPerRun(100, func() { p.answerRequests(1, in, out) })
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestKnownRequest has requests that are the one before, that only begin so, and
// that are one from before another.
func TestKnownRequest(t *testing.T) {
	const path = "GET /path HTTP/1.1\r\nHost: x\r\n\r\n"
	const upload = post + "Content-Length: 3\r\n\r\nabc"
	r := reader{keepPath: true, last: &known{}}
	for i, test := range []struct {
		in    string
		path  string
		bare  bool
		known bool // it need not be parsed
	}{
		{path, "/path", false, false},
		{path, "/path", false, true},
		{path + path, "/path", false, true},
		{"HEAD /path HTTP/1.1\r\n\r\n", "/path", true, false},
		{"HEAD /path HTTP/1.1\r\n\r\n" + path, "/path", true, true},
		{path, "/path", false, false},
		{path[:len(path)-2] + "A: b\r\n\r\n", "/path", false, false},
		{upload, "/", false, false},
		{upload, "/", false, true},
		{upload[:len(upload)-1] + "d" + path, "/", false, false},
		{"\r\n" + path, "/path", false, false},
		{path, "/path", false, true},
		{"GET /" + strings.Repeat("a", knownMax) + " HTTP/1.1\r\n\r\n",
			"/" + strings.Repeat("a", knownMax), false, false},
		{path, "/path", false, true}, // too long to be remembered
	} {
		known := r.last.isPrefixOf([]byte(test.in))
		_, ev := r.nextEvent([]byte(test.in))
		if ev != whole || string(r.path) != test.path || r.req.bare != test.bare ||
			known != test.known {
			t.Errorf("%d: %q: event %d, path %q, bare %v, known %v",
				i, test.in, ev, r.path, r.req.bare, known)
		}
		if n, ev := r.nextEvent(nil); n != 0 || ev != more {
			t.Errorf("%d: of nothing %d bytes are used, event %d", i, n, ev)
		}
	}
}

// FuzzReader checks that what a request means does not depend on how it is split,
// nor on what was asked before.
func FuzzReader(f *testing.F) {
	for _, e := range exchanges {
		f.Add([]byte(e.send), len(e.send)/2)
		f.Add([]byte(strings.ReplaceAll(e.send, get, get+get+get)), len(get))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		at = max(0, min(at, len(data)))
		together := events(t, data)
		split := events(t, data[:at], data[at:])
		if !bytes.Equal(together, split) {
			t.Errorf("events %v; split at %d, %v", together, at, split)
		}
	})
}

// events is what a reader says to pieces of input, a line for each.
func events(t *testing.T, pieces ...[]byte) (evs []byte) {
	r := reader{keepPath: true, last: &known{}}
	var in []byte
	for _, piece := range pieces {
		in = append(in, piece...)
		for {
			n, ev := r.nextEvent(in)
			if n < 0 || n > len(in) {
				t.Fatalf("used %d of %d bytes", n, len(in))
			}
			in = in[n:]
			if ev == more {
				if len(in) > sectionMax {
					t.Fatalf("%d bytes are kept", len(in))
				}
				break
			}
			if ev >= 400 {
				return fmt.Append(evs, ev)
			}
			evs = fmt.Appendf(evs, "%d %d %v %s\n", ev, r.size, r.req, r.path)
		}
	}
	return evs
}
