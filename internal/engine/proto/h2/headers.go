package h2

import (
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

// handleHeaders handles a HEADERS frame: a complete header block, or its beginning.
func (c *codec) handleHeaders(flags byte, id uint32, p []byte) proto.Event {
	padding := 0
	if flags&flagPadded != 0 {
		if len(p) == 0 {
			return c.brokenEvent(newFault(proto.FaultFraming, "HEADERS is too short for its padding"))
		}
		padding, p = int(p[0]), p[1:]
	}
	if flags&flagPriority != 0 {
		if len(p) < 5 {
			return c.brokenEvent(newFault(proto.FaultFraming, "HEADERS is too short for its priority"))
		}
		p = p[5:]
	}
	if padding > len(p) {
		return c.brokenEvent(violation("HEADERS with more padding than there are bytes"))
	}
	p = p[:len(p)-padding]
	ends := flags&flagEnd != 0
	if flags&flagEndHeaders != 0 {
		return c.handleHeaderBlock(id, p, ends)
	}
	if f := c.idleStreamFault("HEADERS", id); f != nil {
		return c.brokenEvent(f)
	}
	c.block = block{under: true, ends: ends, id: id, bytes: append(c.block.bytes[:0], p...),
		size: frameHeader + len(p)}
	return proto.Event{}
}

func (c *codec) handleContinuation(flags byte, p []byte) proto.Event {
	b := &c.block
	if b.size += frameHeader + len(p); b.size > fields.MaxHead {
		return c.brokenEvent(fields.TooLong)
	}
	b.bytes = append(b.bytes, p...)
	if flags&flagEndHeaders == 0 {
		return proto.Event{}
	}
	b.under = false
	return c.handleHeaderBlock(b.id, b.bytes, b.ends)
}

// handleHeaderBlock handles a complete header block. It decodes the block even if its stream no
// longer matters, because later blocks may refer to it.
func (c *codec) handleHeaderBlock(id uint32, b []byte, ends bool) proto.Event {
	slot, open, f := c.lookupStream("HEADERS", id)
	if f != nil {
		return c.brokenEvent(f)
	}
	c.decoder.wanting = open && c.sink != nil && c.run.want.WantsFields()
	if c.decoder.wanting {
		c.decoder.tag, c.decoder.trailer = c.slots[slot].tag, c.slots[slot].Headed
	}
	h, err := c.decodeBlock(b)
	switch {
	case err != nil:
		return c.brokenEvent(newFault(proto.FaultCompression,
			"the header of stream %d cannot be decompressed: %v", id, err))
	case !open:
		return proto.Event{}
	}
	s := &c.slots[slot]
	switch part, fault := s.AddHeader(&h); {
	case fault != nil:
		return c.failResponse(slot, ends, fault)
	case part == fields.Trailer && !ends:
		return c.failResponse(slot, ends, malformed("a second header does not end it"))
	case part == fields.Final:
		if ends {
			c.later |= laterDone
			c.done = slot
		}
		return proto.Event{What: proto.What{Kind: proto.Head, Tag: s.tag, Status: h.Status}}
	case ends:
		return c.finishResponse(slot)
	}
	return proto.Event{}
}
