package objective

import (
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// A Guard judges objectives during a run, and ends the run when one will certainly be missed. It is
// slow to decide. An objective is broken if everything measured since the window began misses it,
// and each of the last guardSeconds whole seconds misses it too. So one bad second does not end a
// run, and neither does a bad time that is long past. A number of errors only grows, so for it the
// whole alone decides. There must also be as many requests, iterations or checks as the value needs
// (see Objective.hasEnough), or as prove that it is missed. A broken objective ends the run, so it
// never recovers.
type Guard struct {
	objectives []Objective
	missed     []int // of each objective, consecutive seconds that missed it

	window time.Duration // 0: until all requests are sent
	checks []string      // names
	sum    loadresult.Tally

	scratch *metric.Histogram
	waiting pending
}

const (
	guardSeconds = 3
	guardCount   = 100 // values that any objective needs
	guardBeyond  = 10  // of them, those that must lie beyond a percentile
)

// NewGuard returns a guard of a run of p. It watches those objectives that can be judged each
// second: see Objective.Live.
func NewGuard(p loadplan.Plan, all []Objective) *Guard {
	g := &Guard{window: time.Duration(p.Duration), checks: p.Checks,
		scratch: metric.NewHistogram(metric.Fine)}
	for _, o := range all {
		if o.Live() {
			g.objectives = append(g.objectives, o)
		}
	}
	g.missed = make([]int, len(g.objectives))
	return g
}

// Second evaluates the next interval. It returns the objective that is broken, with its value since
// the window began and the time; nil if none is.
func (g *Guard) Second(iv loadresult.Interval) *result.Outcome {
	if g.window > 0 && iv.From >= g.window {
		return nil // after the window
	}
	g.sum.Add(iv, g.scratch)
	g.waiting.add(iv)
	if iv.To-iv.From < time.Second/2 {
		return nil
	}
	part, all := g.measured(iv), g.measured(g.sum.Interval)
	for i, o := range g.objectives {
		late := g.late(o)
		switch out := o.Judge(result.Provisional(beside(part, o, late))); {
		case o.kind == counts && o.op[0] == '<': // a number of errors only grows
			g.missed[i] = guardSeconds
		case out.Value == nil:
			continue // nothing completed: it decides nothing
		case !out.IsMissed():
			g.missed[i] = 0
			continue
		}
		if g.missed[i]++; g.missed[i] < guardSeconds {
			continue
		}
		sum := beside(all, o, late)
		if !o.hasEnough(all) && !o.proves(sum) {
			continue
		}
		if out := o.Judge(result.Provisional(sum)); out.Value != nil && out.IsMissed() {
			at := iv.To.Seconds()
			out.Aborted, out.Over = &at, late > 0 && *out.Value <= o.limit*longer*longer
			return &out
		}
	}
	return nil
}

// measured is what was measured in an interval.
func (g *Guard) measured(iv loadresult.Interval) result.Measured {
	m := result.Measured{Took: iv.To - iv.From, Latency: iv.Latency.Histogram(metric.Fine),
		Service:    iv.Served().Histogram(metric.Fine),
		Iterations: iv.IterationTime.Histogram(metric.Fine), Early: iv.Early,
		Requests: result.Requests{Sent: iv.Sent, Completed: iv.Completed, Errors: iv.Failed}}
	for i, name := range g.checks {
		c := result.CheckCount{Name: name}
		if i < len(iv.Checks) {
			c.Passed, c.Failed = iv.Checks[i].Passed, iv.Checks[i].Failed
		}
		m.Checks = append(m.Checks, c)
	}
	return m
}

// Live reports whether the objective can be judged each second. This holds for latency, service
// time, errors, rps, the time of completed iterations and checks. All others are known only at the
// end.
func (o Objective) Live() bool { return o.live }

// hasEnough reports whether what was measured is enough to judge the objective's value.
func (o Objective) hasEnough(m result.Measured) bool {
	if o.kind == rates {
		return true
	}
	begun, done := m.Requests.Sent, m.Requests.Completed
	switch o.whose {
	case "iteration":
		begun, done = m.Iterations.Count, m.Iterations.Count
	case "checks":
		begun = 0
		for _, c := range m.Checks {
			if o.name == o.whose || o.name == o.whose+"."+c.Name {
				begun += c.Passed + c.Failed
			}
		}
	}
	return begun >= guardCount && (o.percent == 0 || float64(done)*(1-o.percent/100) >= guardBeyond)
}
