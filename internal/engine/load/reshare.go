package load

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"
	"time"
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

// RunShared is RunTogether of a load whose share can change. A closed workload, and one with a
// number of requests, ignores shares.
func RunShared(ctx context.Context, p Plan, meet Barrier, shares <-chan Share,
	each func(Interval)) (*Result, error) {
	return runTogether(ctx, p, meet, shares, each)
}

// A reshare is a Share for workers: the plan with it, and its instant in ns after the start.
type reshare struct {
	plan Plan
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
	then := s.plan.scheduleFrom(w.id, w.of, s.at)
	w.pacing = newPacing(w.plan, &w.totals.Law, w.of)
	change := func(to Schedule) {
		if w.schedule = to; capped != nil {
			capped.Schedule, w.schedule = to, capped
		}
	}
	if w.next < s.at && !w.over {
		change(&changing{now, then, s.at})
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

// A changing is one schedule until an instant, and another one afterwards.
type changing struct {
	until, then Schedule
	at          int64
}

func (s *changing) Next() (int64, bool) {
	if s.until != nil {
		if due, ok := s.until.Next(); ok && due < s.at {
			return due, true
		}
		s.until = nil
	}
	return s.then.Next()
}

// Left adds up what is left of both schedules.
func (s *changing) Left(from, till int64) (n int64) {
	if s.until != nil {
		n = s.until.Left(from, min(till, s.at))
	}
	return n + s.then.Left(from, till)
}

// scheduleFrom is the schedule of worker i of n without the arrivals due before an instant.
func (p *Plan) scheduleFrom(i, n int, at int64) Schedule {
	s := p.newSchedule(i, n)
	switch s := s.(type) {
	case *even:
		s.skipUntil(at)
	case *poisson:
		stream, _ := p.streamIndex(i, n) // arrivals without memory begin anew
		s.at, s.coin = s.along.countBy(at), rand.New(rand.NewPCG(p.Seed^uint64(at), uint64(stream)))
	}
	return s
}

// skipUntil leaves out the arrivals due before an instant.
func (s *even) skipUntil(at int64) {
	j, own := s.firstFrom(at), uint64(len(s.slots))
	s.begun, s.next = j/own*s.period, int(j%own)
}

// countBy is how many arrivals are due by an instant.
func (p profile) countBy(at int64) count {
	i := 0
	for i+1 < len(p) && at >= p[i+1].begin {
		i++
	}
	s := p[i]
	into := uint64(max(min(at-s.begin, s.length), 0))
	hi, lo := bits.Mul64(2*s.from, into)
	sum := s.before.plus(lo)
	sum.hi += hi
	if s.from == s.to {
		return sum
	}
	slope := (float64(s.to) - float64(s.from)) / float64(s.length)
	change := slope * float64(into) * float64(into) // twice the integral, as counts are
	part := countFromFloat(math.Abs(change))
	if change < 0 {
		return sum.minus(part)
	}
	sum.hi += part.hi
	return sum.plus(part.lo)
}

// countFromFloat is the count nearest to f, which is not below 0.
func countFromFloat(f float64) count {
	hi := math.Floor(f / (1 << 64))
	return count{uint64(hi), uint64(f - hi*(1<<64))}
}
