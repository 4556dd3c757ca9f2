package load

import (
	"math"

	"dyno/internal/engine/loadplan"
)

// A ceiling keeps the requests that a worker sends below a rate. Retries count, and so does what
// became due during a stall. It wraps the worker's schedule: of a closed workload only with a Cap.
type ceiling struct {
	loadplan.Schedule
	flow  *flow
	clock *int64 // of the worker
	gap   int64  // ns between requests at that rate, rounded up
	slack int64  // ns that requests may be ahead of it
	next  int64  // when the next request would be sent if none had been sent ahead of the rate
	held  bool   // at least one request was held back
}

// A worker may send five percent more than its share of the rate, so that it catches up after a
// stall. It may send at once as many requests as are due in ceilingSlack, because Poisson arrivals
// are uneven. So a second has at most a tenth more requests than the rate. At low rates all workers
// together may send ceilingLeast requests at once, or one each if there are more workers than that.
const (
	ceilingAbove = 105         // percent of the rate
	ceilingSlack = int64(45e6) // ns
	capSlack     = int64(5e6)  // ns, likewise of a Cap, which nothing is above
	ceilingLeast = 8
)

// withCeiling returns s limited to this worker's share of the plan's ceiling or cap, if it has one.
func (w *worker) withCeiling(s loadplan.Schedule) loadplan.Schedule {
	most := max(w.plan.Ceiling.PerSecond()*ceilingAbove/100, w.plan.Cap.PerSecond())
	if most <= 0 {
		return s
	}
	gap, slack := int64(math.Ceil(1e9*float64(w.of)/most)), capSlack
	if w.plan.Cap == 0 {
		slack = max(ceilingSlack, gap*int64(max(ceilingLeast/w.of, 1)))
	}
	return &ceiling{Schedule: s, flow: &w.flow, clock: &w.now, gap: gap, slack: slack}
}

// Next counts the arrival that is sent, and returns the next one.
func (s *ceiling) Next() (int64, bool) {
	s.countAgainst()
	return s.Schedule.Next()
}

// countAgainst counts a request, and holds the flow until the next one is below the ceiling.
func (s *ceiling) countAgainst() {
	f, now := s.flow, *s.clock
	f.released, s.next = f.heldUntil, max(s.next, now)+s.gap
	if until := s.next - s.slack; until > now {
		f.heldUntil = max(f.heldUntil, until)
		s.held = true
	}
}

// noteCeiling adds a notice if the ceiling held requests back.
func (w *worker) noteCeiling() {
	if s, is := w.schedule.(*ceiling); is && s.held && w.plan.Cap == 0 {
		w.notices["some of what was late or to be sent again waited, for the machine's owner allows "+
			w.plan.Ceiling.String()+" requests a second"] = true
	}
}
