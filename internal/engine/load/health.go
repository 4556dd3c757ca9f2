package load

import (
	"maps"
	"slices"
	"time"

	"dyno/internal/engine/loadresult"
)

// A health is what a worker reports of an interval besides its counters: what failed, and how busy
// and late the worker itself was.
type health struct {
	failures failures
	busy     float64 // share of the time in which there was something to do
	lag      int64   // open workload: the longest send lag; ns
}

// takeHealth returns the health since its last call, and begins anew. The caller owns the failures
// (nil if there are none); the account continues with an empty map. idle is the worker's idle time
// in ns since the run began.
func (a *account) takeHealth(now, idle int64) health {
	h := health{busy: a.meter.busySince(now, idle), lag: a.lag}
	a.lag = 0
	if len(a.errors) > 0 {
		h.failures, a.errors = a.errors, failures{}
	}
	return h
}

// addHealth adds the health of another worker in the same interval.
func (h *health) addHealth(from health) {
	if len(from.failures) > 0 && h.failures == nil {
		h.failures = failures{}
	}
	h.failures.addCounts(from.failures)
	h.busy, h.lag = max(h.busy, from.busy), max(h.lag, from.lag)
}

// writeTo sets the health fields of the interval.
func (h health) writeTo(iv *loadresult.Interval) {
	iv.Failures, iv.Busy, iv.LagMax = h.failures.byFrequency(), h.busy, time.Duration(h.lag)
}

// addCounts adds failures that were counted elsewhere.
func (f failures) addCounts(from failures) {
	for key, more := range from {
		if known := f[key]; known != nil {
			known.Count += more.Count
			continue
		}
		first := *more
		f[key] = &first
	}
}

// byFrequency returns all failures, the most frequent first, and consequences (Behind) last.
func (f failures) byFrequency() []loadresult.Failure {
	if len(f) == 0 {
		return nil
	}
	all := make([]loadresult.Failure, 0, len(f))
	for known := range maps.Values(f) {
		all = append(all, *known)
	}
	slices.SortFunc(all, loadresult.CompareFrequency)
	return all
}
