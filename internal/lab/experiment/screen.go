package experiment

import (
	"slices"

	"dyno/internal/stats"
)

// expandScreened are the runs of a screening as variants of v.
func expandScreened(v Variant, factors []Entry[[]string]) (all []Variant) {
	for _, run := range stats.FoldOver(len(factors)) {
		w := v
		for j, f := range factors {
			w = w.with(f.Name, f.Value[run[j]])
		}
		all = append(all, w)
	}
	return all
}

// IsScreened reports whether a fraction of the combinations of these factors is run.
func (e *Experiment) IsScreened(factors []Entry[[]string]) bool {
	return e.Design.Screen && len(factors) >= stats.FewestScreened &&
		!slices.ContainsFunc(factors, func(f Entry[[]string]) bool { return len(f.Value) != 2 })
}
