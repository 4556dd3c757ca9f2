package fairness

import (
	"bufio"
	"bytes"
	"regexp"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

// loadReads is what the load's codec makes of in: the final status, its body's
// length, and the bytes it took.
func loadReads(t *testing.T, in []byte, r proto.Request) (status int, body int64, n int, ok bool) {
	mk, err := h1.Protocol(h1.Options{})([]proto.Request{r}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	c := mk(nil)
	c.Encode(nil, proto.Message{}, 0)
	for {
		k, ev := c.Decode(in[n:], true)
		n += k
		switch ev.Kind {
		case proto.Head:
			status = int(ev.Status)
		case proto.Done:
			return status, ev.Body, n, true
		case proto.Broken:
			return 0, 0, n, false
		case proto.More:
			t.Fatalf("the codec wants more than all of %q", in)
		}
	}
}

// A bare CR is no end of a line. Nobody sends one, and the two readers do not
// agree about it within a name.
var bareCR = regexp.MustCompile(`\r[^\n]|\r$`)

// FuzzResponse: what the load accepts is what Ask accepts, and both find the
// same response in it; and no byte is lost.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		plain("Server: x", "Connection: close"), plain() + plain(), chunked("Hello World\n"),
		redirect("301 Moved Permanently", "http://localhost:1024"),
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200\n\nbody", "HTTP/1.1 204 No\r\nA:\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n 1 ; x=y\r\na\r\n0\r\nT: 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1, 01\r\n\r\na", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
		"HTTP/1.1 101 Switching\r\n\r\n", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\n\r\n\x1f\x8b\x08",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, in []byte, bare bool) {
		if len(in) > 64<<10 || bareCR.Match(in) {
			return
		}
		p := parser{r: bufio.NewReader(bytes.NewReader(in)), bare: bare}
		r, err := p.readResponse()
		q := proto.Request{Method: "GET", Authority: "a", Path: "/"}
		if bare {
			q.Method = "HEAD"
		}
		status, body, n, ok := loadReads(t, in, q)
		if ok != (err == nil) {
			t.Fatalf("the load takes it: %v, Ask says %v", ok, err)
		}
		if err != nil {
			return
		}
		if r.status != status || int64(len(r.body)) != body || r.wire != int64(n) {
			t.Fatalf("status %d, %d bytes of body, %d on the wire; the load reads %d, %d, %d",
				r.status, len(r.body), r.wire, status, body, n)
		}
		if !r.closes && int64(p.r.Buffered()) != int64(len(in)-n) {
			t.Fatalf("%d bytes are left of %d", p.r.Buffered(), len(in)-n)
		}
		if !bytes.Contains(in, r.head) || r.framing == "" {
			t.Fatalf("head %q, framing %q", r.head, r.framing)
		}
		total := 0
		for _, l := range r.fields {
			total += l.Bytes
		}
		if total >= len(r.head) {
			t.Fatalf("%d bytes of fields in a head of %d", total, len(r.head))
		}
		tally := newTally(&Question{Request: proto.Request{Authority: "a:1"}})
		tally.addResponse(r)
		tally.addResponse(r)
		if a := tally.finishAnswer(); a.Varies != nil || Differences(a, a) != nil {
			t.Fatalf("a response is not like itself: %q, %+v", a.Varies, Differences(a, a))
		}
	})
}
