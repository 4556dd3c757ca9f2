package fleet

import (
	"math"
	"time"

	"dyno/internal/fleet/wire"
)

// A clock is a process's monotonic clock, in ns since an origin of its own. Wall clocks, which
// differ from machine to machine, are used for nothing but dates.
type clock struct {
	origin time.Time
	skew   time.Duration // by which it is off, in tests
}

func newClock(skew time.Duration) clock { return clock{time.Now(), skew} }

// readingAt returns what the clock shows at an instant from time.Now.
func (c clock) readingAt(at time.Time) int64 { return int64(at.Sub(c.origin) + c.skew) }

func (c clock) currentReading() int64 { return c.readingAt(time.Now()) }

// instantOf is the inverse of readingAt.
func (c clock) instantOf(shown int64) time.Time {
	return c.origin.Add(time.Duration(shown) - c.skew)
}

// wallTime returns the time of day, off by the same skew.
func (c clock) wallTime() time.Time { return time.Now().Add(c.skew) }

// driftRatio limits how fast two clocks drift apart: by at most one part in so many, because each
// is slewed by at most 500 ppm.
const driftRatio = 1000

// A clockOffset is by how much an agent's clock is ahead of the controller's, in ns, and the
// largest error of that: half the round trip, because nobody knows how it divides between the two
// ways.
type clockOffset struct{ ahead, bound int64 }

func unknownOffset() clockOffset { return clockOffset{bound: math.MaxInt64} }

// withExchange returns o, or the offset that a query shows if its bound is smaller. begun and
// ended are when the query was sent and answered, by the controller's clock.
func (o clockOffset) withExchange(begun, ended int64, s wire.ClockSync) clockOffset {
	delay := (ended - begun) - (s.RepliedAt - s.ReceivedAt)
	if delay < 0 || delay/2 >= o.bound {
		return o
	}
	return clockOffset{((s.ReceivedAt - begun) + (s.RepliedAt - ended)) / 2, delay / 2}
}

// toController converts an instant of the agent's clock to the controller's, and toAgent back.
func (o clockOffset) toController(theirs int64) int64 { return theirs - o.ahead }

func (o clockOffset) toAgent(ours int64) int64 { return ours + o.ahead }

// A clockDrift is by how much an agent's clock has moved against the controller's since the
// start, in ns, and the largest error of that. Of several measurements it is the one with the
// largest certain drift.
type clockDrift struct {
	known        bool
	moved, bound int64
}

// leastMoved returns by how much the clock has moved for certain; below 0 it may not have moved.
func (d clockDrift) leastMoved() int64 { return max(d.moved, -d.moved) - d.bound }

// withLaterOffset returns d, or the drift between two offsets if more of that is certain. A busy
// machine delays answers, which looks like drift but widens the bound too.
func (d clockDrift) withLaterOffset(start, later clockOffset) clockDrift {
	look := clockDrift{true, later.ahead - start.ahead, start.bound + later.bound}
	if d.known && look.leastMoved() <= d.leastMoved() {
		return d
	}
	return look
}
