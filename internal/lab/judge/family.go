package judge

import (
	"dyno/internal/lab"
	"math"

	"dyno/internal/stats"
)

// judgeTogether judges pairs of the same rounds, each corrected for all of its family. look is for
// which time the verdicts are looked at: see lab.Progress.Looks.
func judgeTogether(all []*paired, look int) {
	for _, f := range lab.Families {
		family := familyOf(all, f)
		rows, margins := make([][]float64, len(family)), make([]stats.Margin, len(family))
		alone, pools := make([]float64, len(family)), make([]*stats.Pooled, len(family))
		for i, p := range family {
			rows[i], margins[i], pools[i] = p.row, p.margin, p.pool
		}
		for i, j := range stats.JudgePooled(rows, pools, margins, look) {
			p := family[i]
			applyJudgement(&p.Comparison, j, p.margin)
			p.Trials, p.Alone, alone[i] = len(p.logs), p.alone(), j.P
		}
		holm, q := stats.Holm(alone), stats.BenjaminiHochberg(alone)
		for i, p := range family {
			p.PHolm, p.Q = holm[i], q[i]
		}
	}
}

// aloneInterval is the 95 % interval of a ratio without correction for other comparisons.
func aloneInterval(logs []float64) stats.Interval {
	v, err := stats.HodgesLehmann(logs, lab.Confidence)
	if err != nil {
		return stats.Interval{}
	}
	return stats.Interval{Low: math.Exp(v.Low), Estimate: math.Exp(v.Estimate),
		High: math.Exp(v.High), Level: v.Level}
}

// familyOf are the comparisons of a family.
func familyOf(all []*paired, f lab.Family) (family []*paired) {
	for _, p := range all {
		if p.Family() == f {
			family = append(family, p)
		}
	}
	return family
}

// IsPrecise reports whether the first batch of trials gives every ratio with the precision that the
// experiment asks for, by the simultaneous intervals. Their width does not depend on whether arms
// differ.
func IsPrecise(r *lab.Record, trials []*lab.Trial) bool {
	precision := float64(r.Experiment.Design.Precision)
	all := scopeOf(r).allPairs(groupTrials(SelectBatch(trials, false)))
	for _, f := range lab.Families {
		var rows [][]float64
		var pools []*stats.Pooled
		for _, p := range familyOf(all, f) {
			rows, pools = append(rows, p.row), append(pools, p.pool)
		}
		for _, v := range stats.PooledIntervals(rows, pools, lab.Confidence) {
			if !lab.Holds(v) || math.Expm1((v.High-v.Low)/2) > precision {
				return false
			}
		}
	}
	return true
}
