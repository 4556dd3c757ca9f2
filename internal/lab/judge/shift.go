package judge

import (
	"dyno/internal/lab"
	"math"
	"slices"

	"dyno/internal/stats"
)

// shiftAt are the quantiles of a shift: the deciles, and p99.
var shiftAt = [...]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99}

// allShifts are the shifts of all compared arms, controls first. Closed workloads have them too:
// they show which requests cause a difference in throughput.
func (q scope) allShifts(cells byCell) (all []lab.Shift) {
	quantiles := map[*lab.Trial]trialQuantiles{}
	for _, trials := range cells {
		for _, t := range trials {
			quantiles[t] = shiftQuantiles(t)
		}
	}
	arms := slices.Clone(q.arms)
	slices.SortStableFunc(arms, func(a, b scopeArm) int {
		switch {
		case a.control == b.control:
			return 0
		case a.control:
			return -1
		}
		return 1
	})
	for _, level := range q.levels {
		for _, arm := range arms {
			if s := armShift(cells, quantiles, arm, level); len(s.Points) > 0 {
				all = append(all, s)
			}
		}
	}
	return all
}

func armShift(cells byCell, quantiles map[*lab.Trial]trialQuantiles, arm scopeArm,
	level string) lab.Shift {
	s := lab.Shift{Level: level, Baseline: arm.baseline, Variant: arm.name, Control: arm.control}
	var base, variant [][]float64
	var bounds [len(shiftAt)]lab.Bound
	for _, round := range cells.roundNumbers() {
		a, b := cells.trialPair(arm.name, arm.baseline, level, round)
		x, y := quantiles[a], quantiles[b]
		if x.us == nil || y.us == nil {
			continue
		}
		variant, base = append(variant, x.us), append(base, y.us)
		for i := range shiftAt {
			bounds[i] = bounds[i].With(lab.BoundOf(x.over[i], y.over[i]))
		}
	}
	alone, err := stats.Shift(base, variant, lab.Confidence)
	if err != nil {
		return s // there is no pair
	}
	together := stats.SimultaneousIntervals(shiftLogs(base, variant), lab.Confidence)
	for i, at := range shiftAt {
		n := 0
		for k := range base {
			if !math.IsNaN(base[k][i]) && !math.IsNaN(variant[k][i]) {
				n++
			}
		}
		if n > 0 {
			s.Points = append(s.Points, lab.ShiftPoint{Quantile: at, Ratio: alone[i],
				Band: bandOf(together[i], alone[i]), Trials: n, Bound: bounds[i]})
		}
	}
	return s
}

// shiftLogs are the logarithms of the ratios at each quantile, round by round; NaN where a trial
// has no value.
func shiftLogs(base, variant [][]float64) [][]float64 {
	rows := make([][]float64, len(shiftAt))
	for i := range rows {
		for k := range base {
			rows[i] = append(rows[i], math.Log(variant[k][i]/base[k][i]))
		}
	}
	return rows
}

// bandOf converts an interval of logarithms into ratios. It is at least as wide as that of the
// quantile alone.
func bandOf(v, alone stats.Interval) stats.Interval {
	return stats.Interval{Low: min(math.Exp(v.Low), alone.Low), Estimate: alone.Estimate,
		High: max(math.Exp(v.High), alone.High), Level: v.Level}
}

// trialQuantiles are a trial's quantiles at shiftAt.
type trialQuantiles struct {
	us   []float64 // NaN for those that it has too few requests for; nil: it measured none
	over []bool    // which are only known to be higher
}

func shiftQuantiles(t *lab.Trial) (q trialQuantiles) {
	if t.Failure != nil || t.Result == nil || t.Result.Latency == nil || t.Search != nil {
		return q
	}
	us, over, err := t.Result.Latency.Quantiles(shiftAt[:])
	if err != nil {
		return q // an older version's, or removed from the file
	}
	for i, at := range shiftAt {
		if float64(t.Result.Latency.Known()) < leastRequests(at) || us[i] <= 0 {
			us[i] = math.NaN()
		}
	}
	return trialQuantiles{us, over}
}

// leastRequests is how many requests a two-sided 95 % interval of a quantile needs: n with max(q,
// 1−q)ⁿ ≤ 0.025.
func leastRequests(q float64) float64 { return math.Ceil(math.Log(0.025) / math.Log(max(q, 1-q))) }
