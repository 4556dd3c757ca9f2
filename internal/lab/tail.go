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
}

func latencyOf(t *Trial) *result.Distribution {
	if t.Result.Latency == nil {
		return new(result.Distribution)
	}
	return t.Result.Latency
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

// Over is how many of a trial's values are of requests that had no answer.
func (t Tail) Over(trial *Trial) int64 {
	if t.Count(trial) == 0 || t.Of(trial).Over == nil {
		return 0
	}
	return t.Of(trial).Over.Count
}

// Values are the logarithms, in µs, of all that a trial measured, ascending; nil if there is none,
// or if its histogram was removed. What had no answer is above all that had one.
func (t Tail) Values(trial *Trial) (all []stats.Counted) {
	if t.Count(trial) == 0 {
		return nil
	}
	d := t.Of(trial)
	h, err := d.Histogram()
	if err != nil {
		return nil
	}
	last := 0.0
	for ns, n := range h.ToSparse().ValueCounts() {
		last = math.Log(max(float64(ns), 1) / 1e3)
		all = append(all, stats.Counted{Value: last, N: n})
	}
	if d.Over != nil {
		over := max(math.Log(max(d.Over.US, 1e-3)), last)
		all = append(all, stats.Counted{Value: over, N: d.Over.Count})
	}
	return all
}
