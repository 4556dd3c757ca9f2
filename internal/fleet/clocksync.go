package fleet

import (
	"time"

	"dyno/internal/fleet/wire"
)

// How many questions it takes to know an agent's clock, before the start and beside the
// load: the quickest answer counts, for it waited least on the way. Beside the load they
// are asked so often.
const (
	startSyncs   = 32
	laterSyncs   = 8
	syncInterval = 30 * time.Second
)

// concurrentSyncsMax is how many agents are asked at once, so that answers need not wait for
// others; exchangeTime is far more than what one more agent adds to the time that it takes.
const (
	concurrentSyncsMax = 16
	syncTimePerAgent   = 20 * time.Millisecond
)

// A clockSyncing finds out where an agent's clock is, by so many exchanges. The zero value is
// none, and wants none.
type clockSyncing struct {
	wanted, answers int // answers
	inFlight        bool
	best            clockOffset
}

// A clockState is what the controller knows of a member's clock.
type clockState struct {
	clockSync      clockSyncing
	clockQueries   int           // queries sent, the number of the last one
	clockQueriedAt int64         // when the last one was sent, by the controller's clock
	slowestAnswer  int64         // longest round trip of a query, ns
	offset         clockOffset   // at the start
	drift          clockDrift    // since then
	wallAhead      time.Duration // by which the agent's wall clock is ahead of the controller's
}

// startClockSync has the agent asked for its clock, so often, when it is its turn.
func (m *member) startClockSync(exchanges int) {
	if !m.clockSync.inFlight {
		m.clockSync = clockSyncing{wanted: exchanges, best: unknownOffset()}
	}
}

// syncClocks keeps some agents asked for their clocks, of those whose clocks are wanted, and
// asks again where an answer got lost.
func (r *fleetRun) syncClocks(now time.Time) {
	left := concurrentSyncsMax
	for _, m := range r.members {
		if m.clockSync.inFlight && !m.isDone() {
			left--
			if r.clock.readingAt(now)-m.clockQueriedAt > int64(resendDelay) {
				m.queryClock(r)
			}
		}
	}
	for _, m := range r.members {
		if left > 0 && m.clockSync.wanted > 0 && !m.clockSync.inFlight && !m.isDone() {
			m.clockSync.inFlight = true
			m.queryClock(r)
			left--
		}
	}
}

// queryClock asks for the agent's clock.
func (m *member) queryClock(r *fleetRun) {
	m.clockQueries++
	m.clockQueriedAt = r.clock.currentReading()
	r.publishCommand(m.name, wire.SyncClock, wire.ClockSync{RunRef: m.runRef(r),
		Number: m.clockQueries})
}

// receiveClockAnswer takes an answer, and asks again until it is enough.
func (m *member) receiveClockAnswer(r *fleetRun, s wire.ClockSync, now time.Time) {
	if s.Number != m.clockQueries || !m.clockSync.inFlight {
		return
	}
	at := r.clock.readingAt(now)
	m.slowestAnswer = max(m.slowestAnswer, at-m.clockQueriedAt)
	m.clockSync.best = m.clockSync.best.withExchange(m.clockQueriedAt, at, s)
	if m.clockSync.answers++; m.clockSync.answers < m.clockSync.wanted {
		m.queryClock(r)
		return
	}
	found := m.clockSync.best
	m.clockSync = clockSyncing{}
	if !r.armed {
		m.offset = found
	} else if found != unknownOffset() {
		m.drift = m.drift.withLaterOffset(m.offset, found)
	}
	r.syncClocks(now)
}
