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

// of is what the clock shows at an instant that time.Now has told.
func (c clock) of(at time.Time) int64 { return int64(at.Sub(c.origin) + c.skew) }

func (c clock) now() int64 { return c.of(time.Now()) }

// at is of can be undone.
func (c clock) at(shown int64) time.Time { return c.origin.Add(time.Duration(shown) - c.skew) }

// wall is the time of day, as wrong as the clock is.
func (c clock) wall() time.Time { return time.Now().Add(c.skew) }

// How many questions it takes to know an agent's clock, before the start and beside the
// load: the quickest answer counts, for it waited least on the way. Beside the load they
// are asked so often.
const (
	exchanges = 32
	handful   = 8
	resound   = 30 * time.Second
)

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
func (o offset) learn(begun, ended int64, s wire.ClockSync) offset {
	delay := (ended - begun) - (s.RepliedAt - s.ReceivedAt)
	if delay < 0 || delay/2 >= o.bound {
		return o
	}
	return offset{((s.ReceivedAt - begun) + (s.RepliedAt - ended)) / 2, delay / 2}
}

// ours is an instant of the agent's clock by ours, and theirs the other way round.
func (o offset) ours(theirs int64) int64 { return theirs - o.ahead }
func (o offset) theirs(ours int64) int64 { return ours + o.ahead }

// A sounding finds out where an agent's clock is, by so many exchanges. The zero value is
// none, and wants none.
type sounding struct {
	wanted, told int // answers
	underway     bool
	found        offset
}

// sound has the agent asked for its clock, so often, when it is its turn.
func (m *member) sound(exchanges int) {
	if !m.sounding.underway {
		m.sounding = sounding{wanted: exchanges, found: unknown()}
	}
}

// sound keeps some agents asked for their clocks, of those whose clocks are wanted, and
// asks again where an answer got lost.
func (r *running) sound(now time.Time) {
	left := askedMost
	for _, m := range r.members {
		if m.sounding.underway && !m.done() {
			left--
			if r.clock.of(now)-m.began > int64(resend) {
				m.ask(r)
			}
		}
	}
	for _, m := range r.members {
		if left > 0 && m.sounding.wanted > 0 && !m.sounding.underway && !m.done() {
			m.sounding.underway = true
			m.ask(r)
			left--
		}
	}
}

// ask asks for the agent's clock.
func (m *member) ask(r *running) {
	m.asked++
	m.began = r.clock.now()
	r.say(m.name, wire.SyncClock, wire.ClockSync{RunRef: m.of(r), Number: m.asked})
}

// learn takes an answer, and asks again until it is enough.
func (m *member) learn(r *running, s wire.ClockSync, now time.Time) {
	if s.Number != m.asked || !m.sounding.underway {
		return
	}
	at := r.clock.of(now)
	m.slowest = max(m.slowest, at-m.began)
	m.sounding.found = m.sounding.found.learn(m.began, at, s)
	if m.sounding.told++; m.sounding.told < m.sounding.wanted {
		m.ask(r)
		return
	}
	found := m.sounding.found
	m.sounding = sounding{}
	if !r.armed {
		m.offset = found
	} else if found != unknown() {
		m.drift = m.drift.learn(m.offset, found)
	}
	r.sound(now)
}

// A drift is how far an agent's clock has gone from where it was at the start, in ns, when
// that was farthest for certain, and by how much that can be wrong.
type drift struct {
	known       bool
	gone, bound int64
}

// least is how far the clock has gone in any case; below 0 it need not have gone at all.
func (d drift) least() int64 { return max(d.gone, -d.gone) - d.bound }

// learn is d with another look at a clock. One at a busy machine shows a lot that is none.
func (d drift) learn(start, later offset) drift {
	look := drift{true, later.ahead - start.ahead, start.bound + later.bound}
	if d.known && look.least() <= d.least() {
		return d
	}
	return look
}
