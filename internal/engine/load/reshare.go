package load

import (
	"sync"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
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

// followShares passes shares to the workers until the function that it returns is called.
func (r *run) followShares() (stop func()) {
	over := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case s := <-r.shares:
				next := &flow.Reshare{Plan: r.plan, At: int64(s.After)}
				next.Plan.Part, next.Plan.Parts, next.Plan.Weights = s.Part, len(s.Weights), s.Weights
				r.gate.Share.Store(next)
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
func (w *worker) changeShare(s *flow.Reshare) {
	if w.IsClosed() {
		w.Share = s
		return
	}
	w.plan = &s.Plan
	w.pacing = loadresult.NewPacing(w.plan, &w.totals.Law, w.of)
	if late := w.TakeShare(s, w.id, w.of, w.now-w.Start); late {
		w.notices[fact.ShareLate{}] = true
	}
}
