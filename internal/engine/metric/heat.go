package metric

import (
	"cmp"
	"math"
	"slices"
)

// A Heat is a coarse histogram for drawings: pairs of a bucket and its count, ascending, without
// empty buckets. Bucket i has the values in [10^(i/8), 10^((i+1)/8)) µs, eight to each factor of
// ten. The lowest bucket also has all shorter values. A second of a run takes about twenty pairs at
// most, so each second can keep its own. Heats add up without loss.
type Heat [][2]int64

// HeatLowest is the lowest bucket of a Heat, from 0.1 µs.
const HeatLowest = -8

// HeatBucketStart is where bucket i of a Heat begins, in nanoseconds.
func HeatBucketStart(i int64) float64 { return 1e3 * math.Pow(10, float64(i)/8) }

// ToHeat returns the counts of s as a Heat. Each value counts as the largest of its bucket, as for
// quantiles.
func (s Sparse) ToHeat() (h Heat) {
	bucket, end := int64(HeatLowest), HeatBucketStart(HeatLowest+1)
	for v, n := range s.ValueCounts() {
		for float64(v) >= end {
			bucket++
			end = HeatBucketStart(bucket + 1)
		}
		h = h.addCount(bucket, n)
	}
	return h
}

// addCount adds n values to a bucket that is not below the last.
func (h Heat) addCount(bucket, n int64) Heat {
	if last := len(h) - 1; last >= 0 && h[last][0] == bucket {
		h[last][1] += n
		return h
	}
	return append(h, [2]int64{bucket, n})
}

// Plus is the sum of h and other; both stay unchanged.
func (h Heat) Plus(other Heat) (sum Heat) {
	both := slices.Concat(h, other)
	slices.SortFunc(both, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for _, b := range both {
		sum = sum.addCount(b[0], b[1])
	}
	return sum
}
