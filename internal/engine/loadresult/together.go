package loadresult

import (
	"maps"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/metric"
)

// Limits of what Together keeps while one generator is behind: intervals, and bytes of what they
// measured. A generator that is silent or sends nonsense must not fill the memory.
const (
	pendingMost  = 64
	pendingBytes = 32 << 20
)

// Together returns a function that takes the intervals of n generators that load at once, and calls
// each with their sum, in order, once every generator that still measures has sent its part. Each
// generator's intervals must be given in order, and nil when it has ended. If one is more than 64
// intervals behind, or 32 MiB wait for it, the oldest sum is passed on without it. Its late part is
// then dropped.
func Together(n int, each func(Interval)) func(from int, iv *Interval) {
	done := make([]int, n) // intervals measured by each generator; all, once it has ended
	pending := map[int][]Interval{}
	next, bytes := 0, 0
	show := func() {
		for i := range pending[next] {
			bytes -= pending[next][i].memorySize()
		}
		each(Sum(pending[next]))
		delete(pending, next)
		next++
	}
	return func(from int, iv *Interval) {
		switch {
		case iv == nil:
			done[from] = math.MaxInt
		case iv.Index >= next:
			done[from] = iv.Index + 1
			pending[iv.Index] = append(pending[iv.Index], *iv)
			bytes += iv.memorySize()
		}
		for next < slices.Min(done) && pending[next] != nil {
			show()
		}
		for len(pending) > pendingMost || bytes > pendingBytes {
			next = slices.Min(slices.Collect(maps.Keys(pending)))
			show()
		}
	}
}

// memorySize is roughly how many bytes of memory an interval takes.
func (iv *Interval) memorySize() int {
	const each = 128 // bytes of each entry of a map or slice, roughly
	n := iv.Latency.MemorySize() + iv.Service.MemorySize() + iv.ErrorLatency.MemorySize() +
		iv.IterationTime.MemorySize() + 16*len(iv.Checks) +
		each*(1+len(iv.Failures)+len(iv.Status)) + 16*len(iv.Heat)
	for _, f := range iv.Failures {
		n += len(f.Phase) + len(f.Kind) + len(f.Address) + len(f.Detail)
	}
	return n
}

// Sum adds up the intervals of several generators. Its percentiles are those of all requests that
// they completed.
func Sum(parts []Interval) Interval {
	sum := parts[0]
	if len(parts) == 1 {
		return sum
	}
	sum.Status, sum.Checks = nil, slices.Clone(parts[0].Checks)
	sum.addStatuses(parts[0])
	latency, service := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	errors, iterations := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	latency.MergeSparse(sum.Latency)
	service.MergeSparse(sum.Served())
	errors.MergeSparse(sum.ErrorLatency)
	iterations.MergeSparse(sum.IterationTime)
	differ := sum.Service.Count > 0
	for _, part := range parts[1:] {
		sum.Add(part)
		latency.MergeSparse(part.Latency)
		service.MergeSparse(part.Served())
		errors.MergeSparse(part.ErrorLatency)
		iterations.MergeSparse(part.IterationTime)
		differ = differ || part.Service.Count > 0
	}
	if sum.Latency = latency.ToSparse(); differ {
		sum.Service = service.ToSparse()
	}
	sum.ErrorLatency, sum.IterationTime = errors.ToSparse(), iterations.ToSparse()
	sum.MeasureFrom(sum.Latency)
	return sum
}

// Served is the service time of completed requests, also where it equals latency.
func (iv *Interval) Served() metric.Sparse {
	if iv.Service.Count == 0 {
		return iv.Latency
	}
	return iv.Service
}

// MeasureFrom sets what an interval shows of its latencies: mean, percentiles, maximum and Heat.
func (iv *Interval) MeasureFrom(latency metric.Sparse) {
	iv.Mean, iv.P50, iv.P99, iv.Max, iv.Heat = 0, 0, 0, 0, nil
	if latency.Count == 0 {
		return
	}
	iv.Mean, iv.Max = time.Duration(latency.Mean()), time.Duration(latency.Max)
	iv.P50, iv.P99 = time.Duration(latency.Quantile(0.5)), time.Duration(latency.Quantile(0.99))
	iv.Heat = latency.ToHeat()
}

// Measure sets what an interval shows of its latencies from Latency, for one that came from another
// process.
func (iv *Interval) Measure() { iv.MeasureFrom(iv.Latency) }

// Add adds the counts of another interval. It does not merge distributions: see Sum.
func (iv *Interval) Add(part Interval) {
	iv.From, iv.To = min(iv.From, part.From), max(iv.To, part.To)
	iv.Sent += part.Sent
	iv.Completed += part.Completed
	iv.Failed += part.Failed
	iv.InFlight += part.InFlight
	iv.AddEarly(part.EarlyCounts)
	iv.Iterations += part.Iterations
	iv.IterationsFailed += part.IterationsFailed
	iv.Checks = metric.AddOutcomes(iv.Checks, part.Checks)
	iv.Received += part.Received
	iv.Written += part.Written
	iv.Bodies += part.Bodies
	iv.addStatuses(part)
	iv.Failures = mergeFailures(iv.Failures, part.Failures)
	iv.Busy, iv.LagMax = max(iv.Busy, part.Busy), max(iv.LagMax, part.LagMax)
}

func (iv *Interval) addStatuses(part Interval) {
	for code, n := range part.Status {
		if iv.Status == nil {
			iv.Status = map[uint16]int64{}
		}
		iv.Status[code] += n
	}
}
