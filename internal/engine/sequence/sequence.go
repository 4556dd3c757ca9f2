// Package sequence has the order in which requests with weights are sent.
package sequence

import "math/bits"

// longest bounds the memory of an order. Weights that need a longer one are scaled down, none below
// 1.
const longest = 1 << 20

// Order is an order of numbers, to be repeated forever: each as often as its weight says, and
// spread as evenly as possible. Weights below 1 are 1.
func Order(weights []int) []uint32 {
	weight, total := make([]int64, len(weights)), int64(0)
	common := int64(0)
	for k, w := range weights {
		weight[k] = max(int64(w), 1)
		common = GreatestDivisor(weight[k], common)
		total += weight[k]
	}
	for k := range weight {
		weight[k] /= common
	}
	if total /= max(common, 1); total > longest {
		scaleDown(weight, total)
	}
	return Spread(weight)
}

// scaleDown makes weights, of which total is the sum, add up to longest or a little more.
func scaleDown(weight []int64, total int64) {
	for k := range weight {
		hi, lo := bits.Mul64(uint64(weight[k]), longest)
		q, _ := bits.Div64(hi, lo, uint64(total))
		weight[k] = max(int64(q), 1)
	}
}

// Spread is an order in which each k appears weight[k] times. The j-th of them is as near as
// possible to (j+1/2)/weight[k] of the way. It is a bucket sort with one bucket a position; entries
// of one bucket keep their order.
func Spread(weight []int64) []uint32 {
	total := int64(0)
	for _, n := range weight {
		total += n
	}
	count := make([]int32, total+1)
	each := func(f func(k int, at int64)) {
		for k, n := range weight {
			for j := range n {
				f(k, (2*j+1)*total/(2*n))
			}
		}
	}
	each(func(_ int, at int64) { count[at+1]++ })
	for i := range total {
		count[i+1] += count[i]
	}
	order := make([]uint32, total)
	each(func(k int, at int64) { order[count[at]] = uint32(k); count[at]++ })
	return order
}

// GreatestDivisor is the greatest number that divides both, of which none is below 0.
func GreatestDivisor[T int | int64](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
