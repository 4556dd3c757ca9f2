package h2

import (
	"encoding/binary"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/fact"
)

func (c *codec) Decode(in []byte, eof bool) (n int, ev proto.Event) {
	for !c.over {
		if c.later != 0 {
			if ev = c.pendingEvent(); ev.Kind != proto.More {
				return n, ev
			}
		}
		k, ev := c.decodeFrame(in[n:])
		n += k
		switch {
		case ev.Kind != proto.More:
			return n, ev
		case k == 0 && eof:
			return n, c.endOfInput(in[n:])
		case k == 0:
			return n, ev
		}
	}
	return len(in), proto.Event{}
}

// pendingEvent is an event that belongs to the same bytes as the last one.
func (c *codec) pendingEvent() proto.Event {
	if c.later&laterDone != 0 {
		c.later &^= laterDone
		return c.finishResponse(c.done)
	}
	if c.later&laterRefused != 0 {
		for ; c.swept < len(c.slots); c.swept++ {
			if s := &c.slots[c.swept]; s.id > c.goneAfter {
				ev := proto.Event{What: proto.What{Kind: proto.Refused, Tag: s.tag}}
				if c.gone != nil {
					ev.Err = c.gone
				}
				c.endStream(uint16(c.swept))
				return ev
			}
		}
		c.later &^= laterRefused
		c.swept = 0
	}
	if c.later&laterClosing == 0 {
		return proto.Event{}
	}
	c.over = true
	return proto.Event{What: proto.What{Kind: proto.Closing}}
}

// decodeFrame decodes a frame, or the available part of a DATA frame.
func (c *codec) decodeFrame(b []byte) (int, proto.Event) {
	if c.left > 0 {
		n := min(len(b), c.left)
		if c.feeding > 0 {
			c.giveBody(b[:n])
		}
		if c.left -= n; c.left == 0 {
			return n, c.finishData()
		}
		return n, proto.Event{}
	}
	if !c.settled && len(b) > 0 && b[0] != 0 {
		return 0, c.brokenEvent(foreignProtocol(b))
	}
	if len(b) < frameHeader {
		return 0, proto.Event{}
	}
	size := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
	kind, flags, id := b[3], b[4], binary.BigEndian.Uint32(b[5:])&maxID
	if f := c.misplacedFrame(size, kind, flags, id); f != nil {
		return 0, c.brokenEvent(f)
	}
	if kind == frameData {
		return c.decodeData(b, size, flags, id)
	}
	whole := frameHeader + size
	if len(b) < whole {
		return 0, proto.Event{}
	}
	return whole, c.handleFrame(kind, flags, id, b[frameHeader:whole])
}

// misplacedFrame returns the fault of a frame that is never allowed, or not here.
func (c *codec) misplacedFrame(size int, kind, flags byte, id uint32) *proto.Fault {
	switch {
	case size > frameMin:
		return newFault(proto.FaultFraming, "a frame (type %d) of %d bytes; %d are allowed",
			kind, size, frameMin)
	case !c.settled && kind == frameSettings && flags&flagAck != 0:
		return violation("the server began by acknowledging our SETTINGS, not with its own")
	case !c.settled && kind != frameSettings:
		return violation("the server began with a frame of type %d, not with SETTINGS", kind)
	case c.block.under && (kind != frameContinuation || id != c.block.id):
		return violation("a frame of type %d on stream %d inside the header of stream %d",
			kind, id, c.block.id)
	case !c.block.under && kind == frameContinuation:
		return violation("CONTINUATION continues no header")
	}
	return nil
}

// foreignProtocol is the fault of a peer that does not speak HTTP/2.
func foreignProtocol(b []byte) *proto.Fault {
	hint, mend := "", []fact.Remedy(nil)
	switch {
	case b[0] == 0x15 || b[0] == 0x16:
		hint = "; is this an https:// server?"
	case b[0] == 'H':
		hint = "; is this an HTTP/1.1 server?"
		mend = []fact.Remedy{{Setting: "url", Value: "http://"}, giveHTTP1}
	}
	f := newFault(proto.FaultGarbage, "not HTTP/2: the server began with %q%s",
		b[:min(len(b), 40)], hint)
	f.Mend = mend
	return f
}

func (c *codec) handleFrame(kind, flags byte, id uint32, p []byte) proto.Event {
	switch kind {
	case frameHeaders:
		return c.handleHeaders(flags, id, p)
	case frameContinuation:
		return c.handleContinuation(flags, p)
	case framePriority:
		return c.checkPriority(id, p)
	case frameReset:
		return c.handleReset(id, p)
	case frameWindow:
		return c.handleWindowUpdate(id, p)
	case framePush:
		return c.brokenEvent(violation("the server pushes (PUSH_PROMISE), which we have disabled"))
	}
	var f *proto.Fault
	switch kind {
	case frameSettings:
		f = c.handleSettings(flags, id, p)
	case framePing:
		f = c.handlePing(flags, id, p)
	case frameGoAway:
		f = c.handleGoAway(id, p)
	}
	if f != nil {
		return c.brokenEvent(f)
	}
	return proto.Event{}
}

// lookupStream finds the open stream of a frame that only an open stream may have. A frame of a
// stream that we reset is ignored as long as the server may not know of the reset.
func (c *codec) lookupStream(what string, id uint32) (slot uint16, open bool, f *proto.Fault) {
	if slot, open = c.slotOfID(id); open {
		return slot, true, nil
	}
	if f = c.idleStreamFault(what, id); f == nil && c.unproven == 0 {
		c.code = streamClosed
		f = violation("%s on stream %d, which is closed", what, id)
	}
	return 0, false, f
}

// idleStreamFault is the fault of a frame on a stream that was never begun.
func (c *codec) idleStreamFault(what string, id uint32) *proto.Fault {
	if id%2 == 1 && id < c.next {
		return nil
	}
	return violation("%s on stream %d, which we did not begin", what, id)
}

// decodeData decodes the header of a DATA frame, and counts its content, which follows.
func (c *codec) decodeData(b []byte, size int, flags byte, id uint32) (int, proto.Event) {
	padding := 0
	if flags&flagPadded != 0 {
		if size > 0 && len(b) == frameHeader {
			return 0, proto.Event{}
		}
		if size == 0 {
			return 0, c.brokenEvent(newFault(proto.FaultFraming, "DATA is too short for its padding"))
		}
		if int(b[frameHeader]) >= size {
			return 0, c.brokenEvent(violation("DATA with more padding than there are bytes"))
		}
		padding = 1 + int(b[frameHeader])
	}
	slot, open, f := c.lookupStream("DATA", id)
	if c.receivable -= int64(size); c.receivable < 0 && f == nil {
		f = newFault(proto.FaultFlowControl, "the server sent more than the connection's window allows")
	}
	if f != nil {
		return 0, c.brokenEvent(f)
	}
	c.left, c.ending = size, 0
	if open {
		ends := flags&flagEnd != 0
		if ev := c.receiveBody(slot, size, padding, ends); ev.Kind != proto.More {
			return frameHeader, ev
		}
		if ends {
			c.ending = slot + 1
		}
		if c.sink != nil && size > padding {
			c.feedSink(slot, flags&flagPadded != 0, size-padding)
		}
	}
	if size == 0 {
		return frameHeader, c.finishData()
	}
	return frameHeader, proto.Event{}
}

// receiveBody counts the content of a DATA frame before it arrives.
func (c *codec) receiveBody(slot uint16, size, padding int, ends bool) proto.Event {
	s := &c.slots[slot]
	s.receivable -= int64(size)
	fault := s.CheckBody(int64(size - padding))
	s.Got += int64(size - padding)
	switch {
	case s.receivable < 0:
		return c.failStream(slot, ends, flowControlError, newFault(proto.FaultFlowControl,
			"the server sent more than the stream's window allows"))
	case !s.Headed:
		return c.failResponse(slot, ends, malformed("DATA comes before the header"))
	case fault != nil:
		return c.failResponse(slot, ends, fault)
	case s.receivable < receiveWindow/2 && !ends && !s.reopening:
		s.reopening = true
		c.replenish = append(c.replenish, s.id)
	}
	return proto.Event{}
}

// finishData ends a DATA frame that has arrived completely.
func (c *codec) finishData() proto.Event {
	if c.ending == 0 {
		return proto.Event{}
	}
	slot := c.ending - 1
	c.ending = 0
	return c.finishResponse(slot)
}

// finishResponse ends a stream whose response is complete.
func (c *codec) finishResponse(slot uint16) proto.Event {
	s := &c.slots[slot]
	if fault := s.CheckEnd(); fault != nil {
		return c.failResponse(slot, true, fault)
	}
	ev := proto.Event{What: proto.What{Kind: proto.Done, Tag: s.tag}, Body: s.Got}
	if len(s.rest) > 0 {
		c.resetStream(s.id, cancel)
	}
	c.endStream(slot)
	return ev
}

// failResponse ends a stream because its response is faulty, or beyond a limit of ours. ended is
// whether the server sends nothing more on it.
func (c *codec) failResponse(slot uint16, ended bool, f *proto.Fault) proto.Event {
	code := uint32(protocolError)
	if fields.IsLimit(f) {
		code = cancel
	}
	return c.failStream(slot, ended, code, f)
}

// failStream ends a stream for a fault.
func (c *codec) failStream(slot uint16, ended bool, code uint32, f *proto.Fault) proto.Event {
	s := &c.slots[slot]
	if !ended || len(s.rest) > 0 {
		c.resetStream(s.id, code)
	}
	return c.failedEvent(slot, f)
}

// failedEvent is failStream for a stream that has ended already.
func (c *codec) failedEvent(slot uint16, f *proto.Fault) proto.Event {
	what := proto.What{Kind: proto.Failed, Tag: c.slots[slot].tag}
	c.endStream(slot)
	return proto.Event{What: what, Err: f}
}

// resetStream resets a stream.
func (c *codec) resetStream(id, code uint32) {
	c.resets = append(c.resets, reset{id, code})
	c.unproven++
}

// Cancel resets the stream of an exchange. Frames that the server still sends on it are ignored
// until it answers the PING that follows the reset.
func (c *codec) Cancel(tag uint32) bool {
	slot, ok := c.slotInFlight(tag)
	if !ok {
		return false
	}
	if c.ending == slot+1 { // the rest of its last DATA finds no stream
		c.ending = 0
	}
	c.resetStream(c.slots[slot].id, cancel)
	c.endStream(slot)
	return true
}

// endStream frees a stream's slot.
func (c *codec) endStream(slot uint16) {
	c.removeStream(slot)
	if c.feeding == slot+1 {
		c.feeding = 0
	}
	if c.full && c.open == 0 {
		c.later |= laterClosing
	}
}

// endOfInput returns the events after the server closed the connection: one for each response that
// had begun, and then one for the rest. A truncated header, whether between frames or inside the
// one that rest belongs to, counts as a response that has begun.
func (c *codec) endOfInput(rest []byte) proto.Event {
	cut := uint32(0)
	if c.block.under {
		cut = c.block.id
	} else if len(rest) >= frameHeader && rest[3] == frameHeaders {
		cut = binary.BigEndian.Uint32(rest[5:]) & maxID
	}
	for ; c.swept < len(c.slots); c.swept++ {
		if s := &c.slots[c.swept]; s.id != 0 && (s.HasBegun() || s.id == cut) {
			return c.failedEvent(uint16(c.swept), newFault(proto.FaultTruncated,
				"connection closed inside the response, after %d bytes of body", s.Got))
		}
	}
	switch {
	case !c.settled:
		return c.brokenEvent(faultUnsettled)
	case c.open > 0 && c.gone != nil:
		return c.brokenEvent(c.gone)
	case c.open > 0:
		return c.brokenEvent(faultClosed)
	}
	c.over, c.full = true, true
	return proto.Event{What: proto.What{Kind: proto.Closing}}
}

// brokenEvent ends the connection, and prepares a GOAWAY with the reason (RFC 9113, 5.4.1).
func (c *codec) brokenEvent(f *proto.Fault) proto.Event {
	c.over, c.full = true, true
	if c.code == noError {
		c.code = errorCodes[f.Kind]
	}
	c.bye = c.code != noError
	return proto.Event{What: proto.What{Kind: proto.Broken}, Err: f}
}
