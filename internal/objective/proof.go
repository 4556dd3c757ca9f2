package objective

import (
	"math"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// A collapsed server gives few answers, and no percentile that takes many. What it gives can prove
// all the same that an objective is missed: so many values lie beyond its limit, or requests have
// waited for longer than that, that chance does not explain it.

// proofNats is how surprising what was counted must be, as the exponent of a bound of its
// probability (Chernoff): e⁻⁹ is 0.01 %. Each of the last guardSeconds seconds must miss, besides.
const proofNats = 9

// isProven reports whether k of n values show that more than a share of them lies beyond a limit.
func isProven(k, n int64, share float64) bool {
	is := float64(k) / float64(max(n, 1))
	if k < guardBeyond || is <= share {
		return false
	}
	nats := is * math.Log(is/share)
	if is < 1 {
		nats += (1 - is) * math.Log((1-is)/(1-share))
	}
	return float64(n)*nats >= proofNats
}

// proves reports whether what was measured proves that the objective is missed.
func (o Objective) proves(m result.Measured) bool {
	if !o.IsUpperBound() {
		return false
	}
	if o.OfErrors() && o.kind == shares {
		n := m.Requests.Completed + m.Requests.Errors
		return isProven(m.Requests.Errors, n, o.limit/100)
	}
	h := map[string]*metric.Histogram{"latency": m.Latency, "service": m.Service,
		"iteration": m.Iterations}[o.whose]
	return h != nil && o.percent > 0 &&
		isProven(countAbove(h, o.limit), h.Count, 1-o.percent/100)
}

// countAbove is how many values of a histogram of ns are above a limit in µs.
func countAbove(h *metric.Histogram, limit float64) (n int64) {
	for ns, count := range h.ToSparse().ValueCounts() {
		if float64(ns) > 1e3*limit {
			n += count
		}
	}
	return n
}

// A pending knows how many requests were sent and answered by the end of each interval.
type pending struct {
	ends []time.Duration
	sent []int64 // of the window, by each end
	done int64   // of these, those that were answered or failed
}

func (p *pending) add(iv loadresult.Interval) {
	sent := iv.Sent
	if n := len(p.sent); n > 0 {
		sent += p.sent[n-1]
	}
	p.ends, p.sent = append(p.ends, iv.To), append(p.sent, sent)
	p.done += iv.Completed + iv.Failed
}

// longerThan is how many requests have waited for longer than us, at least: of those that were sent
// so long ago as many as were not answered by now, were it they that were answered.
func (p *pending) longerThan(us float64) int64 {
	last := len(p.ends) - 1
	for i := last; i >= 0; i-- {
		if float64(p.ends[last]-p.ends[i])/1e3 >= us {
			return max(p.sent[i]-p.done, 0)
		}
	}
	return 0
}

// late is how many requests have waited for longer than the limit of an objective of latency.
func (g *Guard) late(o Objective) int64 {
	if _, of, is := o.Bounded(); !is || of != "latency" || !o.IsUpperBound() {
		return 0
	}
	return g.waiting.longerThan(o.limit)
}

// beside is m with so many more requests that took longer than the limit of an objective.
func beside(m result.Measured, o Objective, late int64) result.Measured {
	if late > 0 {
		all := metric.NewHistogram(metric.Fine)
		all.Merge(m.Latency)
		all.RecordMany(int64(o.limit*1e3*longer), late)
		m.Latency = all
	}
	return m
}

// longer is a factor that a histogram tells from 1.
const longer = 1.01
