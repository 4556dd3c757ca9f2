package stats

import (
	"math"
	"slices"
)

const (
	// segmentMin is the fewest values that have a mean and a variance.
	segmentMin = 2
	// resolution is the standard deviation, as a share of the series' median, below which
	// values count as equal: without it two equal values would have an infinite likelihood,
	// and a rate-limited load has many.
	resolution = 1e-3
)

// Changepoints returns where the mean or the variance of x changes: the index of the first
// value of each segment but the first, ascending. Segments have at least two values.
//
// It finds the segmentation of the least cost, exactly, by PELT: the cost of a segment is −2
// times the log likelihood of its values being normal with a mean and a variance of their
// own, and each change costs 15·ln n more. Variances are taken to be at least that of 0.1 %
// of the median. Sources: Killick, Fearnhead, Eckley, "Optimal detection of changepoints with
// a linear computational cost", Journal of the American Statistical Association 107 (2012);
// the penalty is that of Barrett et al., see Classify.
func Changepoints(x []float64) []int {
	n := len(x)
	if n < 2*segmentMin {
		return nil
	}
	c := newCosts(x)
	penalty := changePenalty(n)
	best := make([]float64, n+1) // of the first t values
	last := make([]int, n+1)     // where the last segment of the best begins
	best[0] = -penalty
	best[1] = math.Inf(1)
	starts := []start{{at: 0}}
	for t := segmentMin; t <= n; t++ {
		best[t] = math.Inf(1)
		for _, s := range starts {
			if v := best[s.at] + c.segmentCost(s.at, t) + penalty; v < best[t] {
				best[t], last[t] = v, s.at
			}
		}
		starts = pruneStarts(starts, func(at int) bool { return best[at]+c.segmentCost(at, t) > best[t] })
		starts = append(starts, start{at: t - segmentMin + 1})
	}
	var changes []int
	for t := last[n]; t > 0; t = last[t] {
		changes = append(changes, t)
	}
	slices.Reverse(changes)
	return changes
}

func changePenalty(n int) float64 { return 15 * math.Log(float64(n)) }

// A start is where the last segment may begin. Once it is beaten it is kept for one turn more:
// what beat it begins a segment at t, which may end at t+segmentMin at the earliest.
type start struct {
	at     int
	beaten bool
}

func pruneStarts(starts []start, beaten func(at int) bool) []start {
	kept := starts[:0]
	for _, s := range starts {
		if !s.beaten {
			kept = append(kept, start{s.at, beaten(s.at)})
		}
	}
	return kept
}

// costs has the sums of the values, and of their squares, up to each.
type costs struct {
	sum, square []float64
	floor       float64 // of a variance
}

func newCosts(x []float64) costs {
	n := len(x)
	c := costs{make([]float64, n+1), make([]float64, n+1), 0}
	centre := Median(x)
	c.floor = max(resolution*resolution*centre*centre, math.SmallestNonzeroFloat64)
	for i, v := range x {
		v -= centre // of large values near each other the squares would cancel out
		c.sum[i+1] = c.sum[i] + v
		c.square[i+1] = c.square[i] + v*v
	}
	return c
}

// segmentCost is the cost of values i to j−1 as one segment. With the variance at its floor it is
// still a likelihood's, so that splitting a segment never makes it dearer: PELT relies on that.
func (c costs) segmentCost(i, j int) float64 {
	n := float64(j - i)
	mean := (c.sum[j] - c.sum[i]) / n
	found := max((c.square[j]-c.square[i])/n-mean*mean, 0)
	taken := max(found, c.floor)
	return n * (math.Log(2*math.Pi*taken) + found/taken)
}
