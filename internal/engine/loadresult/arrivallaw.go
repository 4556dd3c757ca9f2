package loadresult

import (
	"math"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
)

// A Law compares the instants at which requests could leave with the distribution of arrivals that
// was asked for. It judges the generator: a request that waited for a connection counts with the
// instant at which it could have left.
//
// It measures spans of many arrivals where these are dense, each at least lawSpan long. Shorter
// spans show only how a sleeping thread wakes up: it sends at once two requests that were due 20 µs
// apart, which no server can distinguish from its own scheduling.
type Law struct {
	// Off is by what share of itself a span between arrivals of a constant law was too
	// long or too short, in millionths. Empty for others.
	Off *metric.Histogram

	// Of a Poisson law at a constant rate: how many spans had which probability of
	// being no longer, in equal parts. If the law holds they are as many in each.
	Bins  [lawBins]int64
	Spans int64
}

const (
	lawBins   = 256
	lawSpan   = 1e6 // ns
	lawSpanOf = 500 // arrivals, at most
	noSpan    = math.MaxInt64
)

func newLaw() Law { return Law{Off: metric.NewHistogram(metric.Coarse)} }

func (l *Law) addSpans(from *Law) {
	l.Off.Merge(from.Off)
	l.Spans += from.Spans
	for i, n := range from.Bins {
		l.Bins[i] += n
	}
}

// AndersonDarling is the statistic A² of all spans against a Poisson process, and the number of
// spans. If arrivals are Poisson, A² exceeds 2.49 in 5 % of cases and 6.0 in 0.1 %, however many
// spans there are. If not, A² grows with their number.
func (l *Law) AndersonDarling() (a2 float64, spans int64) {
	if l.Spans == 0 {
		return 0, 0
	}
	below := int64(0)
	for i, n := range l.Bins {
		u := (float64(i) + 0.5) / lawBins
		off := (float64(below)+float64(n)/2)/float64(l.Spans) - u
		a2 += off * off / (u * (1 - u)) / lawBins
		below += n
	}
	return a2 * float64(l.Spans), l.Spans
}

// A Pacing is the state that a worker needs to record a Law.
type Pacing struct {
	law       *Law
	every     int64 // arrivals in a span
	left      int64 // arrivals until the end of the span
	mean      float64
	poisson   bool
	last, due int64 // of the last span's end; noSpan: there is none
}

// NewPacing is the pacing of one of n workers of an open workload, which records in law.
func NewPacing(p *loadplan.Plan, law *Law, n int) Pacing {
	rate := p.Offered().PerSecond() / float64(n) / 1e9
	poisson := p.Arrival == loadplan.Poisson
	if rate <= 0 || poisson && len(p.Stages) > 0 || p.Replay > 0 {
		return Pacing{left: math.MaxInt64}
	}
	every := min(max(int64(math.Ceil(rate*lawSpan)), 1), lawSpanOf)
	return Pacing{law: law, every: every, left: 1, mean: 1 / rate, poisson: poisson, last: noSpan}
}

// RecordSpan notes that the request that was due at due could leave at at, both in ns on one clock.
// Requests must be given in the order in which they were due.
func (p *Pacing) RecordSpan(due, at int64) {
	if p.left--; p.left > 0 {
		return
	}
	p.left = p.every
	span, meant := at-p.last, due-p.due
	first := p.last == noSpan
	p.last, p.due = at, due
	switch {
	case first:
	case p.poisson:
		u := erlangCDF(p.every, float64(span)/p.mean)
		p.law.Bins[min(max(int(u*lawBins), 0), lawBins-1)]++
		p.law.Spans++
	case meant > 0:
		p.law.Off.Record(int64(math.Abs(float64(span-meant)) / float64(meant) * 1e6))
	}
}

// erlangCDF is the probability that k arrivals of a Poisson process, at most lawSpanOf, take no
// longer than x mean gaps.
func erlangCDF(k int64, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x > lawSpanOf+200: // 9 standard deviations above, and soon too large to compute
		return 1
	}
	term, sum := 1.0, 1.0
	for i := int64(1); i < k; i++ {
		term *= x / float64(i)
		sum += term
	}
	return 1 - math.Exp(-x)*sum
}
