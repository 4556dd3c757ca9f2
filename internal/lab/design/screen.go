package design

import "dyno/internal/stats"

// screenedContrasts are the effects of all factors of a screening, and its interactions, those that
// cannot be told apart as one. There is none unless all runs are there: without one of them no
// effect is free of the others.
func (g contrastGroup) screenedContrasts() (effects, interactions []Contrast) {
	runs := stats.FoldOver(len(g.factors))
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
			if i, had := at[stats.AliasOf(a, b)]; had {
				interactions[i].Aliases = append(interactions[i].Aliases, name)
				continue
			}
			at[stats.AliasOf(a, b)] = len(interactions)
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
