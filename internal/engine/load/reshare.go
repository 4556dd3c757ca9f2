package load

import (
	"sync"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// A Share replaces the plan's share of an open workload's arrivals from an instant on. When one of
// several generators has ended, the others make up for it. All that continue must get theirs for
// the same instant and with the same Weights, so that each arrival still belongs to one generator.
// A Share must be sent at least 100 ms before its instant, and the next one only after it.
type Share struct {
	After   time.Duration // the load's start, warm-up included
	Part    int
	Weights []int
}

// A reshare is a Share for workers: the plan with it, and its instant in ns after the start.
type reshare struct {
	plan loadplan.Plan
	at   int64
}

// followShares passes shares to the workers until the function that it returns is called.
func (r *run) followShares() (stop func()) {
	over := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case s := <-r.shares:
				next := &reshare{plan: r.plan, at: int64(s.After)}
				next.plan.Part, next.plan.Parts, next.plan.Weights = s.Part, len(s.Weights), s.Weights
				r.gate.share.Store(next)
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		group.Wait()
	}
}

// changeShare changes to another share. Arrivals due before its instant stay as they were.
func (w *worker) changeShare(s *reshare) {
	w.share = s
	if w.isClosed() {
		return
	}
	w.plan = &s.plan
	now, capped := w.schedule, (*ceiling)(nil)
	if c, is := now.(*ceiling); is { // the ceiling stays: it belongs to the machine, not to the share
		now, capped = c.Schedule, c
	}
	then := s.plan.ScheduleFrom(w.id, w.of, s.at)
	w.pacing = loadresult.NewPacing(w.plan, &w.totals.Law, w.of)
	change := func(to loadplan.Schedule) {
		if w.schedule = to; capped != nil {
			capped.Schedule, w.schedule = to, capped
		}
	}
	if w.next < s.at && !w.over {
		change(loadplan.ChangeAt(now, then, s.at))
		return
	}
	if w.now > w.start+s.at && !w.over {
		w.notices["a thread took over another share of the rate only after it was due: some "+
			"requests may have been sent twice"] = true
	}
	w.over = false // only the old share had nothing left before the end
	change(then)
	w.advanceArrival()
}
