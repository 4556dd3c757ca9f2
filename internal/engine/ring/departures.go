package ring

import (
	"cmp"
	"time"
)

// A ring's sockets that are left to their peers to close, and for how long.
const (
	departuresMost = 4096
	departureLasts = int64(time.Millisecond)
)

// A grace decides whether a socket that is no longer used is left to its peer to close. Whoever
// closes first keeps the local port in TIME_WAIT for a minute; there are 28,000 of them. But a peer
// that waits for dyno to close may have something else to do: a worker of a pool is free only then.
// So dyno waits briefly, and learns: after each wait in vain, four times as many sockets are closed
// at once before the next wait. The zero grace waits.
type grace struct {
	apart int   // sockets closed at once between two that wait
	left  int   // of these, still to come
	lasts int64 // how long a socket waits, in ns; 0: departureLasts
}

// graceApart is the most of grace.apart, so that a peer that begins to close first is noticed.
const graceApart = 4095

// waits reports whether the next socket is left to its peer.
func (g *grace) waits() bool {
	if g.left > 0 {
		g.left--
		return false
	}
	return true
}

// waitsFor is how long a socket waits, in ns.
func (g *grace) waitsFor() int64 { return cmp.Or(g.lasts, departureLasts) }

// endWait learns from a wait. Of several that began together, one in vain counts.
func (g *grace) endWait(closedByPeer bool) {
	switch {
	case closedByPeer:
		g.apart /= 2
		g.left = min(g.left, g.apart)
	case g.left == 0:
		g.apart = min(4*g.apart+3, graceApart)
		g.left = g.apart
	}
}
