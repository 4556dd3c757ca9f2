package h2

import (
	"encoding/binary"

	"dyno/internal/engine/proto"
)

// handleSettings applies the server's SETTINGS, which may come at any time.
func (c *codec) handleSettings(flags byte, id uint32, p []byte) *proto.Fault {
	switch {
	case id != 0:
		return violation("SETTINGS on stream %d", id)
	case flags&flagAck != 0 && len(p) > 0, len(p)%6 != 0:
		return newFault(proto.FaultFraming, "SETTINGS of %d bytes", len(p))
	case flags&flagAck != 0:
		if c.run.NoTable { // from now on; without SETTINGS a server's table stays empty
			c.decoder.limit = 0
			c.resizeTable(0)
		}
		return nil
	}
	for ; len(p) > 0; p = p[6:] {
		if f := c.applySetting(binary.BigEndian.Uint16(p), binary.BigEndian.Uint32(p[2:])); f != nil {
			return f
		}
	}
	c.settled = true
	if c.acks++; c.acks > maxOwed {
		return newFault(proto.FaultFlood, "the server sent SETTINGS %d times at once", c.acks)
	}
	return nil
}

// applySetting applies one setting. The size of our dynamic table changes nothing, because we have
// none. The length of headers is only advice.
func (c *codec) applySetting(which uint16, v uint32) *proto.Fault {
	switch which {
	case enablePush:
		if v != 0 {
			return violation("the server set ENABLE_PUSH to %d; servers may set 0", v)
		}
	case maxConcurrentStreams:
		c.limit = int(min(int64(c.run.Streams), int64(v)))
	case initialWindowSize:
		if v > maxWindow {
			return newFault(proto.FaultFlowControl, "INITIAL_WINDOW_SIZE of %d", v)
		}
		return c.setInitialWindow(int64(v))
	case maxFrameSize:
		if v < frameMin || v > frameMost {
			return violation("MAX_FRAME_SIZE of %d, which is not within %d to %d",
				v, frameMin, frameMost)
		}
		c.frameMax = int(v)
	}
	return nil
}

// setInitialWindow changes the send window of every stream, open ones included.
func (c *codec) setInitialWindow(v int64) *proto.Fault {
	delta := v - c.initial
	c.initial = v
	for slot := range c.slots {
		s := &c.slots[slot]
		if s.id == 0 {
			continue
		}
		if s.window += delta; s.window > maxWindow {
			return newFault(proto.FaultFlowControl, "SETTINGS make a window larger than %d", maxWindow)
		}
		c.enqueue(uint16(slot))
	}
	return nil
}

func (c *codec) handleWindowUpdate(id uint32, p []byte) proto.Event {
	if len(p) != 4 {
		return c.brokenEvent(newFault(proto.FaultFraming, "WINDOW_UPDATE of %d bytes", len(p)))
	}
	n := int64(binary.BigEndian.Uint32(p) & maxID)
	if id == 0 {
		switch c.window += n; {
		case n == 0:
			return c.brokenEvent(violation("WINDOW_UPDATE by nothing"))
		case c.window > maxWindow:
			return c.brokenEvent(newFault(proto.FaultFlowControl,
				"WINDOW_UPDATE makes the connection's window larger than %d", maxWindow))
		}
		return proto.Event{}
	}
	slot, open := c.slotOfID(id)
	if !open {
		if f := c.idleStreamFault("WINDOW_UPDATE", id); f != nil {
			return c.brokenEvent(f)
		}
		return proto.Event{}
	}
	s := &c.slots[slot]
	switch s.window += n; {
	case n == 0:
		return c.failStream(slot, false, protocolError, violation("WINDOW_UPDATE by nothing"))
	case s.window > maxWindow:
		return c.failStream(slot, false, flowControlError, newFault(proto.FaultFlowControl,
			"WINDOW_UPDATE makes a stream's window larger than %d", maxWindow))
	}
	c.enqueue(slot)
	return proto.Event{}
}

// handleReset handles RST_STREAM from the server.
func (c *codec) handleReset(id uint32, p []byte) proto.Event {
	if len(p) != 4 {
		return c.brokenEvent(newFault(proto.FaultFraming, "RST_STREAM of %d bytes", len(p)))
	}
	code := binary.BigEndian.Uint32(p)
	slot, open := c.slotOfID(id)
	switch {
	case !open:
		if f := c.idleStreamFault("RST_STREAM", id); f != nil {
			return c.brokenEvent(f)
		}
		c.dropOwnReset(id)
		return proto.Event{}
	case code == refusedStream:
		what := proto.What{Kind: proto.Refused, Tag: c.slots[slot].tag}
		c.endStream(slot)
		return proto.Event{What: what}
	}
	return c.failedEvent(slot, resetFaults[min(code, uint32(len(codes)))])
}

// dropOwnReset cancels our own reset of a stream that the server has reset too. Servers do so when
// they answer before they have read all of a request.
func (c *codec) dropOwnReset(id uint32) {
	for i, r := range c.resets {
		if r.id == id {
			c.resets = append(c.resets[:i], c.resets[i+1:]...)
			c.unproven--
			return
		}
	}
}

func (c *codec) checkPriority(id uint32, p []byte) proto.Event {
	switch slot, open := c.slotOfID(id); {
	case id == 0:
		return c.brokenEvent(violation("PRIORITY on stream 0"))
	case len(p) != 5 && open:
		return c.failStream(slot, false, frameSizeError,
			newFault(proto.FaultFraming, "PRIORITY of %d bytes", len(p)))
	}
	return proto.Event{}
}

func (c *codec) handlePing(flags byte, id uint32, p []byte) *proto.Fault {
	switch {
	case len(p) != 8:
		return newFault(proto.FaultFraming, "PING of %d bytes", len(p))
	case id != 0:
		return violation("PING on stream %d", id)
	case flags&flagAck != 0:
		if [8]byte(p) == probe {
			c.unproven -= c.proving
			c.proving = 0
		}
		return nil
	case len(c.pongs) >= maxOwed:
		return newFault(proto.FaultFlood, "the server sent PING %d times at once", maxOwed+1)
	}
	c.pongs = append(c.pongs, [8]byte(p))
	return nil
}

// Dismissed is the error in the server's GOAWAY, or nil.
func (c *codec) Dismissed() *proto.Fault { return c.gone }

// handleGoAway handles GOAWAY: the server accepts no new streams, and does not process some that it
// received.
func (c *codec) handleGoAway(id uint32, p []byte) *proto.Fault {
	switch {
	case id != 0:
		return violation("GOAWAY on stream %d", id)
	case len(p) < 8:
		return newFault(proto.FaultFraming, "GOAWAY of %d bytes", len(p))
	}
	c.full = true
	c.goneAfter = min(c.goneAfter, binary.BigEndian.Uint32(p)&maxID)
	if code := binary.BigEndian.Uint32(p[4:]); code != 0 {
		c.gone = goneFault(code, p[8:])
	}
	if c.later |= laterRefused; c.open == 0 {
		c.later |= laterClosing
	}
	return nil
}
