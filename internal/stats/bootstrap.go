package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// BlocksMin is the fewest blocks that Bootstrap accepts: of fewer there are too few different
// samples, and the interval comes out far too narrow.
const BlocksMin = 8

// ErrFew is returned where there are too few blocks to draw from.
var ErrFew = errors.New("too few blocks to bootstrap")

// Bootstrap estimates a statistic of n blocks that has no interval of its own, such as a
// quantile of the sum of n one-second histograms: it draws n of the blocks with replacement,
// resamples times (2000 are usual), and takes the percentile interval of what the statistic
// becomes. statistic is given indices from 0 to n−1, which it must not keep; the estimate is
// that of all blocks once. The same seed gives the same interval on every machine.
//
// Blocks must be long enough to be about independent of each other: whole seconds, not
// requests. Level is the one asked for: it is true only for many blocks. With fewer than
// BlocksMin the error is ErrFew. Source: Efron, Tibshirani, "An Introduction to the
// Bootstrap", sections 8.6 and 13.3.
func Bootstrap(n, resamples int, seed uint64, statistic func(blocks []int) float64,
	level float64) (Interval, error) {
	if n < BlocksMin {
		return Interval{}, fmt.Errorf("%w: %d, at least %d", ErrFew, n, BlocksMin)
	}
	if resamples < 1 {
		return Interval{}, fmt.Errorf("bootstrap: %d resamples, at least 1", resamples)
	}
	blocks := make([]int, n)
	for i := range blocks {
		blocks[i] = i
	}
	estimate := statistic(blocks)
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	drawn := make([]float64, resamples)
	for r := range drawn {
		for i := range blocks {
			blocks[i] = random.IntN(n)
		}
		drawn[r] = statistic(blocks)
	}
	if slices.ContainsFunc(append(drawn, estimate), math.IsNaN) {
		return Interval{}, errors.New("bootstrap: the statistic of some blocks is not a number")
	}
	slices.Sort(drawn)
	tail := (1 - level) / 2
	return Interval{Quantile(drawn, tail), estimate, Quantile(drawn, 1-tail), level}, nil
}
