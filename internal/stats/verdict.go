package stats

import (
	"math"
	"slices"
	"sort"
)

// A Verdict is what trials allow to say of two variants.
type Verdict string

// The verdicts. None of them is "no difference": trials cannot show that.
const (
	// Different: the interval leaves out 0 and the estimate is at least the margin.
	Different Verdict = "different"
	// Negligible: the interval leaves out 0, but the estimate is below the margin.
	Negligible Verdict = "negligible"
	// Equivalent: whatever the difference is, it is below the margin.
	Equivalent Verdict = "equivalent"
	// Inconclusive: none of these can be said yet.
	Inconclusive Verdict = "inconclusive"
)

// The levels of a judgement. A difference is claimed by the interval at confidence.
// Equivalence is two one-sided tests at 5 % each, which is the interval at 90 %: Schuirmann,
// Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
const (
	confidence  = 0.95
	equivalence = 0.90
)

// A Margin is what a difference has to reach to count, as shares: 0.02 is a ratio of 1.02 or
// of 1/1.02.
type Margin struct {
	// Practical is the least difference that matters to the reader.
	Practical float64 `json:"practical"`
	// Floor is the difference that the same variant may have from itself in this experiment
	// (NoiseFloor), or 0. It raises what Different needs. It never makes Equivalent or
	// Negligible easier: much noise is no evidence of a small difference.
	Floor float64 `json:"floor"`
}

// A Judgement is a verdict with what it rests on.
type Judgement struct {
	Verdict Verdict  `json:"verdict"`
	Ratio   Interval `json:"ratio"`    // at 95 %: for a difference
	Narrow  Interval `json:"ratio_90"` // at 90 %: for equivalence
	// P is the two-sided p-value that belongs to the ratio: at or below α if and only if its
	// interval at the level 1−α leaves out 1. It is that of SignedRank or MannWhitney; what is
	// exactly equal, which those leave out or average, is counted against a difference.
	P float64 `json:"p"`
	// Adjusted is P corrected for all comparisons that were judged together: by MaxT in
	// JudgeTogether, by Holm in JudgeApart. Of one that was judged alone it is P.
	Adjusted float64 `json:"p_adjusted"`
	// More is about how many rounds more would make an inconclusive verdict another, if the
	// estimate and the noise stay what they are; at most MoreMax, which is "not in reach". It
	// is 0 where rounds are not what is missing: below the noise floor.
	More int `json:"more,omitempty"`
}

// MoreMax is the most rounds that are ever forecast.
const MoreMax = 1000

// Judge says what the logarithms of paired ratios (LogRatios) show: HodgesLehmann's intervals
// as ratios, their p-value and the verdict. With fewer than six pairs there is no interval
// at 95 %, so that nothing can be different; with fewer than five nothing can be said.
func Judge(logs []float64, margin Margin) (Judgement, error) {
	if len(logs) == 0 {
		return Judgement{}, ErrEmpty
	}
	w, p := walshAverages(logs), signedRank(len(logs))
	j := judgeInterval(w, p, margin)
	if j.Verdict == Inconclusive {
		j.More = moreValues(invertTest(w, p, confidence), margin.widthNeeded(j),
			pairedWidth(len(logs), 1))
	}
	return j, nil
}

// JudgeUnpaired is Judge for two sets of values that were measured apart, by UnpairedRatio.
// More counts runs of each.
func JudgeUnpaired(a, b []float64, margin Margin) (Judgement, error) {
	shifts, err := logShifts(a, b)
	if err != nil {
		return Judgement{}, err
	}
	p := rankSums(len(a), len(b))
	j := judgeInterval(shifts, p, margin)
	if j.Verdict == Inconclusive {
		width := unpairedWidth(len(a), len(b), 1)
		j.More = moreValues(invertTest(shifts, p, confidence), margin.widthNeeded(j), width)
	}
	return j, nil
}

// judgeInterval fills in all but More; see invert.
func judgeInterval(ascending, p []float64, margin Margin) Judgement {
	wide := invertTest(ascending, p, confidence)
	narrow := invertTest(ascending, p, equivalence)
	practical, floor := math.Log1p(margin.Practical), math.Log1p(margin.Floor)
	shown := reachesLevel(wide, confidence) && (wide.Low > 0 || wide.High < 0)
	within := reachesLevel(narrow, equivalence) && narrow.Low > -practical && narrow.High < practical
	size := math.Abs(wide.Estimate)
	alone, verdict := noDifference(ascending, p), Inconclusive
	switch {
	case shown && size >= max(practical, floor):
		verdict = Different
	case shown && size < practical:
		verdict = Negligible
	case within:
		verdict = Equivalent
	}
	return Judgement{Verdict: verdict, Ratio: wide.exponential(), Narrow: narrow.exponential(),
		P: alone, Adjusted: alone}
}

// noDifference is the two-sided p-value of 0 being the centre: the statistic is the number of
// values above 0, and for those that are 0 each tail takes what makes it larger.
func noDifference(ascending, p []float64) float64 {
	below, _ := slices.BinarySearch(ascending, 0)
	above := len(ascending) - below
	for above > 0 && ascending[len(ascending)-above] == 0 {
		above--
	}
	return twoSided(p, above, len(ascending)-below)
}

func reachesLevel(v Interval, level float64) bool { return v.Level >= level-rounding }

// widthNeeded returns the half width, of the logarithm, at which an inconclusive judgement would be
// none: less than the estimate, to leave out 0, or than the rest up to the margin.
func (m Margin) widthNeeded(j Judgement) float64 {
	size := math.Abs(math.Log(j.Ratio.Estimate))
	return max(size, math.Log1p(m.Practical)-size)
}

// NoiseFloor returns by which share the same variant may differ from itself, from the
// logarithms of the paired ratios of an A/A arm: the end of the 95 % interval that lies
// farther from no difference. With fewer than six pairs it is that of the whole range.
func NoiseFloor(logs []float64) (float64, error) {
	v, err := HodgesLehmann(logs, confidence)
	if err != nil {
		return 0, err
	}
	return math.Expm1(max(math.Abs(v.Low), math.Abs(v.High))), nil
}

// HalfWidth returns half of what an interval of a ratio spans, as a share: 0.02 if its ends
// are the estimate times and divided by 1.02.
func (v Interval) HalfWidth() float64 {
	return math.Expm1(math.Log(v.High/v.Low) / 2)
}

// A width returns the half width, in units of what the values vary by, of Student's interval
// at a level with some more values; it is infinite while too few for the level.
type width func(more int, level float64) float64

// pairedWidth is that of n pairs in each of m comparisons that are judged together, by
// Bonferroni's correction, which is about as wide as what MaxT allows.
func pairedWidth(n, m int) width {
	return func(more int, level float64) float64 {
		n := n + more
		if n < LeastPairs(level) {
			return math.Inf(1)
		}
		t := studentT((1+Simultaneous(level, m))/2, float64(n-1))
		return t / math.Sqrt(float64(n))
	}
}

// unpairedWidth is that of m and n values in each of so many comparisons.
func unpairedWidth(m, n, many int) width {
	return func(more int, level float64) float64 {
		m, n, level := m+more, n+more, Simultaneous(level, many)
		if 1-2/combinations(m, n) < level-rounding {
			return math.Inf(1)
		}
		return studentT((1+level)/2, float64(m+n-2)) * math.Sqrt(1/float64(m)+1/float64(n))
	}
}

// combinations is the number of ways to choose m of m+n.
func combinations(m, n int) float64 {
	all, _ := math.Lgamma(float64(m + n + 1))
	one, _ := math.Lgamma(float64(m + 1))
	other, _ := math.Lgamma(float64(n + 1))
	return math.Exp(all - one - other)
}

// moreValues returns how many values more bring the interval of a logarithm to the half width h.
func moreValues(now Interval, h float64, w width) int {
	half := (now.High - now.Low) / 2
	exists := reachesLevel(now, confidence)
	if exists && half <= h {
		return 0
	}
	unit := 0.0 // of a single value nothing is known
	if now.Level > 0 {
		unit = half / w(0, now.Level)
	}
	least := 0
	if exists {
		least = 1
	}
	return least + sort.Search(MoreMax-least, func(k int) bool {
		return unit*w(least+k, confidence) <= h
	})
}
