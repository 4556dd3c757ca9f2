package stats

import (
	"fmt"
	"math"
	"slices"
)

// SignedRank returns the two-sided p-value of Wilcoxon's signed-rank test: how likely values
// that lie symmetrically about 0 are to lie so far to one side of it as x does.
//
// It is exact at any number of values. Zeros say nothing of a side and are left out (as
// Wilcoxon did; so does R); equal distances from 0 get the mean of their ranks, and the
// distribution is that of these ranks, whereas R takes to a normal approximation then. It is
// 1 when no value is left, and never below 2/2ⁿ. Source: Hollander, Wolfe, Chicken,
// "Nonparametric Statistical Methods", 3rd ed., section 3.1 with its comment on ties.
//
// It is at or below α if and only if HodgesLehmann's interval at the level 1−α leaves out 0;
// but with zeros or equal distances the two may disagree, for which see Judgement.P.
//
// Time is O(n³): meant for trials, up to a few hundred.
func SignedRank(x []float64) float64 {
	x = slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return v == 0 })
	distances := make([]float64, len(x))
	for i, v := range x {
		distances[i] = math.Abs(v)
	}
	ranks := doubledMidranks(distances)
	up := 0
	for i, v := range x {
		if v > 0 {
			up += ranks[i]
		}
	}
	return twoSided(coinSums(ranks), up, up)
}

// MannWhitney returns the two-sided p-value of the Mann-Whitney (Wilcoxon rank-sum) test: how
// likely two sets of values from one distribution are to lie as far apart as a and b do. It
// is twice the smaller tail, at most 1, and 1 when a or b is empty.
//
// It is exact at any size when no value of all is equal to another. Equal values get the mean
// of their ranks; up to 50 values on each side the p-value is still exact (the share of all
// ways to deal these ranks to a and b), above that it is the normal approximation with the
// corrections for ties and continuity. Source: Hollander, Wolfe, Chicken, section 4.1 with
// its comments on ties.
func MannWhitney(a, b []float64) float64 {
	m, n := len(a), len(b)
	if m == 0 || n == 0 {
		return 1
	}
	all := slices.Concat(a, b)
	ranks := doubledMidranks(all)
	sum := 0
	for _, r := range ranks[:m] {
		sum += r
	}
	least := m * (m + 1) // that m values can have, doubled
	switch {
	case allDistinct(all):
		u := (sum - least) / 2
		return twoSided(rankSums(m, n), u, u)
	case m <= dealMax && n <= dealMax:
		return twoSided(dealtSums(ranks, m), sum, sum)
	}
	return tiedNormal(ranks, m, float64(sum-least)/2)
}

// dealMax keeps the exact distribution with ties below a hundred million steps.
const dealMax = 50

// UnpairedRatio estimates by which factor a exceeds b, where a and b were measured apart (two
// experiments, or a stored one and a new one) and their numbers may differ: the two-sample
// Hodges-Lehmann estimate, that is the median of all ln(a[i]/b[j]), with the interval of
// those factors which MannWhitney does not reject, turned back by exp. At least 4 and 4
// values are needed for 95 %; with fewer, Level says what there is. All values must be above
// 0. Source: Hollander, Wolfe, Chicken, sections 4.2 and 4.3; it is what R's
// wilcox.test(log(a), log(b), conf.int=TRUE) prints. Equal values only make the true level
// higher.
//
// It assumes that the two differ by a factor alone and knows nothing of drift between them:
// where there are pairs, PairedRatio says more.
func UnpairedRatio(a, b []float64, level float64) (Interval, error) {
	shifts, err := logShifts(a, b)
	if err != nil {
		return Interval{}, err
	}
	return invertTest(shifts, rankSums(len(a), len(b)), level).exponential(), nil
}

// logShifts returns ln(x/y) of every x of a with every y of b, ascending.
func logShifts(a, b []float64) ([]float64, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, ErrEmpty
	}
	for _, v := range slices.Concat(a, b) {
		if !isPositive(v) {
			return nil, fmt.Errorf("no ratio with %v: it must be above 0 and finite", v)
		}
	}
	shifts := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			shifts = append(shifts, math.Log(x)-math.Log(y))
		}
	}
	slices.Sort(shifts)
	return shifts, nil
}

// twoSided returns twice the probability of the smaller of two tails, up to most and from
// least on, but at most 1. It sums the tails themselves, not what is left of 1: a small p
// keeps its digits.
func twoSided(p []float64, least, most int) float64 {
	low, high := 0.0, 0.0
	for i, v := range p {
		if i <= most {
			low += v
		}
		if i >= least {
			high += v
		}
	}
	return min(2*min(low, high), 1)
}

// doubledMidranks returns twice the rank of each value, from 1, where equal values share the
// mean of their ranks: doubled, it is whole.
func doubledMidranks(x []float64) []int {
	s := sortedCopy(x)
	ranks := make([]int, len(x))
	for i, v := range x {
		first, _ := slices.BinarySearch(s, v)
		after, _ := slices.BinarySearchFunc(s, v, func(e, v float64) int {
			if e <= v {
				return -1
			}
			return 1
		})
		ranks[i] = first + after + 1
	}
	return ranks
}

func allDistinct(x []float64) bool {
	s := sortedCopy(x)
	return len(slices.Compact(s)) == len(x)
}

// signedRank returns the probabilities of 0…n(n+1)/2 as the sum of those ranks 1…n that get
// a positive sign by a fair coin.
func signedRank(n int) []float64 {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return coinSums(ranks)
}

// coinSums returns the probabilities of 0, 1, … as the sum of those ranks that a fair coin
// chooses.
func coinSums(ranks []int) []float64 {
	most := 0
	for _, r := range ranks {
		most += r
	}
	p := make([]float64, most+1)
	p[0] = 1
	reached := 0
	for _, r := range ranks {
		reached += r
		for w := reached; w >= 0; w-- {
			p[w] /= 2
			if w >= r {
				p[w] += p[w-r] / 2
			}
		}
	}
	return p
}

// rankSums returns the probabilities of 0…mn as the Mann-Whitney statistic of m and n values,
// all different: the coefficients of the Gaussian binomial Π (1−q^(n+i))/(1−q^i), i = 1…m,
// each factor divided by (n+i)/i so that they always sum to 1. They are symmetric: the upper
// half, where the differences would lose digits, is copied from the lower.
func rankSums(m, n int) []float64 {
	p := make([]float64, m*n+1)
	p[0] = 1
	for i := 1; i <= m; i++ {
		most := i * n
		half := most / 2
		mirrorCounts(p, most-n, half)
		for u := half; u >= n+i; u-- {
			p[u] -= p[u-n-i]
		}
		for u := i; u <= half; u++ {
			p[u] += p[u-i]
		}
		for u := range half + 1 {
			p[u] *= float64(i) / float64(n+i)
		}
	}
	mirrorCounts(p, m*n, m*n)
	return p
}

// mirrorCounts fills p from the middle of 0…most up to end with the lower half.
func mirrorCounts(p []float64, most, end int) {
	for u := most/2 + 1; u <= min(most, end); u++ {
		p[u] = p[most-u]
	}
}

// dealtSums returns the probabilities of 0, 1, … as the sum of m of the ranks, all choices of
// m being equally likely.
func dealtSums(ranks []int, m int) []float64 {
	most := 0
	for _, r := range ranks {
		most += r
	}
	ways := make([][]float64, m+1) // by how many are chosen, then by sum
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	reached := 0
	for i, r := range ranks {
		reached += r
		for k := min(i+1, m); k > 0; k-- {
			for s := reached; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	total := 0.0
	for _, w := range ways[m] {
		total += w
	}
	for s := range ways[m] {
		ways[m][s] /= total
	}
	return ways[m]
}

// tiedNormal approximates MannWhitney's p from doubled midranks, of which the first set has m,
// and its statistic u.
func tiedNormal(ranks []int, m int, u float64) float64 {
	equal := map[int]float64{}
	for _, r := range ranks {
		equal[r]++
	}
	ties := 0.0
	for _, t := range equal {
		ties += t*t*t - t
	}
	a, all := float64(m), float64(len(ranks))
	b := all - a
	variance := a * b / 12 * (all + 1 - ties/(all*(all-1)))
	if variance <= 0 {
		return 1 // all values are equal
	}
	off := max(math.Abs(u-a*b/2)-0.5, 0)
	return math.Erfc(off / math.Sqrt(2*variance))
}
