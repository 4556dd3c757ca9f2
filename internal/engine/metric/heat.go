package metric

import (
	"cmp"
	"math"
	"slices"
)

// A Heat is a histogram for the eye: how many values were of which size, as pairs of
// a bucket and its count, ascending, without those that are empty. Bucket i has the
// values in [10^(i/8), 10^((i+1)/8)) µs, eight to each factor of ten, and the lowest
// also all that are shorter. A second of a run takes about twenty pairs at most, so
// that each second can keep its own, and sums of them lose nothing.
type Heat [][2]int64

// HeatLowest is the lowest bucket of a Heat, from 0.1 µs.
const HeatLowest = -8

// HeatFrom is where bucket i of a Heat begins, in nanoseconds.
func HeatFrom(i int64) float64 { return 1e3 * math.Pow(10, float64(i)/8) }

// Heat is what s counted, each value taken for the largest of its bucket, as
// quantiles are.
func (s Sparse) Heat() (h Heat) {
	bucket, end := int64(HeatLowest), HeatFrom(HeatLowest+1)
	for v, n := range s.Values() {
		for float64(v) >= end {
			bucket++
			end = HeatFrom(bucket + 1)
		}
		h = h.addCount(bucket, n)
	}
	return h
}

// addCount adds n values of a bucket that is not below the last.
func (h Heat) addCount(bucket, n int64) Heat {
	if last := len(h) - 1; last >= 0 && h[last][0] == bucket {
		h[last][1] += n
		return h
	}
	return append(h, [2]int64{bucket, n})
}

// Plus is what h and other counted together; both stay as they are.
func (h Heat) Plus(other Heat) (sum Heat) {
	both := slices.Concat(h, other)
	slices.SortFunc(both, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for _, b := range both {
		sum = sum.addCount(b[0], b[1])
	}
	return sum
}
