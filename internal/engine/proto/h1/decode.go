package h1

import (
	"bytes"
	"fmt"

	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

type state uint8

const (
	inHead   state = iota
	inBody         // left bytes of body to come
	inChunks       // the body is chunked
	toEOF          // the body ends where the connection does
	ending         // the connection's last response has arrived; Closing follows
	over           // no more events
)

func (c *codec) Decode(in []byte, eof bool) (int, proto.Event) {
	switch c.state {
	case inHead:
		return c.decodeHead(in, eof)
	case inBody:
		n := int(min(int64(len(in)), c.left))
		if c.sink != nil {
			c.giveBody(c.got-c.left, in[:n])
		}
		if c.left -= int64(n); c.left == 0 {
			return n, c.doneEvent()
		}
		return n, c.needMore(eof)
	case inChunks:
		return c.decodeChunks(in, eof)
	case toEOF:
		if c.sink != nil {
			c.giveBody(c.got, in)
		}
		if c.got += int64(len(in)); eof {
			return len(in), c.doneEvent()
		}
		return len(in), proto.Event{}
	case ending:
		c.state = over
		return 0, proto.Event{What: proto.What{Kind: proto.Closing}}
	}
	return len(in), proto.Event{} // bytes after the last response are ignored
}

// decodeHead reads lines until a final response's header is complete.
func (c *codec) decodeHead(b []byte, eof bool) (n int, ev proto.Event) {
	if c.first == c.next {
		return c.decodeIdle(b, eof)
	}
	fresh := c.answer.status == 0 && c.size == 0 && c.seen == 0
	if k := &c.run.known; fresh && len(k.head) > 0 && bytes.HasPrefix(b, k.head) {
		c.answer = k.answer
		c.giveKnownFields(k.head)
		return len(k.head), c.finishHead()
	}
	for {
		line, k := c.nextLine(b[n:])
		if k == 0 || c.size > maxHead {
			return n, c.incompleteHead(b[n:], eof)
		}
		n += k
		switch {
		case c.answer.status == 0:
			if f := c.answer.parseStatusLine(line); f != nil {
				return n, c.foreignEvent(f, line)
			}
		case len(line) > 0:
			if f := c.answer.parseField(line); f != nil {
				return n, c.brokenEvent(f)
			}
			if c.sink != nil && c.answer.status >= 200 {
				c.giveField(line, false)
			}
		default:
			if fresh && c.size == n && n <= knownMax && c.answer.status >= 200 && c.interim == 0 {
				c.run.known = known{append(c.run.known.head[:0], b[:n]...), c.answer}
			}
			return n, c.finishHead()
		}
	}
}

// nextLine returns the line at the front of b, which is n bytes long with its end, and adds n to
// size. If b has no complete line, n is 0.
func (c *codec) nextLine(b []byte) (line []byte, n int) {
	if c.seen > len(b) { // only at the end of the input
		c.seen = 0
	}
	i := bytes.IndexByte(b[c.seen:], '\n')
	if i < 0 {
		c.seen = len(b)
		return nil, 0
	}
	i += c.seen
	c.seen = 0
	c.size += i + 1
	if i > 0 && b[i-1] == '\r' {
		return b[:i-1], i + 1
	}
	return b[:i], i + 1
}

// incompleteHead judges a head whose last line in b is incomplete or above the limits. It
// recognises garbage by the first bytes, because garbage may never contain a line end.
func (c *codec) incompleteHead(b []byte, eof bool) proto.Event {
	if c.answer.status == 0 && len(b) > 0 {
		if f := foreignProtocol(b); f != nil {
			return c.foreignEvent(f, b)
		}
	}
	total := c.size + len(b)
	switch {
	case total > maxHead:
		return c.brokenEvent(newFault(proto.FaultOversized,
			"the response header is longer than %d KiB", maxHead>>10))
	case !eof:
		return proto.Event{}
	case total == 0:
		return c.brokenEvent(faultClosed)
	}
	return c.brokenEvent(newFault(proto.FaultTruncated,
		"connection closed inside the response header, after %d bytes", total))
}

// decodeIdle decodes bytes when no request waits for a response.
func (c *codec) decodeIdle(b []byte, eof bool) (int, proto.Event) {
	switch {
	case len(b) > 0 && c.bodiless != 0 && foreignProtocol(b) != nil:
		return 0, c.brokenEvent(proto.ForbiddenBody(c.bodiless, b))
	case len(b) > 0:
		return 0, c.brokenEvent(newFault(proto.FaultUnasked,
			"the server sent %q… and no request was waiting for it", b[:min(len(b), 40)]))
	case eof:
		c.state, c.full = over, true
		return 0, proto.Event{What: proto.What{Kind: proto.Closing}}
	}
	return 0, proto.Event{}
}

// foreignEvent is the event of bytes that begin no response. Behind a response that can have no
// body they are its body: that response is at fault, and not the next one.
func (c *codec) foreignEvent(f *proto.Fault, b []byte) proto.Event {
	if c.bodiless != 0 && c.interim == 0 {
		f = proto.ForbiddenBody(c.bodiless, b)
	}
	return c.brokenEvent(f)
}

// finishHead decides what follows a header: another one, if it is informational.
func (c *codec) finishHead() proto.Event {
	a, x := c.answer, *c.requestSlot(c.first)
	c.answer.status = 0
	if a.status < 200 {
		return c.interimEvent(a.status)
	}
	c.interim, c.size = 0, 0
	ends := x.ends || a.close || (a.old || c.run.Version10) && !a.keep
	switch {
	case x.bare || a.status == 204 || a.status == 304:
		c.state, c.left, c.got, c.bodiless = inBody, 0, 0, a.status
	case a.chunked:
		c.state, c.part, c.got, c.bodiless = inChunks, inSize, 0, 0
		ends = ends || a.old // such a server may not have meant it
	case a.coded || a.length < 0:
		c.state, c.got = toEOF, 0
		ends = true
	default:
		c.state, c.left, c.got, c.bodiless = inBody, a.length, a.length, 0
	}
	if ends {
		c.endResponse()
	}
	return proto.Event{What: proto.What{Kind: proto.Head, Tag: x.tag, Status: a.status}}
}

func (c *codec) interimEvent(status uint16) proto.Event {
	if c.interim++; c.interim > maxInterim {
		return c.brokenEvent(newFault(proto.FaultOversized,
			"more than %d interim (1xx) responses to one request", maxInterim))
	}
	if status == 101 {
		return c.brokenEvent(newFault(proto.FaultUnasked,
			"the server switched to another protocol (101), which dyno does not follow"))
	}
	return proto.Event{What: proto.What{Kind: proto.Interim}}
}

// endResponse stops sending, because the current response is the connection's last. It notes this
// in the exchange, for the end of the response.
func (c *codec) endResponse() {
	c.full, c.rest = true, nil
	c.requestSlot(c.first).ends = true
}

func (c *codec) doneEvent() proto.Event {
	x := *c.requestSlot(c.first)
	c.first++
	if c.state = inHead; x.ends {
		c.state = ending
	}
	return proto.Event{What: proto.What{Kind: proto.Done, Tag: x.tag}, Body: c.got}
}

// needMore is the event when the bytes end inside a body.
func (c *codec) needMore(eof bool) proto.Event {
	if !eof {
		return proto.Event{}
	}
	if c.state == inChunks {
		return c.brokenEvent(newFault(proto.FaultTruncated,
			"connection closed inside a chunked body, after %d bytes of it", c.got-c.left))
	}
	return c.brokenEvent(newFault(proto.FaultTruncated,
		"connection closed after %d of %d bytes of body", c.got-c.left, c.got))
}

func (c *codec) brokenEvent(f *proto.Fault) proto.Event {
	c.state, c.full, c.rest = over, true, nil
	return proto.Event{What: proto.What{Kind: proto.Broken}, Err: f}
}

// faultClosed is constant because it occurs often: servers close idle connections.
var faultClosed = &proto.Fault{Kind: proto.FaultClosed,
	Detail: "connection closed before the response"}

func newFault(kind, format string, a ...any) *proto.Fault {
	return &proto.Fault{Kind: kind, Detail: fmt.Sprintf(format, a...)}
}

// Progress is that of the oldest exchange in flight. Nothing has come of those behind it.
func (c *codec) Progress(tag uint32) (p proto.Progress) {
	if c.first == c.next || c.requestSlot(c.first).tag != tag {
		return p
	}
	switch c.state {
	case inHead:
		p.Header = int64(c.size + c.seen)
	case inBody:
		p = proto.Progress{Body: c.got - c.left, Length: c.got, End: fact.ByLength}
	case inChunks:
		p = proto.Progress{Body: c.got - c.left, Length: -1, End: fact.ByChunk}
	case toEOF:
		p = proto.Progress{Body: c.got, Length: -1, End: fact.ByClose}
	}
	return p
}
