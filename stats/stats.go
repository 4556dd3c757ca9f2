// Package stats says what may be claimed from a few repeated measurements: centres, and
// intervals that hold at 10 to 20 repetitions. It knows numbers only: nothing of HTTP, of
// units or of what was measured.
//
// The unit of everything here is the trial (one whole run), never the request: requests of
// one run are autocorrelated and their number says nothing about how well a run repeats.
//
// Two intervals, both exact at any number of trials, both distribution-free:
//
//   - MedianInterval counts signs (order statistics, binomial). It assumes nothing but
//     independent trials: right for absolute values, which are often skewed.
//   - PairedRatio and HodgesLehmann rank (Wilcoxon's signed-rank statistic). They assume
//     that the values lie symmetrically about their centre, which the logarithm of a ratio
//     of two interleaved runs does when the order within the pairs alternates. In return
//     they are narrower by about a fifth for near-normal values.
//
// Each interval carries the level it really has. Fewer than six trials cannot give 95 %;
// then the whole range is returned with its true, lower level, rather than nothing or a lie.
//
// Note: no bootstrap. At 10 trials percentile and BCa intervals of a median cover clearly
// less than they say (there are too few distinct values to resample), and they need a seed;
// the exact intervals cost nothing and need none.
package stats

import (
	"math"
	"slices"
)

// Median returns the middle of x, or the mean of the two middle values. It leaves x as it
// is, and is NaN for no values.
func Median(x []float64) float64 {
	return Quantile(sorted(x), 0.5)
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

func sorted(x []float64) []float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}
