package experiment

import (
	"math/bits"
	"slices"
)

// fewestScreened is how many factors a fraction is for. Fewer have eight combinations at most.
const fewestScreened = 4

// screeningRuns returns the settings of a screening of k factors of two values each: runs[i][j] is
// the value, 0 or 1, of factor j in run i. There are 8 runs for 4 factors, 16 for up to 8, and 32
// for up to 16.
//
// The first half is k columns of a Hadamard matrix in Sylvester's order, the second half its mirror
// image (fold-over): run i+N/2 has the other value of every factor of run i. So the design has
// resolution IV: the mean effect of a factor is mixed with that of no other factor, and with no
// interaction of two. Interactions of two factors are mixed with one another (see aliasOf). Source:
// Box, Hunter, "The 2^(k-p) fractional factorial designs", Technometrics 3 (1961).
func screeningRuns(k int) [][]int {
	half := fewestScreened
	for half < k {
		half *= 2
	}
	runs := make([][]int, 2*half)
	for i := range half {
		runs[i], runs[half+i] = make([]int, k), make([]int, k)
		for j := range k {
			odd := bits.OnesCount(uint(i&j)) % 2
			runs[i][j], runs[half+i][j] = odd, 1-odd
		}
	}
	return runs
}

// aliasOf is which interaction of two factors a screening measures: pairs of factors with the same
// number cannot be told apart.
func aliasOf(a, b int) int { return a ^ b }

// expandScreened are the runs of a screening as variants of v.
func expandScreened(v Variant, factors []Entry[[]string]) (all []Variant) {
	for _, run := range screeningRuns(len(factors)) {
		w := v
		for j, f := range factors {
			w = w.with(f.Name, f.Value[run[j]])
		}
		all = append(all, w)
	}
	return all
}

// isScreened reports whether a fraction of the combinations of these factors is run.
func (e *Experiment) isScreened(factors []Entry[[]string]) bool {
	return e.Design.Screen && len(factors) >= fewestScreened &&
		!slices.ContainsFunc(factors, func(f Entry[[]string]) bool { return len(f.Value) != 2 })
}

// screenedContrasts are the effects of all factors of a screening, and its interactions, those that
// cannot be told apart as one. There is none unless all runs are there: without one of them no
// effect is free of the others.
func (g contrastGroup) screenedContrasts() (effects, interactions []Contrast) {
	runs := screeningRuns(len(g.factors))
	if len(g.variants) != len(runs) {
		return nil, nil
	}
	for j, f := range g.factors {
		c := Contrast{Factor: f.Name, Name: g.of + f.Name + "=" + f.Value[1],
			Baseline: g.of + f.Name + "=" + f.Value[0]}
		for i, run := range runs {
			if mirror := (i + len(runs)/2) % len(runs); run[j] == 1 {
				c.Pairs = append(c.Pairs, Pair{Variant: g.variants[i].Name, Baseline: g.variants[mirror].Name})
			}
		}
		effects = append(effects, c)
	}
	at := map[int]int{}
	for a, f := range g.factors {
		for b := a + 1; b < len(g.factors); b++ {
			h := g.factors[b]
			name := g.of + f.Name + "=" + f.Value[1] + " and " + h.Name + "=" + h.Value[1]
			if i, had := at[aliasOf(a, b)]; had {
				interactions[i].Aliases = append(interactions[i].Aliases, name)
				continue
			}
			at[aliasOf(a, b)] = len(interactions)
			interactions = append(interactions, Contrast{Factor: f.Name, With: h.Name, Name: name,
				Baseline: eachAlone, Pairs: g.screenedFours(runs, a, b)})
		}
	}
	return effects, interactions
}

// screenedFours pairs the runs by the values of factors a and b, others as they come.
func (g contrastGroup) screenedFours(runs [][]int, a, b int) (all []Pair) {
	var with [2][2][]string // by the values of a and b
	for i, run := range runs {
		of := &with[run[a]][run[b]]
		*of = append(*of, g.variants[i].Name)
	}
	for i := range with[1][1] {
		all = append(all, Pair{Variant: with[1][1][i], Baseline: with[0][1][i]},
			Pair{Variant: with[1][0][i], Baseline: with[0][0][i], Inverse: true})
	}
	return all
}
