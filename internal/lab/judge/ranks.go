package judge

import (
	"cmp"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"maps"
	"math"
	"slices"

	"dyno/internal/stats"
)

// rankAll ranks the arms at every level by every measure. For pairs that have a verdict, the
// verdict decides whether they differ. For all other pairs the same test does, corrected for all
// pairs.
func (q scope) rankAll(trials []*lab.Trial, verdicts []lab.Comparison) (all []lab.Rank) {
	cells := groupTrials(trials)
	var pairs []*paired
	for _, level := range q.levels {
		for _, name := range q.judgedAt(level) {
			m, _ := lab.MeasureNamed(string(name)) // a test checks that every name has a measure
			rank, ok := q.rankLevel(cells, level, m)
			if !ok {
				continue
			}
			all = append(all, rank)
			pairs = append(pairs, q.allDuels(cells, rank, m)...)
		}
	}
	apart := toldApart(pairs, verdicts)
	for i, r := range all {
		all[i].Groups = stats.TieGroups(len(r.Arms), func(i, j int) bool {
			return apart[duel{r.Level, r.Metric, r.Arms[i], r.Arms[j]}]
		})
	}
	return all
}

// rankLevel orders arms by their medians. Percentiles of all trials together have none.
func (q scope) rankLevel(cells byCell, level string, m lab.Measure) (lab.Rank, bool) {
	median := map[string]float64{}
	if _, few := q.pooledAt(cells, m, level); few {
		return lab.Rank{}, false
	}
	for _, arm := range q.arms {
		if values := cellValues(cells, m, arm.name, level); len(values) > 0 && !arm.control {
			median[arm.name] = stats.Median(values)
		}
	}
	arms := slices.SortedStableFunc(maps.Keys(median), func(a, b string) int {
		return cmp.Or(cmp.Compare(median[a], median[b])*-m.Better, cmp.Compare(a, b))
	})
	return lab.Rank{Level: level, Metric: m.Name, Arms: arms}, len(arms) > 1
}

// allDuels are all pairs of a rank's arms.
func (q scope) allDuels(cells byCell, r lab.Rank, m lab.Measure) (all []*paired) {
	margin := stats.Margin{Practical: q.margin}
	for _, arm := range q.arms { // at least by how much an arm differs from itself
		logs := pairArms(cells, m, r.Level, arm.baseline, arm.name).logs
		enough := arm.control && len(logs) >= experiment.LeastRounds
		if floor, err := stats.NoiseFloor(logs); enough && err == nil {
			margin.Floor = max(margin.Floor, floor)
		}
	}
	for i, a := range r.Arms {
		for _, b := range r.Arms[i+1:] {
			p := pairArms(cells, m, r.Level, a, b)
			p.margin = margin
			all = append(all, p)
		}
	}
	return all
}

// A duel is two arms, in the order of their rank.
type duel struct{ level, metric, one, other string }

// toldApart are the pairs that differ.
func toldApart(pairs []*paired, verdicts []lab.Comparison) map[duel]bool {
	var rows [][]float64
	for _, p := range pairs {
		rows = append(rows, p.row)
	}
	apart := map[duel]bool{}
	for i, p := range stats.MaxT(rows) {
		c := pairs[i]
		v, err := stats.HodgesLehmann(c.logs, lab.Confidence)
		least := math.Log1p(max(c.margin.Practical, c.margin.Floor))
		apart[duel{c.Level, c.Metric, c.Baseline, c.Variant}] = err == nil && p <= significance &&
			math.Abs(v.Estimate) >= least && c.Bound.Shows(math.Exp(v.Estimate))
	}
	for _, c := range verdicts {
		if !c.Control {
			differ := c.Verdict == stats.Different
			apart[duel{c.Level, c.Metric, c.Baseline, c.Variant}] = differ
			apart[duel{c.Level, c.Metric, c.Variant, c.Baseline}] = differ
		}
	}
	return apart
}

// isMedianOver reports whether the median of cellValues is only known to be higher: it would be if
// each value of which that is known were higher than all others.
func isMedianOver(cells byCell, m lab.Measure, arm, level string) bool {
	var trials []*lab.Trial
	for _, round := range cells.roundNumbers() {
		if t := cells.bestTrial(arm, level, round); t != nil {
			trials = append(trials, t)
		}
	}
	return isOverInMedian(trials, m)
}

// isOverInMedian is isMedianOver of trials.
func isOverInMedian(trials []*lab.Trial, m lab.Measure) bool {
	return isMedianHigher(trials, m.Value, m.IsOver)
}

// isMedianHigher is isOverInMedian of any value that trials may have.
func isMedianHigher(trials []*lab.Trial, value func(*lab.Trial) (float64, bool),
	isOver func(*lab.Trial) bool) bool {
	var known, highest []float64
	for _, t := range trials {
		v, ok := value(t)
		if !ok {
			continue
		}
		known = append(known, v)
		if isOver(t) {
			v = math.MaxFloat64 // a median of two infinities is none
		}
		highest = append(highest, v)
	}
	return len(known) > 0 && stats.Median(highest) > stats.Median(known)
}

// cellValues are the values of an arm at a level, by round.
func cellValues(cells byCell, m lab.Measure, arm, level string) (all []float64) {
	for _, round := range cells.roundNumbers() {
		if t := cells.bestTrial(arm, level, round); t != nil {
			if v, ok := m.Value(t); ok {
				all = append(all, v)
			}
		}
	}
	return all
}
