package stats

import (
	"cmp"
	"slices"
)

// Holm returns the p-values adjusted for all being looked at, in the order of p: those at or
// below α may be claimed together with a chance of at most α that any of the claims is false,
// however the tests depend on each other. For gates. Source: Holm, "A simple sequentially
// rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979); it is R's
// p.adjust(p, "holm").
func Holm(p []float64) []float64 {
	adjusted := make([]float64, len(p))
	worst := 0.0
	for done, i := range ascendingOrder(p) {
		worst = max(worst, min(p[i]*float64(len(p)-done), 1))
		adjusted[i] = worst
	}
	return adjusted
}

// BenjaminiHochberg returns the q-value of each p, in the order of p: of those claims with q
// at or below α a share of at most α is expected to be false, for tests that are independent
// or depend positively. For tables to look around in. Source: Benjamini, Hochberg,
// "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57
// (1995); it is R's p.adjust(p, "BH").
func BenjaminiHochberg(p []float64) []float64 {
	q := make([]float64, len(p))
	best := 1.0
	order := ascendingOrder(p)
	for n := len(p); n > 0; n-- {
		i := order[n-1]
		best = min(best, p[i]*float64(len(p))/float64(n))
		q[i] = best
	}
	return q
}

// ascendingOrder returns the indices of p from its smallest value to its largest.
func ascendingOrder(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order
}
