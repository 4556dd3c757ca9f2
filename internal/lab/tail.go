package lab

import (
	"math"

	"dyno/internal/result"
	"dyno/internal/stats"
)

// A Tail is a measure that is a high percentile, of which a trial may have too few values.
type Tail struct {
	Quantile float64 // 0 to 1
	Of       func(*Trial) *result.Distribution
}

// TailOf is the tail that a measure is; false if it is none.
func TailOf(metric string) (Tail, bool) {
	t, is := tails[metric]
	return t, is
}

var tails = map[string]Tail{
	"p99":           {0.99, latencyOf},
	"p99.9":         {0.999, latencyOf},
	"iteration_p99": {0.99, iterationTimes},

	"first_event_p99": {0.99, ofStreams(result.FirstEvent)},
	"token_time_p99":  {0.99, ofStreams(result.TokenTime)},
}

// Least is how many values a two-sided 95 % interval of the percentile needs: n with qⁿ ≤ 0.025,
// which is 368 for 99 % and 3,688 for 99.9 %.
func (t Tail) Least() int64 {
	return int64(math.Ceil(math.Log(0.025) / math.Log(t.Quantile)))
}

// Count is how many values a trial has of it; 0 of one that measured none, or searched for a rate.
func (t Tail) Count(trial *Trial) int64 {
	if trial.Failure != nil || trial.Result == nil || trial.Search != nil {
		return 0
	}
	return t.Of(trial).Known()
}

// LeastOver is the logarithm, in µs, of the least that a trial's requests without an answer are
// known to have taken: values from it on may be higher. It is +Inf if all were answered.
func (t Tail) LeastOver(trial *Trial) float64 {
	if t.Count(trial) == 0 || t.Of(trial).Over == nil {
		return math.Inf(1)
	}
	return math.Log(max(t.Of(trial).Over.US, 1e-3))
}

// Values are the logarithms, in µs, of all that a trial measured, ascending; nil if there is none,
// or if its histogram was removed. What had no answer has the value that it exceeded.
func (t Tail) Values(trial *Trial) (all []stats.Counted) {
	if t.Count(trial) == 0 {
		return nil
	}
	h, err := t.Of(trial).LowerBounds()
	if err != nil {
		return nil
	}
	for ns, n := range h.ToSparse().ValueCounts() {
		all = append(all, stats.Counted{Value: math.Log(max(float64(ns), 1) / 1e3), N: n})
	}
	return all
}
