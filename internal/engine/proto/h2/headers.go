package h2

import "dyno/internal/engine/proto"

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
	if b.size += frameHeader + len(p); b.size > maxHead {
		return c.brokenEvent(newFault(proto.FaultOversized,
			"the response header is longer than %d KiB", maxHead>>10))
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
		c.decoder.tag, c.decoder.trailer = c.slots[slot].tag, c.slots[slot].headed
	}
	h, err := c.decodeBlock(b)
	switch {
	case err != nil:
		return c.brokenEvent(newFault(proto.FaultCompression,
			"the header of stream %d cannot be decompressed: %v", id, err))
	case !open:
		return proto.Event{}
	case h.Size > maxHead:
		return c.failStream(slot, ends, cancel, newFault(proto.FaultOversized,
			"the response header is longer than %d KiB", maxHead>>10))
	case h.Wrong != "":
		return c.failStream(slot, ends, protocolError, malformed("%s", h.Wrong))
	case c.slots[slot].headed:
		return c.handleTrailer(slot, h, ends)
	case h.Status == 0:
		return c.failStream(slot, ends, protocolError, malformed("it has no :status"))
	case h.Status < 200:
		return c.interimHeader(slot, h, ends)
	}
	return c.finalHeader(slot, h, ends)
}

func (c *codec) finalHeader(slot uint16, h Header, ends bool) proto.Event {
	s := &c.slots[slot]
	s.headed, s.length, s.status = true, h.Length, h.Status
	if s.bare = s.bare || h.Status == 204 || h.Status == 304; s.bare {
		s.length = 0
	}
	if ends {
		c.later |= laterDone
		c.done = slot
	}
	return proto.Event{What: proto.What{Kind: proto.Head, Tag: s.tag, Status: h.Status}}
}

func (c *codec) interimHeader(slot uint16, h Header, ends bool) proto.Event {
	s := &c.slots[slot]
	s.interim++
	switch {
	case ends:
		return c.failStream(slot, ends, protocolError, malformed("it ends with status %d", h.Status))
	case h.Status == 101:
		return c.failStream(slot, ends, protocolError, malformed("HTTP/2 has no status 101"))
	case s.interim > maxInterim:
		return c.failStream(slot, ends, cancel, newFault(proto.FaultOversized,
			"more than %d interim (1xx) responses to one request", maxInterim))
	}
	return proto.Event{}
}

func (c *codec) handleTrailer(slot uint16, h Header, ends bool) proto.Event {
	switch {
	case !ends:
		return c.failStream(slot, ends, protocolError, malformed("a second header does not end it"))
	case h.Status != 0:
		return c.failStream(slot, ends, protocolError, malformed("its trailer has a :status"))
	}
	return c.finishResponse(slot)
}
