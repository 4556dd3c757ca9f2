package fleet

import (
	"math"
	"time"

	"dyno/internal/fleet/wire"
)

// A clock is a process's monotonic one, in ns since an instant of its own. Nobody's wall
// clock is used for anything but to name days.
type clock struct {
	origin time.Time
	skew   time.Duration // how far off it is, in tests
}

func newClock(skew time.Duration) clock { return clock{time.Now(), skew} }

// readingAt is what the clock shows at an instant that time.Now has told.
func (c clock) readingAt(at time.Time) int64 { return int64(at.Sub(c.origin) + c.skew) }

func (c clock) currentReading() int64 { return c.readingAt(time.Now()) }

// instantOf is of can be undone.
func (c clock) instantOf(shown int64) time.Time {
	return c.origin.Add(time.Duration(shown) - c.skew)
}

// wallTime is the time of day, as wrong as the clock is.
func (c clock) wallTime() time.Time { return time.Now().Add(c.skew) }

// driftRatio is in how much time two clocks go apart by one of it at most: each is slewed
// by 500 ppm at most.
const driftRatio = 1000

// An clockOffset is how far an agent's clock is ahead of ours, in ns, and by how much that can
// be wrong: the answer took that long, and nobody knows on which half of the way.
type clockOffset struct{ ahead, bound int64 }

func unknownOffset() clockOffset { return clockOffset{bound: math.MaxInt64} }

// withExchange is o with what an exchange tells, begun and ended by our clock.
func (o clockOffset) withExchange(begun, ended int64, s wire.ClockSync) clockOffset {
	delay := (ended - begun) - (s.RepliedAt - s.ReceivedAt)
	if delay < 0 || delay/2 >= o.bound {
		return o
	}
	return clockOffset{((s.ReceivedAt - begun) + (s.RepliedAt - ended)) / 2, delay / 2}
}

// toController is an instant of the agent's clock by ours, and theirs the other way round.
func (o clockOffset) toController(theirs int64) int64 { return theirs - o.ahead }

func (o clockOffset) toAgent(ours int64) int64 { return ours + o.ahead }

// A clockDrift is how far an agent's clock has gone from where it was at the start, in ns, when
// that was farthest for certain, and by how much that can be wrong.
type clockDrift struct {
	known        bool
	moved, bound int64
}

// leastMoved is how far the clock has gone in any case; below 0 it need not have gone at all.
func (d clockDrift) leastMoved() int64 { return max(d.moved, -d.moved) - d.bound }

// withLaterOffset is d with another look at a clock. One at a busy machine shows a lot that is
// none.
func (d clockDrift) withLaterOffset(start, later clockOffset) clockDrift {
	look := clockDrift{true, later.ahead - start.ahead, start.bound + later.bound}
	if d.known && look.leastMoved() <= d.leastMoved() {
		return d
	}
	return look
}
