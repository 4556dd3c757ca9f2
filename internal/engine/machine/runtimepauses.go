package machine

import (
	"math"
	"runtime/metrics"
	"time"
)

// The Go runtime's metrics of what held this process up: how long runnable goroutines waited until
// they ran, and how long all goroutines were stopped, for garbage collection or otherwise.
const (
	waitsOfGoroutines = "/sched/latencies:seconds"
	pausesForGC       = "/sched/pauses/total/gc:seconds"
	pausesForOther    = "/sched/pauses/total/other:seconds"
)

// A RuntimePauses is the value of these metrics at an instant.
type RuntimePauses [3]*metrics.Float64Histogram

// ReadRuntimePauses reads the metrics. It allocates; the first call takes milliseconds.
func ReadRuntimePauses() (s RuntimePauses) {
	samples := []metrics.Sample{{Name: waitsOfGoroutines}, {Name: pausesForGC}, {Name: pausesForOther}}
	metrics.Read(samples)
	for i, m := range samples {
		if m.Value.Kind() == metrics.KindFloat64Histogram {
			s[i] = m.Value.Float64Histogram()
		}
	}
	return s
}

// GrowthSince is what was added since from: the p99 of the waits of goroutines, and the longest
// stop. Both are upper bounds of the runtime's buckets.
func (s RuntimePauses) GrowthSince(from RuntimePauses) (wait99, longest time.Duration) {
	wait99 = grownQuantile(from[0], s[0], 0.99)
	return wait99, max(grownQuantile(from[1], s[1], 1), grownQuantile(from[2], s[2], 1))
}

// grownQuantile is the q-quantile of what was added between from and to; 0 if nothing was.
func grownQuantile(from, to *metrics.Float64Histogram, q float64) time.Duration {
	if from == nil || to == nil || len(from.Counts) != len(to.Counts) {
		return 0
	}
	var all, below uint64
	for i, n := range to.Counts {
		all += n - from.Counts[i]
	}
	rank := uint64(math.Ceil(q * float64(all)))
	for i, n := range to.Counts {
		if below += n - from.Counts[i]; below >= rank && all > 0 {
			bound := to.Buckets[i+1]
			if math.IsInf(bound, 1) {
				bound = to.Buckets[i]
			}
			return time.Duration(bound * 1e9)
		}
	}
	return 0
}
