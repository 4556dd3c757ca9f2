package fcgi

import (
	"encoding/binary"
	"fmt"

	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

func (c *codec) Decode(in []byte, eof bool) (n int, ev proto.Event) {
	for !c.over {
		if c.full && !c.busy {
			c.over, c.rest = true, nil
			return n, proto.Event{What: proto.What{Kind: proto.Closing}}
		}
		var k int
		if c.left > 0 {
			k, ev = c.decodeContent(in[n:])
		} else if c.pad > 0 {
			k = min(c.pad, len(in)-n)
			c.pad -= k
		} else {
			k, ev = c.decodeRecord(in[n:])
		}
		n += k
		switch {
		case ev.Kind != proto.More:
			return n, ev
		case k == 0 && eof:
			return n, c.endOfInput(len(in) - n)
		case k == 0:
			return n, ev
		}
	}
	return len(in), proto.Event{} // bytes after the last response are ignored
}

// decodeRecord reads the header of the next record.
func (c *codec) decodeRecord(b []byte) (int, proto.Event) {
	if len(b) > 0 && b[0] != version {
		return 0, c.brokenEvent(foreignProtocol(b))
	}
	if len(b) < header {
		return 0, proto.Event{}
	}
	id := binary.BigEndian.Uint16(b[2:])
	c.kind, c.left, c.pad = b[1], int(binary.BigEndian.Uint16(b[4:])), int(b[6])
	switch {
	case id == management: // an answer to a query that we never send: every type may be skipped
		c.kind = maxKnown + 1
		return header, proto.Event{}
	case id != requestID:
		return 0, c.brokenEvent(newFault(proto.FaultUnasked,
			"the application sent a record of request %d; only request %d was begun", id, requestID))
	case !c.busy:
		return 0, c.brokenEvent(newFault(proto.FaultUnasked,
			"the application sent a record (type %d) and no request was waiting for it", c.kind))
	case c.kind == endRequest && c.left != endSize:
		return 0, c.brokenEvent(newFault(proto.FaultFraming,
			"FCGI_END_REQUEST has %d bytes, not %d", c.left, endSize))
	case c.kind != stdout && c.kind != stderr && c.kind != endRequest && c.kind <= maxKnown:
		return 0, c.brokenEvent(newFault(proto.FaultGarbage,
			"the application sent a record of type %d, which only servers send", c.kind))
	}
	c.answer.touched = true
	return header, proto.Event{}
}

// foreignProtocol is the fault of a peer that does not speak FastCGI version 1.
func foreignProtocol(b []byte) *proto.Fault {
	hint := ""
	if b[0] == 'H' {
		hint = "; is this an http:// server?"
	}
	return newFault(proto.FaultGarbage,
		"not a FastCGI record: it begins with %q%s", b[:min(len(b), 40)], hint)
}

// decodeContent decodes the available part of a record's content.
func (c *codec) decodeContent(b []byte) (int, proto.Event) {
	n := min(len(b), c.left)
	switch c.kind {
	case stdout:
		var ev proto.Event
		if n, ev = c.decodeOutput(b[:n]); ev.Kind != proto.More {
			c.left -= n
			return n, ev
		}
	case stderr:
		r := c.run
		r.complaints += int64(n)
		if r.stderr == nil {
			r.stderr = make([]byte, 0, maxStderr)
		}
		r.stderr = append(r.stderr, b[:min(n, maxStderr-len(r.stderr))]...)
	case endRequest:
		if n < endSize {
			return 0, proto.Event{}
		}
		c.left = 0
		return n, c.endRequest(b[4]) // the application's own exit status comes first
	}
	c.left -= n
	return n, proto.Event{}
}

// decodeOutput decodes bytes of the response: first its header, then its body.
func (c *codec) decodeOutput(b []byte) (int, proto.Event) {
	a := &c.answer
	if a.whole {
		if c.sink != nil {
			c.giveBody(b)
		}
		a.body += int64(len(b))
		return len(b), proto.Event{}
	}
	n := c.readHead(b)
	switch {
	case a.size > maxHead:
		return n, c.brokenEvent(newFault(proto.FaultOversized,
			"the response header is longer than %d KiB", maxHead>>10))
	case a.whole && a.fault == nil:
		what := proto.What{Kind: proto.Head, Tag: c.tag, Status: a.statusCode()}
		return n, proto.Event{What: what}
	}
	return n, proto.Event{}
}

// How an application reports the end of a request.
const (
	complete = iota
	cannotMultiplex
	overloaded
	unknownRole
)

// endRequest is the event of a request's end.
func (c *codec) endRequest(status byte) proto.Event {
	var f *proto.Fault
	switch status {
	case complete:
		f = c.answer.headFault(c.bare)
	case cannotMultiplex:
		f = faultMultiplexed
	case overloaded:
		f = faultOverloaded
	case unknownRole:
		f = faultRole
	default:
		return c.brokenEvent(newFault(proto.FaultGarbage,
			"FCGI_END_REQUEST has protocol status %d, which does not exist", status))
	}
	c.busy = false
	if f == nil {
		what := proto.What{Kind: proto.Done, Tag: c.tag}
		return proto.Event{What: what, Body: c.answer.body}
	}
	return proto.Event{What: proto.What{Kind: proto.Failed, Tag: c.tag}, Err: f}
}

// Progress is that of the exchange in flight.
func (c *codec) Progress(uint32) proto.Progress {
	a := &c.answer
	if !a.whole {
		return proto.Progress{Header: int64(a.size)}
	}
	return proto.Progress{Body: a.body, Length: a.length, End: fact.ByStream}
}

// endOfInput is the event after the application closed the connection, with that many unread bytes,
// or between records.
func (c *codec) endOfInput(unread int) proto.Event {
	switch {
	case !c.busy:
		c.over, c.full = true, true
		return proto.Event{What: proto.What{Kind: proto.Closing}}
	case unread == 0 && !c.answer.touched:
		return c.brokenEvent(faultClosed)
	case c.answer.whole:
		return c.brokenEvent(newFault(proto.FaultTruncated,
			"connection closed without FCGI_END_REQUEST, after %d bytes of body", c.answer.body))
	}
	return c.brokenEvent(newFault(proto.FaultTruncated,
		"connection closed inside the response header, after %d bytes", c.answer.size))
}

func (c *codec) brokenEvent(f *proto.Fault) proto.Event {
	c.over, c.full, c.rest = true, true, nil
	return proto.Event{What: proto.What{Kind: proto.Broken}, Err: f}
}

// Faults that are constant because they occur often, or by the thousand under load.
var (
	faultClosed = &proto.Fault{Kind: proto.FaultClosed,
		Detail: "connection closed before the response"}
	faultOverloaded = &proto.Fault{Kind: proto.FaultOverloaded,
		Detail: "the application is out of some resource (FCGI_OVERLOADED): it needs more " +
			"workers, or less load"}
	faultMultiplexed = &proto.Fault{Kind: proto.FaultMultiplexed,
		Detail: "the application takes one request at a time (FCGI_CANT_MPX_CONN) and was sent one"}
	faultRole = &proto.Fault{Kind: proto.FaultRole,
		Detail: "the application is no FastCGI responder (FCGI_UNKNOWN_ROLE)"}
)

func newFault(kind, format string, a ...any) *proto.Fault {
	return &proto.Fault{Kind: kind, Detail: fmt.Sprintf(format, a...)}
}
