package fairness

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

// A reading is what the load's codec makes of bytes: the final status, its fields, its body's length,
// and how many bytes it took.
type reading struct {
	status int
	fields []proto.Field
	body   int64
	wire   int
	ok     bool
}

func (r *reading) Field(_ uint32, name, value []byte, trailer bool) {
	if !trailer {
		r.fields = append(r.fields, proto.Field{Name: string(name), Value: string(value)})
	}
}

func (r *reading) Body(uint32, []byte) {}

func loadReads(t *testing.T, in []byte, q proto.Request) (r reading) {
	mk, err := h1.Protocol(h1.Options{Defaults: []proto.Field{{Name: "User-Agent", Value: loadplan.UserAgent}}})([]proto.Request{q}, proto.Want{AllFields: true})
	if err != nil {
		t.Fatal(err)
	}
	c := mk(&r)
	c.Encode(nil, proto.Message{}, 0)
	for {
		k, ev := c.Decode(in[r.wire:], true)
		r.wire += k
		switch ev.Kind {
		case proto.Head:
			r.status = int(ev.Status)
		case proto.Done:
			r.body, r.ok = ev.Body, true
			return r
		case proto.Broken:
			return r
		case proto.More:
			t.Fatalf("the codec wants more than all of %q", in)
		}
	}
}

// A told line says these bytes, so many at once, and then closes.
type told struct {
	rest  []byte
	piece int
	sent  bool
}

func (l *told) send([]byte) { l.sent = true }
func (l *told) close()      {}

func (l *told) wait(context.Context, time.Time) (arrival, error) {
	switch n := min(l.piece, len(l.rest)); {
	case l.sent:
		l.sent = false
		return arrival{sent: true}, nil
	case n == 0:
		return arrival{err: io.EOF}, nil
	default:
		b := l.rest[:n]
		l.rest = l.rest[n:]
		return arrival{data: b}, nil
	}
}

// FuzzResponse: what the load accepts is what Ask accepts, however it is split, and both find the
// same response in it. What Ask keeps of the header is what came, to the byte, and says what the codec
// says of it.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		plain("Server: x", "Connection: close"), plain() + plain(), chunked("Hello World\n"),
		redirect("301 Moved Permanently", "http://localhost:1024"),
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200\n\nbody", "HTTP/1.1 204 No\r\nA:\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n 1 ; x=y\r\na\r\n0\r\nT: 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1, 01\r\n\r\na", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
		"HTTP/1.1 101 Switching\r\n\r\n", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\n\r\n\x1f\x8b\x08",
		"HTTP/1.1 200 OK\r\nA\r: \rb\r\n\r\n",
	} {
		f.Add([]byte(s), false, 1<<16)
		f.Add([]byte(s), true, 1)
	}
	f.Fuzz(func(t *testing.T, in []byte, bare bool, piece int) {
		if len(in) > 64<<10 {
			return
		}
		q := asking{URL: "http://a:1/", Timeout: time.Minute}
		if bare {
			q.Method = "HEAD"
		}
		a, err := newAsker(q.question())
		if err != nil {
			t.Fatal(err)
		}
		s := &session{asker: a, line: &told{rest: in, piece: max(piece, 1)}}
		s.codec = a.codecs.make(&s.got)
		r, err := s.exchange(t.Context(), &a.q, nil)
		load := loadReads(t, in, a.q.Request)
		left := len(in) - load.wire
		late := load.ok && left > 0 && piece < len(in) // what comes after the end, the next exchange finds
		if !late && (err == nil) != (load.ok && left == 0) {
			t.Fatalf("the load takes it: %v, and leaves %d bytes; Ask says %v", load.ok, left, err)
		}
		if err != nil {
			return
		}
		if r.status != load.status || int64(len(r.body)) != load.body || r.wire != int64(load.wire) {
			t.Fatalf("status %d, %d bytes of body, %d on the wire; the load reads %+v",
				r.status, len(r.body), r.wire, load)
		}
		if !bytes.Contains(in, r.head) || r.framing == "" || len(r.fields) != len(load.fields) {
			t.Fatalf("head %q, framing %q, %d fields, and the codec has %q", r.head, r.framing, len(r.fields), load.fields)
		}
		total := bytes.IndexByte(r.head, '\n') + 1
		for i, l := range r.fields {
			total += l.Bytes
			if name := string(proto.AppendLower(nil, []byte(l.Name))); load.fields[i].Value != l.Value ||
				strings.Trim(name, " \t") != load.fields[i].Name {
				t.Fatalf("field %+v, and the codec has %q", l, load.fields[i])
			}
		}
		if end := len(r.head) - total; end != 1 && end != 2 {
			t.Fatalf("%d bytes of lines in a head of %d", total, len(r.head))
		}
		tally := newTally(&Question{Request: proto.Request{Authority: "a:1"}})
		tally.addResponse(r)
		tally.addResponse(r)
		if a := tally.finishAnswer(); a.Varies != nil || Differences(a, a) != nil {
			t.Fatalf("a response is not like itself: %q, %+v", a.Varies, Differences(a, a))
		}
	})
}
