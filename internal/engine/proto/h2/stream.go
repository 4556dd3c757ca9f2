package h2

import (
	"math/bits"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/fact"
)

// A stream is one exchange.
type stream struct {
	id         uint32 // 0: none
	tag        uint32
	rest       []byte // of the request's body
	window     int64  // bytes that may be sent; negative after the server reduced it
	receivable int64  // bytes left of its receive window
	queued     bool
	reopening  bool // its receive window must be opened again
	fields.Response
}

// Progress is that of an exchange in flight.
func (c *codec) Progress(tag uint32) (p proto.Progress) {
	slot, ok := c.slotInFlight(tag)
	if !ok || !c.slots[slot].Headed {
		return p
	}
	s := &c.slots[slot]
	p = proto.Progress{Body: s.Got, Length: s.Length, End: fact.ByStream}
	if slot+1 == c.ending || slot+1 == c.feeding || c.open == 1 {
		p.Body = max(p.Body-int64(c.left), 0) // s.Got counts a frame before all of it has come
	}
	if s.Length > s.Got {
		p.End = fact.ByLength
	}
	return p
}

// streams are a connection's open streams, each in a slot. A hash table with open addressing finds
// a slot by the stream's id. It has at least twice as many entries as there can be streams.
// Fibonacci hashing scatters the ids: without it, the ids of long-lived streams would lie side by
// side, and each search would pass them again. places finds a slot by the exchange's tag; if tags
// are numbered from 0, each has an entry of its own.
type streams struct {
	slots  []stream
	places []uint16 // by tag, as many as a power of two: the slot that last had it
	free   []uint16
	index  []uint16 // by hash: a slot, and 1
	shift  uint8
	open   int
	queued queue // slots with something to send, and a window for it
}

// A queue holds slots. Each slot is in it at most once, so it never overflows.
type queue struct {
	ring       []uint16 // a power of two
	first, len int
}

func newStreams(n int) streams {
	log := bits.Len(uint(n - 1))
	s := streams{slots: make([]stream, n), free: make([]uint16, n),
		places: make([]uint16, 1<<log), index: make([]uint16, 2<<log), shift: uint8(32 - log - 1)}
	for i := range s.free {
		s.free[i] = uint16(n - 1 - i)
	}
	s.queued.ring = make([]uint16, 1<<log)
	return s
}

func (s *streams) hashIndex(id uint32) int { return int(id * 2654435769 >> s.shift) }

// addStream puts a stream into a slot. Room must have reported one.
func (s *streams) addStream(id uint32, st stream) uint16 {
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	i := s.hashIndex(id)
	for s.index[i] != 0 {
		i = (i + 1) & (len(s.index) - 1)
	}
	s.index[i] = slot + 1
	st.id, st.queued = id, s.slots[slot].queued
	s.slots[slot] = st
	s.places[int(st.tag)&(len(s.places)-1)] = slot
	s.open++
	return slot
}

// slotOfTag is the slot of an exchange that is in its place. ok is false if another exchange has
// since begun whose tag has the same place.
func (s *streams) slotOfTag(tag uint32) (slot uint16, ok bool) {
	slot = s.places[int(tag)&(len(s.places)-1)]
	st := &s.slots[slot]
	return slot, st.id != 0 && st.tag == tag
}

// slotInFlight is the slot of an exchange in flight.
func (s *streams) slotInFlight(tag uint32) (slot uint16, ok bool) {
	if slot, ok = s.slotOfTag(tag); ok {
		return slot, true
	}
	for i := range s.slots {
		if st := &s.slots[i]; st.id != 0 && st.tag == tag {
			return uint16(i), true
		}
	}
	return 0, false
}

// slotOfID is the slot of an open stream.
func (s *streams) slotOfID(id uint32) (slot uint16, ok bool) {
	for i := s.hashIndex(id); s.index[i] != 0; i = (i + 1) & (len(s.index) - 1) {
		if slot := s.index[i] - 1; s.slots[slot].id == id {
			return slot, true
		}
	}
	return 0, false
}

// removeStream frees a slot. It moves entries of the table that would no longer be found.
func (s *streams) removeStream(slot uint16) {
	mask := len(s.index) - 1
	i := s.hashIndex(s.slots[slot].id)
	for s.index[i] != slot+1 {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; s.index[j] != 0; j = (j + 1) & mask {
		home := s.hashIndex(s.slots[s.index[j]-1].id)
		if (j-home)&mask >= (j-i)&mask {
			s.index[i], i = s.index[j], j
		}
	}
	s.index[i] = 0
	s.slots[slot].id, s.slots[slot].rest = 0, nil
	s.free = append(s.free, slot)
	s.open--
}

// enqueue queues a slot for sending if it may send. It reports whether it may.
func (s *streams) enqueue(slot uint16) bool {
	st := &s.slots[slot]
	if len(st.rest) == 0 || st.window <= 0 {
		return false
	}
	if !st.queued { // it still is if an earlier stream of the slot was never reached
		st.queued = true
		q := &s.queued
		q.ring[(q.first+q.len)&(len(q.ring)-1)] = slot
		q.len++
	}
	return true
}

func (s *streams) dequeue() uint16 {
	q := &s.queued
	slot := q.ring[q.first]
	q.first = (q.first + 1) & (len(q.ring) - 1)
	q.len--
	s.slots[slot].queued = false
	return slot
}
