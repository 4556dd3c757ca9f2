package result

import (
	"math"
)

// An Unread is for how long what had arrived lay unread in the generator. Its keys are the
// generator's own in JSON.
type Unread struct {
	ReadLagP99 *float64 `json:"read_lag_p99_us,omitempty"` // streams: events, at most
	Linger     *Linger  `json:"linger,omitempty"`          // closed loop: answers, on purpose
}

// A Linger is for how long answers waited while others came. It is part of their latency.
type Linger struct {
	Wait  float64 `json:"wait_us"` // mean
	Share float64 `json:"share"`   // of the median latency, 0 to 1
}

// setLinger sets for how long the answers waited that many ns altogether.
func (r *Result) setLinger(lingered int64) {
	n := r.Answers()
	if n == 0 || lingered == 0 {
		return
	}
	wait, median := toMicroseconds(float64(lingered)/float64(n)), r.MainLatency().P50
	r.Generator.Linger = &Linger{Wait: wait, Share: math.Round(wait/max(median, wait)*1e4) / 1e4}
}
