package failure

import (
	"time"

	"dyno/internal/engine/loadresult"
)

// A Health is what a worker reports of an interval besides its counters: what failed, and how busy
// and late the worker itself was.
type Health struct {
	Failures Counts  // nil: there are none
	Busy     float64 // share of the time in which there was something to do
	Lag      int64   // open workload: the longest send lag; ns
}

// Add adds the health of another worker in the same interval.
func (h *Health) Add(from Health) {
	if len(from.Failures) > 0 && h.Failures == nil {
		h.Failures = Counts{}
	}
	h.Failures.AddCounts(from.Failures)
	h.Busy, h.Lag = max(h.Busy, from.Busy), max(h.Lag, from.Lag)
}

// WriteTo sets the health of an interval.
func (h Health) WriteTo(iv *loadresult.Interval) {
	iv.Failures, iv.Busy, iv.LagMax = h.Failures.ByFrequency(), h.Busy, time.Duration(h.Lag)
}
