package fleet

import (
	"time"

	"dyno/internal/fleet/wire"
)

// Queries in one measurement of a clock, before the start and during the load, and time between
// measurements during the load. The quickest answer counts, because it waited least on its way.
const (
	startSyncs   = 32
	laterSyncs   = 8
	syncInterval = 30 * time.Second
)

// How many agents are queried at a time, so that answers do not queue behind each other, and how
// much one more agent adds to the time limit of all: far more than it takes.
const (
	concurrentSyncsMax = 16
	syncTimePerAgent   = 20 * time.Millisecond
)

// A clockSyncing is a measurement of an agent's clock by several queries. The zero value is none.
type clockSyncing struct {
	wanted, answers int  // queries to make, and answers so far
	inFlight        bool // a query was sent and not answered
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

// startClockSync requests a measurement of the agent's clock, unless one is going on.
func (m *member) startClockSync(exchanges int) {
	if !m.clockSync.inFlight {
		m.clockSync = clockSyncing{wanted: exchanges, best: unknownOffset()}
	}
}

// syncClocks keeps up to concurrentSyncsMax measurements going on, and repeats queries whose
// answer is lost.
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

// queryClock sends a query for the agent's clock.
func (m *member) queryClock(r *fleetRun) {
	m.clockQueries++
	m.clockQueriedAt = r.clock.currentReading()
	r.publishCommand(m.name, wire.SyncClock, wire.ClockSync{RunRef: m.runRef(r),
		Number: m.clockQueries})
}

// receiveClockAnswer uses an answer, and sends the next query until there are enough.
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
