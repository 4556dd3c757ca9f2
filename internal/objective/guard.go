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
// whole alone decides. There must also be as many requests as the value needs (see
// Objective.hasEnough). A broken objective ends the run, so it never recovers.
type Guard struct {
	objectives []Objective
	missed     []int // of each objective, consecutive seconds that missed it

	window  time.Duration // 0: until all requests are sent
	sum     result.Requests
	latency *metric.Histogram
	service *metric.Histogram
}

const (
	guardSeconds = 3
	guardCount   = 100 // requests that any value needs
	guardBeyond  = 10  // requests that must lie beyond a percentile
)

// NewGuard returns a guard of a run of p. It watches those objectives that can be judged each
// second: see Objective.Live.
func NewGuard(p loadplan.Plan, all []Objective) *Guard {
	g := &Guard{window: time.Duration(p.Duration), latency: metric.NewHistogram(metric.Fine),
		service: metric.NewHistogram(metric.Fine)}
	for _, o := range all {
		if o.Live() {
			g.objectives = append(g.objectives, o)
		}
	}
	g.missed = make([]int, len(g.objectives))
	return g
}

// Second evaluates the next interval. It returns the objective that is broken, with its value since
// the window began and the time; nil if none is. An error means that a histogram could not be
// encoded, a fault of dyno.
func (g *Guard) Second(iv loadresult.Interval) (*result.Outcome, error) {
	if g.window > 0 && iv.From >= g.window {
		return nil, nil // after the window
	}
	part := result.Requests{Sent: iv.Sent, Completed: iv.Completed, Errors: iv.Failed}
	g.sum.Add(part)
	g.latency.MergeSparse(iv.Latency)
	g.service.MergeSparse(iv.Served())
	if iv.To-iv.From < time.Second/2 {
		return nil, nil
	}
	latency, service := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	latency.MergeSparse(iv.Latency)
	service.MergeSparse(iv.Served())
	now, err := result.Provisional(part, latency, service, iv.To-iv.From)
	if err != nil {
		return nil, err
	}
	var whole *result.Result
	for i, o := range g.objectives {
		switch out := o.Judge(now); {
		case o.kind == counts && o.op[0] == '<': // a number of errors only grows
			g.missed[i] = guardSeconds
		case out.Value == nil:
			continue // nothing completed: it decides nothing
		case out.Met:
			g.missed[i] = 0
			continue
		}
		if g.missed[i]++; g.missed[i] < guardSeconds || !o.hasEnough(g.sum) {
			continue
		}
		if whole == nil {
			if whole, err = result.Provisional(g.sum, g.latency, g.service, iv.To); err != nil {
				return nil, err
			}
		}
		if out := o.Judge(whole); out.Value != nil && !out.Met {
			at := iv.To.Seconds()
			out.Aborted = &at
			return &out, nil
		}
	}
	return nil, nil
}

// Live reports whether the objective can be judged each second. This holds for latency, service
// time, errors and rps. All others are known only at the end.
func (o Objective) Live() bool { return o.live }

// hasEnough reports whether that many requests are enough to judge the objective's value.
func (o Objective) hasEnough(q result.Requests) bool {
	if o.kind == rates {
		return true
	}
	quantile, is := o.Quantile()
	beyond := float64(q.Completed) * (1 - quantile)
	return q.Sent >= guardCount && (!is || beyond >= guardBeyond)
}
