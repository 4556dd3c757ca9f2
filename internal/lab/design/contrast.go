package design

import (
	"slices"

	"dyno/internal/lab/experiment"
)

// A Contrast compares two settings of a factor while all other factors are held alike, or the
// effect of two settings together with that of each alone (an interaction).
//
// For example, factors log (on, off) and workers (1, 2) have these contrasts:
//
//	log=off against log=on            pairs: off,1 / on,1 and off,2 / on,2
//	workers=2 against workers=1       pairs: on,2 / on,1 and off,2 / off,1
//	log=off and workers=2 together    pairs: off,2 / on,2, and inversely off,1 / on,1
//	against each alone
type Contrast struct {
	Factor   string
	With     string // the other factor of an interaction; "": none
	Name     string // as "log=off"
	Baseline string // as "log=on"
	Pairs    []Pair // the contrast is the geometric mean of their ratios

	// Aliases are other interactions that a screening cannot tell apart from this one.
	Aliases []string
}

// AliasSeparator stands between the names of aliases in a text.
const AliasSeparator = ", or "

// A Pair is two variants by name.
type Pair struct {
	Variant, Baseline string
	Inverse           bool // its ratio divides
}

// eachAlone is the baseline of an interaction: the product of both effects.
const eachAlone = "each alone"

// Contrasts returns the comparisons of factors of e, as far as the variants that are loaded have
// them: for every two values of a factor the later one against the earlier one, and after all of
// these the interactions of every two factors, of their values against the first ones.
func Contrasts(e *experiment.Experiment, loaded []string) (all []Contrast) {
	variants := slices.DeleteFunc(experiment.Expand(e), func(v experiment.Variant) bool {
		return !slices.Contains(loaded, v.Name)
	})
	var groups []contrastGroup
	for _, d := range e.Variants {
		g := contrastGroup{}
		for _, v := range variants {
			if v.Of == d.Name && len(v.Factors) > 0 {
				g.variants = append(g.variants, v)
			}
		}
		for _, f := range e.Factors {
			if len(g.variants) > 0 && hasFactor(g.variants[0], f.Name) {
				g.factors = append(g.factors, f)
			}
		}
		g.screened = e.IsScreened(g.factors)
		if len(g.variants) > 0 {
			g.of = d.Name + " "
			groups = append(groups, g)
		}
	}
	if len(groups) == 1 {
		groups[0].of = ""
	}
	var interactions []Contrast
	for _, g := range groups {
		effects, together := g.contrasts()
		all, interactions = append(all, effects...), append(interactions, together...)
	}
	return append(all, interactions...)
}

// hasFactor reports whether v has a value of a factor.
func hasFactor(v experiment.Variant, factor string) bool {
	_, is := v.ValueOf(factor)
	return is
}

func (g contrastGroup) contrasts() (effects, interactions []Contrast) {
	if g.screened {
		return g.screenedContrasts()
	}
	return g.mainEffects(), g.interactions()
}

// A contrastGroup is the variants of one definition.
type contrastGroup struct {
	of       string // what names begin with
	factors  []experiment.Entry[[]string]
	variants []experiment.Variant
	screened bool // a fraction of the combinations is run
}

func (g contrastGroup) mainEffects() (all []Contrast) {
	for _, f := range g.factors {
		for i, value := range f.Value {
			for _, base := range f.Value[:i] {
				c := Contrast{Factor: f.Name, Name: g.of + f.Name + "=" + value,
					Baseline: g.of + f.Name + "=" + base}
				for _, v := range g.variants {
					if other, is := g.withValue(v, f.Name, value, base); is {
						c.Pairs = append(c.Pairs, Pair{Variant: v.Name, Baseline: other.Name})
					}
				}
				if len(c.Pairs) > 0 {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// withValue is the variant that has base instead of value, and is v otherwise.
func (g contrastGroup) withValue(v experiment.Variant,
	factor, value, base string) (experiment.Variant, bool) {
	if had, is := v.ValueOf(factor); !is || had != value {
		return experiment.Variant{}, false
	}
	want := slices.Clone(v.Factors)
	for i, s := range want {
		if s.Factor == factor {
			want[i].Value = base
		}
	}
	i := slices.IndexFunc(g.variants, func(w experiment.Variant) bool {
		return slices.Equal(w.Factors, want)
	})
	if i < 0 {
		return experiment.Variant{}, false
	}
	return g.variants[i], true
}

func (g contrastGroup) interactions() (all []Contrast) {
	for i, f := range g.factors {
		for _, h := range g.factors[i+1:] {
			for _, x := range restOf(f.Value) {
				for _, y := range restOf(h.Value) {
					c := Contrast{Factor: f.Name, With: h.Name, Baseline: eachAlone,
						Name: g.of + f.Name + "=" + x + " and " + h.Name + "=" + y}
					if c.Pairs = g.fours(f, h, x, y); len(c.Pairs) > 0 {
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

// restOf are all values but the first.
func restOf(values []string) []string { return values[min(1, len(values)):] }

// fours are two pairs for each four variants that have x or the first value of f, and y or the
// first value of h, and are alike otherwise.
func (g contrastGroup) fours(f, h experiment.Entry[[]string], x, y string) (all []Pair) {
	for _, both := range g.variants {
		onlyY, has := g.withValue(both, f.Name, x, f.Value[0])
		onlyX, also := g.withValue(both, h.Name, y, h.Value[0])
		if !has || !also {
			continue
		}
		if none, is := g.withValue(onlyX, f.Name, x, f.Value[0]); is {
			all = append(all, Pair{Variant: both.Name, Baseline: onlyY.Name},
				Pair{Variant: onlyX.Name, Baseline: none.Name, Inverse: true})
		}
	}
	return all
}
