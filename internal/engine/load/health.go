package load

import (
	"time"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/loadresult"
)

// A health is what a worker reports of an interval besides its counters: what failed, and how busy
// and late the worker itself was.
type health struct {
	failures failure.Counts
	busy     float64 // share of the time in which there was something to do
	lag      int64   // open workload: the longest send lag; ns
}

// takeHealth returns the health since its last call, and begins anew. The caller owns the failures
// (nil if there are none); the account continues with an empty map. idle is the worker's idle time
// in ns since the run began.
func (a *account) takeHealth(now, idle int64) health {
	h := health{busy: a.meter.BusySince(now, idle), lag: a.lag}
	a.lag = 0
	if len(a.errors) > 0 {
		h.failures, a.errors = a.errors, failure.Counts{}
	}
	return h
}

// addHealth adds the health of another worker in the same interval.
func (h *health) addHealth(from health) {
	if len(from.failures) > 0 && h.failures == nil {
		h.failures = failure.Counts{}
	}
	h.failures.AddCounts(from.failures)
	h.busy, h.lag = max(h.busy, from.busy), max(h.lag, from.lag)
}

// writeTo sets the health fields of the interval.
func (h health) writeTo(iv *loadresult.Interval) {
	iv.Failures, iv.Busy, iv.LagMax = h.failures.ByFrequency(), h.busy, time.Duration(h.lag)
}
