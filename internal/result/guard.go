package result

import (
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
)

// A Guard judges objectives while a run is under way, so that one which will be
// missed ends it. It is slow to condemn. An objective is broken when all that was
// measured since the window began misses it, and each of the last guardSeconds whole
// seconds by itself does too: so neither one bad second ends a run, nor the memory of
// one that is long past. A number of errors only grows, so the whole alone condemns it.
// Before that, there must be as many exchanges as its value takes (see
// Objective.enough). What is broken never comes back, for the run is over.
type Guard struct {
	objectives []Objective
	missed     []int // seconds in a row, of each

	window  time.Duration // 0: until all is sent
	sum     Requests
	latency *metric.Histogram
	service *metric.Histogram
}

const (
	guardSeconds = 3
	guardCount   = 100 // exchanges that any value takes
	guardBeyond  = 10  // that lie beyond a percentile, for it to be one
)

// NewGuard watches a run of p for those of all objectives that can be judged second
// by second: see Objective.Live.
func NewGuard(p load.Plan, all []Objective) *Guard {
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

// Second takes the next interval, and returns the objective that is broken with the
// value that it has since the window began, and when; nil if none is. An error is
// that of a histogram that cannot be encoded, a fault of dyno.
func (g *Guard) Second(iv load.Interval) (*Outcome, error) {
	if g.window > 0 && iv.From >= g.window {
		return nil, nil // nothing is due any more
	}
	part := Requests{Sent: iv.Sent, Completed: iv.Completed, Errors: iv.Failed}
	g.sum.addPart(part)
	g.latency.AddSparse(iv.Latency)
	g.service.AddSparse(iv.Served())
	if iv.To-iv.From < time.Second/2 {
		return nil, nil
	}
	latency, service := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	latency.AddSparse(iv.Latency)
	service.AddSparse(iv.Served())
	now, err := provisionalResult(part, latency, service, iv.To-iv.From)
	if err != nil {
		return nil, err
	}
	var whole *Result
	for i, o := range g.objectives {
		switch out := o.Judge(now); {
		case o.kind == counts && o.op[0] == '<': // a number of errors only grows
			g.missed[i] = guardSeconds
		case out.Value == nil:
			continue // nothing completed: it says nothing
		case out.Met:
			g.missed[i] = 0
			continue
		}
		if g.missed[i]++; g.missed[i] < guardSeconds || !o.hasEnough(g.sum) {
			continue
		}
		if whole == nil {
			if whole, err = provisionalResult(g.sum, g.latency, g.service, iv.To); err != nil {
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

// provisionalResult is as much of a result as objectives need, of what a time brought.
func provisionalResult(q Requests, latency, service *metric.Histogram, took time.Duration) (*Result,
	error) {
	r := &Result{Requests: q, Rate: Rate{Completed: perSecond(q.Completed, took)}}
	if latency.Count == 0 {
		return r, nil
	}
	var err error
	if r.Latency, err = newDistribution(latency); err == nil {
		r.Service, err = newDistribution(service)
	}
	return r, err
}

// Live reports whether the objective can be judged second by second: it is one of
// latency, service time, errors or rps. What else there is is known only at the end.
func (o Objective) Live() bool { return o.live }

// hasEnough reports whether so many exchanges have a value that is worth judging by.
func (o Objective) hasEnough(q Requests) bool {
	if o.kind == rates {
		return true
	}
	quantile, is := o.Quantile()
	beyond := float64(q.Completed) * (1 - quantile)
	return q.Sent >= guardCount && (!is || beyond >= guardBeyond)
}
