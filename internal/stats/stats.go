// Package stats says what may be claimed from a few repeated measurements: centres, intervals
// and verdicts that hold at 6 to 30 repetitions, and whether a measurement was steady. It
// knows numbers only: nothing of HTTP, of units or of what was measured.
//
// The unit of everything that compares is the trial (one whole run), never the request:
// requests of one run are autocorrelated and their number says nothing about how well a run
// repeats.
//
// The intervals are exact at any number of trials and distribution-free:
//
//   - MedianInterval counts signs (order statistics, binomial). It assumes nothing but
//     independent trials: right for absolute values, which are often skewed.
//   - PairedRatio and HodgesLehmann rank (Wilcoxon's signed-rank statistic). They assume
//     that the values lie symmetrically about their centre, which the logarithm of a ratio
//     of two interleaved runs does when the order within the pairs is random or alternates,
//     whatever drifts meanwhile. In return they are narrower by about a fifth for near-normal
//     values. SignedRank is the test that belongs to them.
//   - UnpairedRatio ranks what was measured apart (Mann-Whitney); so does its test.
//
// Each interval carries the level it really has. Fewer than six trials cannot give 95 %;
// then the whole range is returned with its true, lower level, rather than nothing or a lie.
//
// Judge makes a verdict of them, which is one of four and never "no difference". Many at once are
// judged by JudgeTogether, if they were made in the same rounds: MaxT and SimultaneousIntervals
// turn the signs of whole rounds. JudgeApart is for others, by Holm. BenjaminiHochberg is for
// looking around; TieGroups ranks more than two. Classify (steady.go) and Changepoints (pelt.go)
// look at the course of one trial; Divide (edivisive.go) finds change points across runs.
//
//	beta.go            quantiles of Student's t
//	bootstrap.go       bootstrap of blocks
//	edivisive.go       change points across runs
//	flips.go           sign flips of rounds
//	foldover.go        follow-up of a screening
//	interval.go        exact intervals of medians and ratios
//	judgetogether.go   verdicts of many comparisons at once
//	lenth.go           effects without repetitions (Lenth)
//	maxt.go            maxT: corrected p-values and intervals
//	mser.go            where a warm-up ends
//	multiple.go        Holm, Benjamini-Hochberg
//	pelt.go            change points within one trial
//	pooled.go          percentiles of all trials of a variant together
//	rank.go            signed-rank and Mann-Whitney tests
//	shift.go           shifts of quantiles
//	stats.go           median, quantile, variation
//	steady.go          is a trial steady?
//	tiegroups.go       letters for what is not told apart
//	triallength.go     how long, how many trials?
//	verdict.go         the four verdicts; margin, noise floor
//
// Note: no bootstrap of trials. At 10 trials percentile and BCa intervals of a median cover
// clearly less than they say (there are too few distinct values to resample), and they need a
// seed; the exact intervals cost nothing and need none. Bootstrap is for what has no other
// interval, such as the p99 of all seconds of one trial, and refuses fewer than eight blocks.
package stats

import (
	"math"
	"slices"
)

// Median returns the middle of x, or the mean of the two middle values. It leaves x as it
// is, and is NaN for no values.
func Median(x []float64) float64 {
	return Quantile(sortedCopy(x), 0.5)
}

// Quantile returns the q-quantile (0 ≤ q ≤ 1) of ascending values, interpolated linearly
// between the two neighbours of position q·(n−1): R's type 7, its default. It is NaN for no
// values, and takes q below 0 as 0 and above 1 as 1.
func Quantile(ascending []float64, q float64) float64 {
	n := len(ascending)
	if n == 0 {
		return math.NaN()
	}
	pos := min(max(q, 0), 1) * float64(n-1)
	i := int(pos)
	if i+1 == n {
		return ascending[i]
	}
	frac := pos - float64(i)
	return ascending[i] + frac*(ascending[i+1]-ascending[i])
}

// CoV returns the coefficient of variation of x: its standard deviation (of a sample: n−1)
// divided by its mean, 0.02 for 2 %. It is NaN for fewer than two values or a mean of 0.
func CoV(x []float64) float64 {
	mean, variance := moments(x)
	if len(x) < 2 || mean == 0 {
		return math.NaN()
	}
	n := float64(len(x))
	return math.Sqrt(variance*n/(n-1)) / math.Abs(mean)
}

// moments returns the mean of x and its variance as a whole population (divided by n).
func moments(x []float64) (mean, variance float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / n
	}
	return mean, variance
}

func sortedCopy(x []float64) []float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}

// Mean is the arithmetic mean; 0 of nothing.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(len(x), 1))
}
