package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/stats"
)

// HalfNormals are the half-normal plots of a screening, in the order of the verdicts; none of
// another experiment. stats.HalfNormalOf has the formulas and their sources.
func HalfNormals(r *lab.Record) (all []lab.HalfNormal) {
	if r.Experiment == nil || !r.Experiment.Design.Screen {
		return nil
	}
	for i, c := range r.Verdicts {
		if c.Factor == "" || c.Against > 0 || !(c.Ratio > 0) {
			continue
		}
		at := slices.IndexFunc(all, func(h lab.HalfNormal) bool {
			return h.Level == c.Level && h.Metric == c.Metric
		})
		if at < 0 {
			at, all = len(all), append(all, lab.HalfNormal{Level: c.Level, Metric: c.Metric})
		}
		all[at].Effects = append(all[at].Effects, lab.HalfNormalEffect{Comparison: i, Name: effectName(c),
			Size: math.Exp(effectSize(c)), StandsOut: c.Verdict == stats.Different})
	}
	for i := range all {
		placeEffects(&all[i], r.Verdicts)
	}
	return all
}

// effectName names an effect. Of pairs that a screening cannot tell apart it counts all but the
// first.
func effectName(c lab.Comparison) string {
	if c.Aliases == "" {
		return c.Variant
	}
	n := 1 + strings.Count(c.Aliases, design.AliasSeparator)
	return fmt.Sprintf("%s, or %d more", c.Variant, n)
}

// effectSize is the logarithm of a ratio without its sign; half of it for an interaction, whose
// standard error is twice that of a main effect.
func effectSize(c lab.Comparison) float64 {
	size := math.Abs(math.Log(c.Ratio))
	if c.With != "" {
		size /= 2
	}
	return size
}

// placeEffects sets the quantiles and the margins of a plot, and puts its effects in order.
func placeEffects(h *lab.HalfNormal, verdicts []lab.Comparison) {
	sizes := make([]float64, len(h.Effects))
	for i, e := range h.Effects {
		sizes[i] = effectSize(verdicts[e.Comparison])
	}
	plot := stats.HalfNormalOf(sizes)
	if plot.PseudoError > 0 {
		h.Noise, h.Alone = math.Exp(plot.PseudoError), math.Exp(plot.Alone)
		h.Together = math.Exp(plot.Together)
	}
	for i := range h.Effects {
		e := &h.Effects[i]
		e.Quantile = plot.Quantiles[i]
		e.StandsOut = e.StandsOut || h.Together > 0 && sizes[i] > plot.Together
	}
	slices.SortStableFunc(h.Effects, func(a, b lab.HalfNormalEffect) int {
		return cmp.Compare(a.Quantile, b.Quantile)
	})
}
