package flow

import (
	"math"

	"dyno/internal/engine/loadplan"
)

// A ceiling keeps the requests that a worker sends below a rate. Retries count, and so does what
// became due during a stall. It wraps the worker's schedule: of a closed workload only with a Cap.
type ceiling struct {
	loadplan.Schedule
	of    *Flow
	clock *int64 // of the worker
	gap   int64  // ns between requests at that rate, rounded up
	slack int64  // ns that requests may be ahead of it
	ahead int64  // when the next request would be sent if none had been sent ahead of the rate
	held  bool   // at least one request was held back
}

// A worker may send five percent more than its share of the rate, so that it catches up after a
// stall. It may send at once as many requests as are due in ceilingSlack, because Poisson arrivals
// are uneven. So a second has at most a tenth more requests than the rate. At low rates all workers
// together may send CeilingLeast requests at once, or one each if there are more workers than that.
const (
	ceilingAbove = 105         // percent of the rate
	ceilingSlack = int64(45e6) // ns
	capSlack     = int64(5e6)  // ns, likewise of a Cap, which nothing is above
	CeilingLeast = 8
)

// LimitRate limits f to one of n workers' share of the plan's ceiling or cap, if it has one. clock
// is the worker's.
func (f *Flow) LimitRate(p *loadplan.Plan, n int, clock *int64) {
	most := max(p.OwnerLimit.PerSecond()*ceilingAbove/100, p.Cap.PerSecond())
	if most <= 0 {
		return
	}
	gap, slack := int64(math.Ceil(1e9*float64(n)/most)), capSlack
	if p.Cap == 0 {
		slack = max(ceilingSlack, gap*int64(max(CeilingLeast/n, 1)))
	}
	f.Schedule = &ceiling{Schedule: f.Schedule, of: f, clock: clock, gap: gap, slack: slack}
}

// Next counts the arrival that is sent, and returns the next one.
func (s *ceiling) Next() (int64, bool) {
	s.countAgainst()
	return s.Schedule.Next()
}

// countAgainst counts a request, and holds the flow until the next one is below the ceiling.
func (s *ceiling) countAgainst() {
	f, now := s.of, *s.clock
	f.Released, s.ahead = f.HeldUntil, max(s.ahead, now)+s.gap
	if until := s.ahead - s.slack; until > now {
		f.HeldUntil = max(f.HeldUntil, until)
		s.held = true
	}
}

// WasHeld reports whether the ceiling held requests back.
func (f *Flow) WasHeld() bool {
	c, is := f.Schedule.(*ceiling)
	return is && c.held
}

// CountAgainstCeiling counts a request for which the schedule was not asked.
func (f *Flow) CountAgainstCeiling() {
	if c, is := f.Schedule.(*ceiling); is {
		c.countAgainst()
	}
}
