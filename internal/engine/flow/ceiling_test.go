package flow

import (
	"testing"

	"dyno/internal/engine/loadplan"
)

// A share that a load takes over stays below the ceiling, and the probe beside a load has its part
// of it.
func TestCeilingStays(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Rate, p.OwnerLimit = loadplan.RatePerSecond(100), loadplan.RatePerSecond(150)
	f, now := New(&p, 0, 1), int64(0)
	f.LimitRate(&p, 1, &now)
	for _, after := range []int64{1e9, 0} { // before the instant of the change, and after it
		next := &Reshare{Plan: p, At: after}
		f.Next, f.Share = 0, nil
		f.TakeShare(next, 0, 1, now)
		if c, is := f.Schedule.(*ceiling); !is {
			t.Fatalf("the new share is below no ceiling: %T", f.Schedule)
		} else if _, twice := c.Schedule.(*ceiling); twice {
			t.Error("it is below two")
		}
	}
	p.Probe, p.Rate = loadplan.RatePerSecond(10), loadplan.RatePerSecond(90)
	if q := p.ProbePlan(); q.OwnerLimit != loadplan.RatePerSecond(20) {
		t.Errorf("the probe's ceiling is %v of %v", q.OwnerLimit, p.OwnerLimit)
	}
	if p.OwnerLimit = 0; p.ProbePlan().OwnerLimit != 0 {
		t.Error("the probe has a ceiling where the load has none")
	}
}

// Workers that share a low rate send no more than one request each at once, or eight together.
func TestCeilingOfManyThreads(t *testing.T) {
	for _, of := range []int{1, 2, 8, 64} {
		p := loadplan.DefaultPlan()
		p.Rate, p.OwnerLimit = loadplan.RatePerSecond(10), loadplan.RatePerSecond(10)
		all := 0
		for range of {
			f, now := Flow{Schedule: loadplan.ClosedSchedule{}}, int64(100e9)
			f.LimitRate(&p, of, &now)
			for f.HeldUntil <= now {
				f.CountAgainstCeiling()
				all++
			}
		}
		if most := max(of, CeilingLeast) + of; all < of || all > most {
			t.Errorf("%d workers send %d at once, at most %d", of, all, most)
		}
	}
}
