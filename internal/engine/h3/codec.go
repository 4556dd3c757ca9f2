package h3

import (
	"dyno/internal/engine/proto"
	ptls "dyno/internal/engine/proto/tls"
)

// Protocol is the codec's half of HTTP/3: of connections that a Ring of the same options,
// requests and wants makes. It fails on options out of range and on requests that fields.Check
// refuses, and says which. The requests' bodies are not copied and must not change.
func Protocol(o Options) proto.Protocol {
	return func(reqs []proto.Request, want proto.Want) (func(proto.Sink) proto.Codec, error) {
		if err := o.checkOptions(); err != nil {
			return nil, err
		}
		r := &run{encoder: o.newEncoder()}
		var err error
		if r.messages, err = encodeRequests(&r.encoder, reqs); err != nil {
			return nil, err
		}
		streams, settled := max(o.Streams, 1), map[uint64]int64{}
		return func(sink proto.Sink) proto.Codec {
			return &codec{run: r, sink: sink, slots: make([]slot, streams),
				closeAfter: o.CloseAfter, settled: settled,
				taken: everything}
		}, nil
	}
}

// A codec is one connection, as its worker knows it.
type codec struct {
	run        *run
	sink       proto.Sink // nil: nothing is wanted
	closeAfter int
	settled    map[uint64]int64 // handshakes by the N of shaken, of all codecs of a maker

	shaken bool
	full   bool   // no new requests
	over   bool   // no event is left
	begun  uint32 // exchanges, of this connection
	open   int    // of them, under way
	slots  []slot // by tag: as many as there can be exchanges under way
	owed   []byte // records for the ring that Flush appends

	taken uint64       // the last exchange that the ring has taken, if it takes no more
	lost  *proto.Fault // of the connection: what all that is under way fails for
	fate  fate         // of which slots are being looked for
	swept int          // and how many have been looked at
}

// A fate is what the end of a connection means for an exchange.
type fate uint8

const (
	untaken fate = iota // it is refused
	doomed              // it fails for what the connection is lost for
	cutOff              // its response is truncated
)

// A slot is what the exchange of a tag is.
type slot struct {
	id     uint64
	live   bool
	headed bool // its response has begun
}

func (c *codec) Room() int {
	if c.full || !c.shaken {
		return 0
	}
	return len(c.slots) - c.open
}

func (c *codec) Encode(out []byte, m proto.Message, tag uint32) []byte {
	c.begun++
	c.full = c.full || int(c.begun) == c.closeAfter || c.begun == everything
	id := uint64(c.begun)<<32 | uint64(tag)
	c.slots[tag] = slot{id: id, live: true}
	c.open++
	if m.Fill != nil {
		return c.run.appendMessage(out, m, id)
	}
	return record{what: ask, id: id, n: uint64(m.Request)}.appendTo(out)
}

func (c *codec) Flush(out []byte) []byte {
	out = append(out, c.owed...)
	c.owed = c.owed[:0]
	return out
}

// Cancel has the stream reset.
func (c *codec) Cancel(tag uint32) bool {
	if !c.slots[tag].live {
		return false
	}
	c.owed = record{what: giveUp, id: c.slots[tag].id}.appendTo(c.owed)
	c.closeExchange(tag)
	return true
}

func (c *codec) closeExchange(tag uint32) {
	c.slots[tag].live = false
	c.open--
}

func (c *codec) Decode(in []byte, eof bool) (used int, ev proto.Event) {
	for ev.Kind == proto.More {
		if c.over {
			return len(in), ev
		}
		if ev = c.nextLeftOver(); ev.Kind != proto.More {
			return used, ev
		}
		if c.full && c.open == 0 {
			c.over = true
			return used, newEvent(proto.Closing, 0, 0)
		}
		r, n := parseRecord(in[used:])
		switch {
		case n < 0:
			return len(in), c.brokenEvent(&proto.Fault{Kind: proto.FaultGarbage,
				Detail: "no record of HTTP/3"})
		case n == 0 && eof:
			return len(in), c.endOfInput()
		case n == 0:
			return used, ev
		}
		used += n
		ev = c.decodeRecord(r)
	}
	return used, ev
}

func newEvent(kind proto.Kind, tag uint32, status uint16) proto.Event {
	return proto.Event{What: proto.What{Kind: kind, Tag: tag, Status: status}}
}

// decodeRecord is what a record means: More if it is nothing to tell, as of an exchange that was
// given up.
func (c *codec) decodeRecord(r record) (ev proto.Event) {
	switch r.what {
	case shaken:
		c.shaken = true
		c.settled[r.n]++
		ev = newEvent(proto.Shaken, 1, 0)
		ev.Resumed = handshakeOf(r.n).DidResume
		return ev
	case leaving:
		c.full, c.taken = true, r.n
	case broken:
		fault := r.fault
		if !c.shaken || c.open == 0 {
			return c.brokenEvent(&fault)
		}
		c.lost, c.full = &fault, true
		if r.n > 0 {
			c.taken = r.n
		}
	}
	tag := uint32(r.id)
	if int(tag) >= len(c.slots) || !c.slots[tag].live || c.slots[tag].id != r.id {
		return ev
	}
	switch r.what {
	case head:
		c.slots[tag].headed = true
		return newEvent(proto.Head, tag, uint16(r.n))
	case done:
		c.closeExchange(tag)
		ev = newEvent(proto.Done, tag, 0)
		ev.Body = int64(r.n)
	case refused:
		c.closeExchange(tag)
		ev = newEvent(proto.Refused, tag, 0)
	case failed:
		fault := r.fault
		ev = c.failedEvent(tag, &fault)
	case field, trailer, piece:
		c.giveSink(tag, &r)
	}
	return ev
}

// nextLeftOver is what becomes of the next exchange that its connection leaves; More if of none.
func (c *codec) nextLeftOver() proto.Event {
	if c.taken < everything {
		if tag, found := c.findWithFate(untaken); found {
			c.closeExchange(tag)
			return newEvent(proto.Refused, tag, 0)
		}
		c.taken = everything
	}
	if c.lost != nil {
		if tag, found := c.findWithFate(doomed); found {
			return c.failedEvent(tag, c.lost)
		}
	}
	return proto.Event{}
}

// endOfInput is what is told when the connection is closed: of responses that had begun one by
// one, and then of the rest.
func (c *codec) endOfInput() proto.Event {
	if tag, found := c.findWithFate(cutOff); found {
		return c.failedEvent(tag, faultTruncated)
	}
	if c.open > 0 || !c.shaken {
		return c.brokenEvent(faultClosed)
	}
	c.full, c.over = true, true
	return newEvent(proto.Closing, 0, 0)
}

// findWithFate is the next exchange of that fate.
func (c *codec) findWithFate(f fate) (tag uint32, found bool) {
	if c.fate != f {
		c.fate, c.swept = f, 0
	}
	for ; c.swept < len(c.slots); c.swept++ {
		s := &c.slots[c.swept]
		if s.live && (f == doomed || f == untaken && s.id>>32 > c.taken || f == cutOff && s.headed) {
			return uint32(c.swept), true
		}
	}
	return 0, false
}

func (c *codec) failedEvent(tag uint32, f *proto.Fault) proto.Event {
	c.closeExchange(tag)
	ev := newEvent(proto.Failed, tag, 0)
	ev.Err = f
	return ev
}

func (c *codec) brokenEvent(f *proto.Fault) proto.Event {
	c.full, c.over = true, true
	ev := newEvent(proto.Broken, 0, 0)
	ev.Err = f
	return ev
}

// giveSink gives the sink what a record has for it.
func (c *codec) giveSink(tag uint32, r *record) {
	switch {
	case c.sink == nil:
	case r.what == piece:
		c.sink.Body(tag, r.text)
	default:
		c.sink.Field(tag, r.text[:r.n], r.text[r.n:], r.what == trailer)
	}
}

// Settled is how many handshakes settled which terms, of all codecs of the maker that c, which is
// one of Protocol's, comes from. A codec counts a handshake when it tells its worker of it, which
// counts it too: a connection may be open of which the worker never heard.
func Settled(c proto.Codec) map[ptls.Terms]int64 {
	all := map[ptls.Terms]int64{}
	for n, count := range c.(*codec).settled {
		all[ptls.TermsOf(handshakeOf(n))] += count
	}
	return all
}

var (
	faultClosed = &proto.Fault{Kind: proto.FaultClosed,
		Detail: "connection closed before the response"}
	faultTruncated = &proto.Fault{Kind: proto.FaultTruncated,
		Detail: "connection closed inside the response"}
)
