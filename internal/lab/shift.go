package lab

import (
	"math"
	"slices"

	"dyno/internal/stats"
)

// A Shift is by which factor the latency of an arm exceeds its baseline's, from its fastest
// requests to its slowest: a median that is better and a p99 that is worse are two rows of it,
// and no single number shows both.
type Shift struct {
	Level    string       `json:"level"`
	Baseline string       `json:"baseline"`
	Variant  string       `json:"variant"`
	Control  bool         `json:"control,omitempty"`
	Points   []ShiftPoint `json:"points"`
}

// A ShiftPoint is one quantile of a Shift.
type ShiftPoint struct {
	Quantile float64 `json:"quantile"` // 0 to 1
	// Ratio is the variant's to the baseline's, with the 95 % interval of this quantile alone;
	// Band is that of all quantiles of the shift together, by sign flips of rounds.
	Ratio  stats.Interval `json:"ratio"`
	Band   stats.Interval `json:"band"`
	Trials int            `json:"trials"` // pairs of them
}

// Shown reports whether the quantile differs, all quantiles of the shift taken together.
func (p ShiftPoint) Shown() bool {
	enough := p.Band.Level >= confidence-1e-9
	return enough && (p.Band.Low > 1 || p.Band.High < 1)
}

// confidence is that of every interval.
const confidence = 0.95

// shiftAt are the quantiles of a shift: the deciles, and the tail that people ask for.
var shiftAt = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99}

// shifts are those of all arms that are compared, controls first. Closed loops have them too:
// there they say of which requests the difference in throughput is made.
func (q question) shifts(cells byCell) (all []Shift) {
	quantiles := map[*Trial][]float64{}
	for _, trials := range cells {
		for _, t := range trials {
			quantiles[t] = t.quantiles()
		}
	}
	arms := slices.Clone(q.arms)
	slices.SortStableFunc(arms, func(a, b contender) int {
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
			if s := shift(cells, quantiles, arm, level); len(s.Points) > 0 {
				all = append(all, s)
			}
		}
	}
	return all
}

func shift(cells byCell, quantiles map[*Trial][]float64, arm contender, level string) Shift {
	s := Shift{Level: level, Baseline: arm.baseline, Variant: arm.name, Control: arm.control}
	var base, variant [][]float64
	for _, round := range cells.rounds() {
		a, b := cells.pair(arm.name, arm.baseline, level, round)
		if a != nil && quantiles[a] != nil && quantiles[b] != nil {
			variant, base = append(variant, quantiles[a]), append(base, quantiles[b])
		}
	}
	alone, err := stats.Shift(base, variant, confidence)
	if err != nil {
		return s // there is no pair
	}
	together := stats.SimultaneousIntervals(shiftLogs(base, variant), confidence)
	for i, at := range shiftAt {
		n := 0
		for k := range base {
			if !math.IsNaN(base[k][i]) && !math.IsNaN(variant[k][i]) {
				n++
			}
		}
		if n > 0 {
			s.Points = append(s.Points, ShiftPoint{at, alone[i], bandOf(together[i], alone[i]), n})
		}
	}
	return s
}

// shiftLogs are the logarithms of the ratios of each quantile, round by round; NaN where a trial
// has none.
func shiftLogs(base, variant [][]float64) [][]float64 {
	rows := make([][]float64, len(shiftAt))
	for i := range rows {
		for k := range base {
			rows[i] = append(rows[i], math.Log(variant[k][i]/base[k][i]))
		}
	}
	return rows
}

// bandOf is an interval of logarithms as ratios, no narrower than that of the quantile alone.
func bandOf(v, alone stats.Interval) stats.Interval {
	return stats.Interval{Low: min(math.Exp(v.Low), alone.Low), Estimate: alone.Estimate,
		High: max(math.Exp(v.High), alone.High), Level: v.Level}
}

// quantiles are the trial's, in µs, at shiftAt, NaN for those that it has too few requests for;
// nil if it measured none.
func (t *Trial) quantiles() []float64 {
	if t.Failure != nil || t.Result == nil || t.Result.Latency == nil {
		return nil
	}
	all, err := t.Result.Latency.Quantiles(shiftAt)
	if err != nil {
		return nil // of an older dyno's, or cut out of the file
	}
	for i, at := range shiftAt {
		if float64(t.Result.Latency.Count) < leastFor(at) || all[i] <= 0 {
			all[i] = math.NaN()
		}
	}
	return all
}

// leastFor is how many requests it takes for a two-sided 95 % interval of a quantile: n with
// max(q, 1−q)ⁿ ≤ 0.025.
func leastFor(q float64) float64 { return math.Ceil(math.Log(0.025) / math.Log(max(q, 1-q))) }
