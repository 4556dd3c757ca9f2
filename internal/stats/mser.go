package stats

import "math"

// MSER says how many values at the beginning of x, a series of equal intervals, are better left
// out of its mean: those that still show how the measurement began. It takes the means of
// batches of so many values, and of all cuts in the first half the one after which the rest
// knows its mean best: that with the least Σ(z−z̄)²/(k−d)² of the k−d batches that are left.
// With batches of five values it is MSER-5; values that are means of many things already, such
// as the throughput of a second, are batches themselves (batch 1).
//
// The cut is a multiple of batch. settled is false if it is the last that was tried, half of
// the batches: then x says that it has not come to rest, and not where. What is left over at
// the end of the last whole batch is not looked at. Fewer than four batches give 0, false.
//
// A cut is no verdict. It is the least of a noisy curve, and of ten values of pure noise half
// have one; what counts is by how much the mean changes. Sources: White, "An effective
// truncation heuristic for bias reduction in simulation output", Simulation 69 (1997); White,
// Cobb, Spratt, "A comparison of five steady-state truncation heuristics for simulation",
// Winter Simulation Conference 2000, for batches of five and the first half.
func MSER(x []float64, batch int) (cut int, settled bool) {
	batch = max(batch, 1)
	k := len(x) / batch
	if k < 4 {
		return 0, false
	}
	z := make([]float64, k)
	for i := range z {
		z[i], _ = moments(x[i*batch : (i+1)*batch])
	}
	least := math.Inf(1)
	for d := 0; d <= k/2; d++ {
		m, variance := moments(z[d:])
		if variance < rounding*rounding*m*m {
			variance = 0 // what is left are roundings of equal values
		}
		if v := variance / float64(k-d); v < least {
			least, cut = v, d
		}
	}
	return cut * batch, cut < k/2
}
