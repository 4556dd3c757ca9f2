package fleet

import (
	"math"
	"time"

	"dyno/fleet/wire"
)

// A clock is a process's monotonic one, in ns since an instant of its own. Nobody's wall
// clock is used for anything but to name days.
type clock struct {
	origin time.Time
	skew   time.Duration // how far off it is, in tests
}

func newClock(skew time.Duration) clock { return clock{time.Now(), skew} }

// of is what the clock shows at an instant that time.Now has told.
func (c clock) of(at time.Time) int64 { return int64(at.Sub(c.origin) + c.skew) }

func (c clock) now() int64 { return c.of(time.Now()) }

// at is of can be undone.
func (c clock) at(shown int64) time.Time { return c.origin.Add(time.Duration(shown) - c.skew) }

// wall is the time of day, as wrong as the clock is.
func (c clock) wall() time.Time { return time.Now().Add(c.skew) }

// exchanges are how many questions it takes to know an agent's clock: the quickest answer
// counts, for it waited least on the way.
const exchanges = 32

// askedMost is how many agents are asked at once, so that answers need not wait for others;
// exchangeTime is far more than what one more agent adds to the time that it takes.
const (
	askedMost    = 16
	exchangeTime = 20 * time.Millisecond
)

// An offset is how far an agent's clock is ahead of ours, in ns, and by how much that can
// be wrong: the answer took that long, and nobody knows on which half of the way.
type offset struct{ ahead, bound int64 }

func unknown() offset { return offset{bound: math.MaxInt64} }

// learn is o with what an exchange tells, begun and ended by our clock.
func (o offset) learn(begun, ended int64, s wire.Sync) offset {
	delay := (ended - begun) - (s.Answered - s.Asked)
	if delay < 0 || delay/2 >= o.bound {
		return o
	}
	return offset{((s.Asked - begun) + (s.Answered - ended)) / 2, delay / 2}
}

// ours is an instant of the agent's clock by ours, and theirs the other way round.
func (o offset) ours(theirs int64) int64 { return theirs - o.ahead }
func (o offset) theirs(ours int64) int64 { return ours + o.ahead }
