package stats

import (
	"math"
	"math/rand/v2"
)

// Divide returns where the distribution of x changes, of whatever kind the change is: the
// index of the first value of each segment but the first, ascending. Segments have least
// values or more (at least 2), and a change has p ≤ alpha. The same x gives the same changes
// on every machine.
//
// It is E-divisive: of all ways to cut x and to leave out an end of it, the one with the
// largest energy distance between the parts is taken, and tested by how large that is in
// permutations of x, 1/alpha of them; then each part by itself. So no distribution is assumed,
// and few values suffice, in which it differs from Changepoints. Time is O(n²) for each
// permutation: meant for a few hundred values. Source: Matteson, James, "A nonparametric
// approach for multiple change point analysis of multivariate data", Journal of the American
// Statistical Association 109 (2014).
func Divide(x []float64, least int, alpha float64) []int {
	least = max(least, 2)
	if len(x) < 2*least {
		return nil
	}
	e := newEnergies(len(x))
	at, found := e.bestSplit(x, least)
	random := rand.New(rand.NewPCG(1, uint64(len(x))))
	drawn := append([]float64(nil), x...)
	for range int(math.Round(1/alpha)) - 1 {
		random.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		if _, q := e.bestSplit(drawn, least); q >= found {
			return nil
		}
	}
	changes := append(Divide(x[:at], least, alpha), at)
	for _, later := range Divide(x[at:], least, alpha) {
		changes = append(changes, at+later)
	}
	return changes
}

// energies has the sums of the distances between the first i and the first j values.
type energies struct {
	n   int
	sum []float64 // row by row, n+1 of each
}

func newEnergies(n int) energies { return energies{n, make([]float64, (n+1)*(n+1))} }

// bestSplit returns where to cut x, and the scaled energy distance of the parts.
func (e energies) bestSplit(x []float64, least int) (at int, largest float64) {
	wide := e.n + 1
	for i, a := range x {
		above, row := e.sum[i*wide:], e.sum[(i+1)*wide:]
		line := 0.0
		for j, b := range x {
			line += math.Abs(a - b)
			row[j+1] = above[j+1] + line
		}
	}
	largest = math.Inf(-1)
	for t := least; t+least <= e.n; t++ {
		for end := t + least; end <= e.n; end++ {
			if q := e.energyDistance(t, end); q > largest {
				at, largest = t, q
			}
		}
	}
	return at, largest
}

// energyDistance is that between the values before t and those from t to end.
func (e energies) energyDistance(t, end int) float64 {
	wide := e.n + 1
	first, all, across := e.sum[t*wide+t], e.sum[end*wide+end], e.sum[t*wide+end]
	between := across - first
	second := all - first - 2*between
	m, n := float64(t), float64(end-t)
	return m * n / (m + n) * (2*between/(m*n) - first/(m*(m-1)) - second/(n*(n-1)))
}
