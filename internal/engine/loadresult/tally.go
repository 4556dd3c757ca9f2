package loadresult

import (
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
)

// A Tally is the sum of the intervals of one generator, distributions included. These are sparse:
// full histograms of a thousand generators would take a gigabyte.
type Tally struct {
	Interval
	Count int64 // of intervals
	Next  int   // the lowest index that the next interval may have
}

// Add adds an interval. h is scratch space.
func (t *Tally) Add(iv Interval, h *metric.Histogram) {
	t.Count, t.Next = t.Count+1, iv.Index+1
	if t.Service.Count > 0 || iv.Service.Count > 0 {
		t.Service = h.SumOf(t.Served(), iv.Served())
	}
	t.Latency = h.SumOf(t.Latency, iv.Latency)
	t.ErrorLatency = h.SumOf(t.ErrorLatency, iv.ErrorLatency)
	t.IterationTime = h.SumOf(t.IterationTime, iv.IterationTime)
	t.Stream = metric.AddStreams(t.Stream, iv.Stream)
	t.Interval.Add(iv)
	t.Failures = Fewer(t.Failures, ReportedKinds)
}

// counters are what was counted in all intervals.
func (t *Tally) counters() *metric.Counters {
	c := &metric.Counters{Sent: t.Sent, Completed: t.Completed, Failed: t.Failed,
		EarlyCounts: t.EarlyCounts, GoodCounts: t.GoodCounts,
		Iterations: t.Iterations, IterationsFailed: t.IterationsFailed,
		Received: t.Received, Written: t.Written, Bodies: t.Bodies, Checks: t.Checks,
		Latency: t.Latency.Histogram(metric.Fine), Service: t.Service.Histogram(metric.Fine),
		ErrorLatency:  t.ErrorLatency.Histogram(metric.Fine),
		IterationTime: t.IterationTime.Histogram(metric.Fine), Stream: t.Stream.Streams()}
	for code, n := range t.Status {
		if int(code) < metric.Statuses {
			c.Status[code] = n
		}
	}
	return c
}

// Partial is the result of a generator of which only the intervals are known, which had a plan: of
// requests in flight, connections, threads and iterations that did not end it knows nothing.
func (t *Tally) Partial(p loadplan.Plan) *Result {
	r := &Result{Plan: p, Generators: Generators{Partial: true}, Ended: Lost,
		Warmed: time.Duration(p.Warmup), Measured: t.To}
	if d := time.Duration(p.Duration); d > 0 {
		r.Measured = min(t.To, d)
	}
	r.Unfinished, r.Failures = max(t.Sent-t.Completed-t.Failed, 0), t.Failures
	if !p.CountsIterations() && len(p.Checks) > 0 {
		r.Scenario = NewScenarioTotals(nil)
	}
	return r
}

// setIntervals sets what r lacks, whose generator told it once a second.
func (r *Result) setIntervals(t *Tally) {
	r.Total = t.counters()
	if r.Scenario != nil {
		r.Scenario.setIntervals(&r.Plan, t)
	}
	if r.Probe != nil {
		r.Probe.Plan = r.Plan.ProbePlan()
	}
}
