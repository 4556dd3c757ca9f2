package stats

import (
	"errors"
	"math"
	"slices"
)

// JudgeTogether is Judge for all comparisons that were made in the same rounds: x[k][i] is the
// logarithm of the ratio that comparison k has in round i, NaN where it is missing, and margins
// has the margin of each. What is said holds of all of them together:
//
//   - Different and Negligible need a difference that MaxT shows at 5 %.
//   - Equivalent needs the interval of SimultaneousIntervals at 95 % within the margin. That is
//     stricter than two one-sided tests at 5 % each, which are enough for one comparison only.
//   - Ratio has that interval, about the Hodges-Lehmann estimate, and so has Narrow. It leaves
//     out 1 if and only if Adjusted is at most 0.05: where the step-down test shows a little
//     more than the interval, or a little less, the interval ends at 1.
//
// With fewer than six rounds the least Adjusted is above 0.05, and no interval has 95 %; so
// nothing can be said. A comparison without any round is Inconclusive, with a Ratio of NaN at
// the level 0.
func JudgeTogether(x [][]float64, margins []Margin) []Judgement {
	return JudgeLook(x, margins, 1)
}

// JudgeLook is JudgeTogether for the verdicts that are looked at for the look-th time, from 1, with
// more rounds each time. Each look is another chance to be wrong, so each allows itself half of the
// error of the one before: Adjusted is 2, 4, 8 … times as large, up to 1, and intervals have the
// levels 0.975, 0.9875 …; Level reports 0.95 for each of these. If nothing differs, the chance that
// any of the looks says otherwise is below twice that of the first, however many there are.
//
// More is how many rounds would decide at the next look, which has to be corrected for one more.
func JudgeLook(x [][]float64, margins []Margin, look int) []Judgement {
	return JudgePooled(x, nil, margins, look)
}

// JudgePooled is JudgeLook, where some comparisons are of pooled quantiles: x[k] is pools[k].Row(0)
// then. The others have nil, and so has pools if there is none.
func JudgePooled(x [][]float64, pools []*Pooled, margins []Margin, look int) []Judgement {
	share := lookShare(look)
	adjusted := MaxT(x)
	intervals := PooledIntervals(x, pools, Simultaneous(confidence, share))
	all := make([]Judgement, len(x))
	for k := range x {
		had := presentValues(x[k])
		if len(had) == 0 {
			none := Interval{math.NaN(), math.NaN(), math.NaN(), 0}
			all[k] = Judgement{Verdict: Inconclusive, Ratio: none, Narrow: none, P: 1, Adjusted: 1}
			continue
		}
		w := walshAverages(had)
		p := noDifference(w, signedRank(len(had)))
		v := intervals[k]
		v.Level = max(1-float64(share)*(1-v.Level), 0)
		estimate := Quantile(w, 0.5)
		if pooledAt(pools, k) != nil {
			estimate = v.Estimate
		}
		all[k] = judgeAdjusted(v, estimate, margins[k], p, min(float64(share)*adjusted[k], 1))
		all[k].forecastRounds(v, margins[k], nextLook(len(had), len(x), share))
	}
	return all
}

// JudgeApart is JudgeUnpaired for many comparisons, whose values may be other ones or the same:
// a[k] is compared with b[k]. What is said holds of all of them together, however they depend on
// each other: Adjusted is Holm's correction of P, and intervals are Bonferroni's. It is an error
// if JudgeUnpaired has one for any.
func JudgeApart(a, b [][]float64, margins []Margin) ([]Judgement, error) {
	if len(a) != len(b) || len(a) != len(margins) {
		return nil, errors.New("comparisons of other numbers of things")
	}
	intervals := make([]Interval, len(a))
	ps := make([]float64, len(a))
	for k := range a {
		shifts, err := logShifts(a[k], b[k])
		if err != nil {
			return nil, err
		}
		p := rankSums(len(a[k]), len(b[k]))
		v := invertTest(shifts, p, Simultaneous(confidence, len(a)))
		v.Level = max(1-float64(len(a))*(1-v.Level), 0) // of all together
		intervals[k], ps[k] = v, noDifference(shifts, p)
	}
	all := make([]Judgement, len(a))
	for k, adjusted := range Holm(ps) {
		all[k] = judgeAdjusted(intervals[k], intervals[k].Estimate, margins[k], ps[k], adjusted)
		w := unpairedWidth(len(a[k]), len(b[k]), len(a))
		all[k].forecastRounds(intervals[k], margins[k], w)
	}
	return all, nil
}

// judgeAdjusted is the judgement of one among many: v is its interval, which holds with all others.
func judgeAdjusted(v Interval, estimate float64, margin Margin, p, adjusted float64) Judgement {
	shown := adjusted <= 1-confidence+rounding
	v = v.alignWithTest(shown)
	v.Estimate = min(max(estimate, v.Low), v.High)
	practical, floor := math.Log1p(margin.Practical), math.Log1p(margin.Floor)
	inside := reachesLevel(v, confidence) && v.Low > -practical && v.High < practical
	verdict := Inconclusive
	switch size := math.Abs(v.Estimate); {
	case shown && size >= max(practical, floor):
		verdict = Different
	case shown && size < practical:
		verdict = Negligible
	case inside:
		verdict = Equivalent
	}
	return Judgement{Verdict: verdict, Ratio: v.exponential(), Narrow: v.exponential(),
		P: p, Adjusted: adjusted}
}

// beside is how far from 0 an interval ends that leaves it out by nothing that could be said.
const beside = 1e-9

// alignWithTest makes the interval of a logarithm leave out 0 if and only if a difference is shown.
// Its estimate says on which side.
func (v Interval) alignWithTest(shown bool) Interval {
	switch {
	case !shown:
		v.Low, v.High = min(v.Low, 0), max(v.High, 0)
	case v.Estimate > 0:
		v.Low = max(v.Low, beside)
	default:
		v.High = min(v.High, -beside)
	}
	return v
}

// lookShare is by how much the error of a look is divided. No number of rounds shows anything
// beyond 2²⁰.
func lookShare(look int) int { return 1 << min(max(look-1, 0), 20) }

// nextLook is the width of n pairs in each of m comparisons: now, where the error is divided by
// share, and with more pairs at the next look.
func nextLook(n, m, share int) width {
	now, next := pairedWidth(n, m*share), pairedWidth(n, 2*m*share)
	return func(more int, level float64) float64 {
		if more == 0 {
			return now(0, level)
		}
		return next(more, level)
	}
}

// forecastRounds fills in More; v is the interval of the logarithm, as it was before it settled.
func (j *Judgement) forecastRounds(v Interval, margin Margin, w width) {
	if j.Verdict == Inconclusive {
		j.More = moreValues(v, margin.widthNeeded(*j), w)
		if j.More == 0 && j.Ratio.Low <= 1 && j.Ratio.High >= 1 { // narrow enough, but to one side
			j.More = 1
		}
	}
}

// presentValues are the values of those that are there.
func presentValues(x []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(x), math.IsNaN)
}
