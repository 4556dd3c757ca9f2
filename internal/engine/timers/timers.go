// Package timers is when the connections and users of a worker want to be looked at.
package timers

// A Timer is when a connection, or a user, wants to be looked at.
type Timer struct {
	At int64 // ns on the ring's clock
	Of uint32
}

// A Heap is a heap of timers, the earliest first. A timer that has become obsolete stays until it
// expires: each connection has one that counts, and its owner knows which. So a request that is
// answered in time costs nothing here.
type Heap []Timer

// Push adds a timer.
func (t *Heap) Push(at int64, of uint32) {
	*t = append(*t, Timer{at, of})
	h := *t
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].At <= h[i].At {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// PopExpired removes and returns the earliest timer if it is not after now.
func (t *Heap) PopExpired(now int64) (Timer, bool) {
	h := *t
	if len(h) == 0 || h[0].At > now {
		return Timer{}, false
	}
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	*t = h
	for i := 0; ; {
		low := 2*i + 1
		if low+1 < last && h[low+1].At < h[low].At {
			low++
		}
		if low >= last || h[i].At <= h[low].At {
			return first, true
		}
		h[i], h[low] = h[low], h[i]
		i = low
	}
}

// Earliest is the instant of the earliest timer, or never.
func (t Heap) Earliest(never int64) int64 {
	if len(t) == 0 {
		return never
	}
	return t[0].At
}
