package h2

import "encoding/binary"

// An owed is the frames that answer the server's.
type owed struct {
	acks       int // of SETTINGS
	pongs      [][8]byte
	resets     []reset
	replenish  []uint32 // streams whose receive window is to be opened
	receivable int64    // bytes left of the connection's receive window
}

// A reset is a stream that we reset.
type reset struct{ id, code uint32 }

// probe is the content of our PING.
var probe = [8]byte{'d', 'y', 'n', 'o', ' ', 'r', 's', 't'}

// owesFrames reports whether appendOwed has frames to append. It is called every turn.
func (c *codec) owesFrames() bool {
	return c.acks > 0 || len(c.pongs) > 0 || c.unproven > 0 && c.proving == 0 ||
		len(c.resets) > 0 || len(c.replenish) > 0 || c.receivable < receiveWindow/2 || c.bye
}

// appendOwed appends the frames that answer the server's.
func (c *codec) appendOwed(out []byte) []byte {
	for ; c.acks > 0; c.acks-- {
		out = appendFrame(out, 0, frameSettings, flagAck, 0)
	}
	for i := range c.pongs {
		out = append(appendFrame(out, 8, framePing, flagAck, 0), c.pongs[i][:]...)
	}
	c.pongs = c.pongs[:0]
	for _, r := range c.resets {
		out = appendFrame(out, 4, frameReset, 0, r.id)
		out = binary.BigEndian.AppendUint32(out, r.code)
	}
	c.resets = c.resets[:0]
	if c.unproven > 0 && c.proving == 0 {
		c.proving = c.unproven
		out = append(appendFrame(out, 8, framePing, 0, 0), probe[:]...)
	}
	for _, id := range c.replenish {
		if slot, ok := c.slotOfID(id); ok {
			s := &c.slots[slot]
			out = appendWindow(out, id, receiveWindow-s.receivable)
			s.receivable, s.reopening = receiveWindow, false
		}
	}
	c.replenish = c.replenish[:0]
	if c.receivable < receiveWindow/2 {
		out = appendWindow(out, 0, receiveWindow-c.receivable)
		c.receivable = receiveWindow
	}
	if c.bye {
		out = c.appendGoAway(out)
	}
	return out
}

// appendGoAway appends GOAWAY. It says that we processed none of the server's streams.
func (c *codec) appendGoAway(out []byte) []byte {
	c.bye = false
	out = append(appendFrame(out, 8, frameGoAway, 0, 0), 0, 0, 0, 0)
	return binary.BigEndian.AppendUint32(out, c.code)
}
