package stats

import (
	"fmt"
	"math"
)

// Shift estimates the shift function as ratios: by which factor variant exceeds base at each of
// several quantiles of what was measured. base[i] and variant[i] are the quantiles of the
// trials of round i, a pair, all at the same probabilities; so one interval comes back for each
// probability. "The median is better, the p99 worse" is what a single number cannot show.
//
// Each interval is PairedRatio's, over the rounds in which both have that quantile: NaN is for
// one that a trial had too few requests for. A quantile without any pair has an interval of
// NaN at the level 0. All other values must be above 0 and finite.
//
// The level holds for each quantile by itself. For a band that holds all of m at once, ask for
// Simultaneous(level, m). Sources: Doksum, "Empirical probability plots and statistical
// inference for nonlinear models in the two-sample case", Annals of Statistics 2 (1974), for
// the function; Wilcox, Erceg-Hurn, "Comparing two dependent groups via quantiles", Journal of
// Applied Statistics 39 (2012), for pairs. Note: they take the quantiles of two samples and
// bootstrap; here each trial has its own quantiles, exact to its histogram, and trials are what
// repeats, so the interval is that of the other comparisons.
func Shift(base, variant [][]float64, level float64) ([]Interval, error) {
	if len(base) != len(variant) {
		return nil, fmt.Errorf("shift: pairs of %d and %d trials", len(base), len(variant))
	}
	if len(base) == 0 {
		return nil, ErrEmpty
	}
	for i := range base {
		if len(base[i]) != len(base[0]) || len(variant[i]) != len(base[0]) {
			return nil, fmt.Errorf("shift: round %d has %d and %d quantiles, and the first %d", i+1,
				len(base[i]), len(variant[i]), len(base[0]))
		}
	}
	all := make([]Interval, len(base[0]))
	for q := range all {
		var x, y []float64
		for i := range base {
			if !math.IsNaN(base[i][q]) && !math.IsNaN(variant[i][q]) {
				x, y = append(x, variant[i][q]), append(y, base[i][q])
			}
		}
		if len(x) == 0 {
			all[q] = Interval{math.NaN(), math.NaN(), math.NaN(), 0}
			continue
		}
		var err error
		if all[q], err = PairedRatio(x, y, level); err != nil {
			return nil, fmt.Errorf("shift: quantile %d: %w", q+1, err)
		}
	}
	return all, nil
}

// Simultaneous is the level that each of m intervals needs for all of them together to hold
// what they estimate with the probability level (both 0 to 1), however they depend on each
// other: Bonferroni's. LeastPairs says how many pairs that takes: 9 for ten intervals at 95 %.
func Simultaneous(level float64, m int) float64 {
	return 1 - (1-level)/float64(max(m, 1))
}
