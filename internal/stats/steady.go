package stats

import (
	"math"
	"slices"
)

// Steadiness is the course of one measurement.
type Steadiness string

// What Classify tells apart.
const (
	Unknown  Steadiness = "unknown" // too short to tell
	Flat     Steadiness = "flat"
	WarmUp   Steadiness = "warm-up"         // it was worse at first
	Slowdown Steadiness = "slowdown"        // it was better at first
	Unsteady Steadiness = "no steady state" // it still changed in the last quarter
)

const (
	// classifyMin is the fewest values among which the penalty of a change leaves anything
	// to find.
	classifyMin = 10
	// steadyShare of a series, its last part, must be without a change: a quarter.
	steadyShare = 4
	// equalShare is the difference of two means, as a share, that is no change.
	equalShare = 0.02
	// outlierWindow is the number of values around one that it is compared with.
	outlierWindow = 200
)

// Classify says how x went, a series of equal intervals from its very beginning, such as the
// throughput of each second; better is 1 if more is better, −1 if less is. It is Unknown for
// fewer than 10 values. The shorter and noisier x is, the larger a change must be to be seen:
// with a noise of 2 %, a step of 30 % among 10 values, of 10 % among 30; smaller ones pass
// as flat.
//
// Outliers are left out, the rest is cut by Changepoints, and the mean of each segment
// compared with that of the last: within 2 % of it they are the same. If one that is not the
// same ended in the last quarter: no steady state. Else if one was better: slowdown; or
// worse: warm-up; or none: flat.
//
// Source: Barrett, Bolz-Tereick, Killick, Mount, Tratt, "Virtual machine warmup blows hot and
// cold", OOPSLA 2017, and its program warmup_stats. Note: "the same" is there within a
// millisecond or the segments' variance, which fits values that are seconds, and "the last
// quarter" is 500 of 2,000 values.
func Classify(x []float64, better int) Steadiness {
	if len(x) < classifyMin {
		return Unknown
	}
	x = slices.Clone(x)
	for _, i := range slices.Backward(Outliers(x)) {
		x = slices.Delete(x, i, i+1)
	}
	bounds := slices.Concat([]int{0}, Changepoints(x), []int{len(x)})
	last := len(bounds) - 2 // the segment from bounds[last]
	mean, _ := moments(x[bounds[last]:])
	course := Flat
	for s := last - 1; s >= 0; s-- {
		end := bounds[s+1]
		m, _ := moments(x[bounds[s]:end])
		off := (m - mean) * float64(better)
		switch {
		case math.Abs(off) <= equalShare*math.Abs(mean):
		case end > len(x)-len(x)/steadyShare:
			return Unsteady
		case off > 0:
			return Slowdown
		default:
			course = WarmUp
		}
	}
	return course
}

// Outliers returns the indices of single values that do not belong to those around them,
// ascending: farther from the median of the 200 around, or of as many as there are, than 3
// times the distance of their 10 % and 90 % quantiles. Those at the very beginning are none:
// that is what a warm-up looks like. It is for finding trends; nothing is ever left out of a
// mean or a quantile that is reported. Source: as Classify.
func Outliers(x []float64) []int {
	var found []int
	var middle, band float64
	window, beginning := -1, true
	for i, v := range x {
		from := min(max(i-outlierWindow/2, 0), max(len(x)-outlierWindow, 0))
		if from != window {
			window = from
			around := sortedCopy(x[from:min(from+outlierWindow, len(x))])
			middle = Quantile(around, 0.5)
			band = 3 * (Quantile(around, 0.9) - Quantile(around, 0.1))
			band = max(band, resolution*math.Abs(middle))
		}
		out := math.Abs(v-middle) > band
		beginning = beginning && out
		if out && !beginning {
			found = append(found, i)
		}
	}
	return found
}
