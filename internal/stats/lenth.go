package stats

import (
	"cmp"
	"math"
	"slices"
)

// JudgeUnreplicated judges effects of a screening that has too few rounds for JudgeTogether: most
// of its effects are assumed to be nothing but noise, and their spread is the measure of it.
//
// x[i] is an effect as the logarithm of a ratio, and scale[i] by how much its standard error is
// larger than that of the others: 1, or 2 for an interaction as a ratio of ratios. What is said
// holds of all effects together:
//
//   - Ratio is the effect with the simultaneous margin of error (SME) about it, at 95 %.
//   - Different and Negligible need an effect beyond the SME; Equivalent needs the whole interval
//     within the margin.
//   - P and Adjusted are those of Student's t with len(x)/3 degrees of freedom, the latter by
//     Šidák's correction.
//
// Source: Lenth, "Quick and easy analysis of unreplicated factorials", Technometrics 31 (1989).
// PSE is 1.5 times the median of the |effects| below 2.5·s₀, where s₀ is 1.5 times the median of
// all; SME is t((1+0.95^(1/m))/2; m/3)·PSE. Few of the effects may be real: with more than about
// half, PSE is too large and less is found. Of fewer than 6 effects all are inconclusive.
func JudgeUnreplicated(x, scale []float64, margins []Margin) []Judgement {
	m := float64(len(x))
	sizes := make([]float64, len(x))
	for i := range x {
		sizes[i] = math.Abs(x[i]) / scale[i]
	}
	pse, _, reach := lenthMargins(sizes)
	all := make([]Judgement, len(x))
	for i := range x {
		v := Interval{x[i] - reach*scale[i], x[i], x[i] + reach*scale[i], confidence}
		p := tailsOfT(sizes[i]/pse, m/3)
		if len(x) < fewestEffects || pse < leastError {
			v.Level, p = 0, 1
		}
		adjusted := -math.Expm1(m * math.Log1p(-p))
		if shown := sizes[i] > reach && v.Level > 0; !shown {
			adjusted = max(adjusted, 1-confidence+1e-6)
		} else {
			adjusted = min(adjusted, 1-confidence)
		}
		all[i] = judgeAdjusted(v, x[i], margins[i], p, adjusted)
	}
	return all
}

// leastError is the smallest pseudo standard error that is one: where most effects are equal but
// for rounding, their spread says nothing of noise.
const leastError = 1e-12

// fewestEffects is how many effects Lenth's method needs: 2 degrees of freedom.
const fewestEffects = 6

// pseudoError is Lenth's pseudo standard error of effects of these sizes.
func pseudoError(sizes []float64) float64 {
	first := 1.5 * Median(sizes)
	small := slices.DeleteFunc(slices.Clone(sizes), func(s float64) bool { return s >= 2.5*first })
	if len(small) == 0 {
		return first
	}
	return 1.5 * Median(small)
}

// lenthMargins are the pseudo standard error of effects of these sizes, the margin of error of one
// of them alone, and that of all together, at 95 %.
func lenthMargins(sizes []float64) (pse, alone, together float64) {
	m := float64(len(sizes))
	pse, df := pseudoError(sizes), max(m/3, 1)
	alone = studentT((1+confidence)/2, df) * pse
	return pse, alone, studentT((1+math.Pow(confidence, 1/m))/2, df) * pse
}

// A HalfNormal is a half-normal plot: sizes of effects over the quantiles that noise alone would
// give them. Noise lies on a line through 0 whose slope is its standard error; a real effect lies
// far off it.
//
// The quantile of the i-th smallest of m is that of |z|, where z is a standard normal variable, at
// (i − 1/2)/m: Daniel, "Use of half-normal plots in interpreting factorial two-level experiments",
// Technometrics 1 (1959). The margins are Lenth's, as in JudgeUnreplicated; all three are 0 where
// the effects are too few, or too much alike, to tell noise by.
type HalfNormal struct {
	Quantiles   []float64 // of each effect, above 0, in the order of the effects
	PseudoError float64   // Lenth's PSE, in the unit of the effects
	Alone       float64   // ME: noise alone goes beyond it with 5 % for each effect
	Together    float64   // SME: noise alone goes beyond it anywhere with 5 %
}

// HalfNormalOf is the half-normal plot of effects of these sizes, which are not negative and have
// the same standard error.
func HalfNormalOf(sizes []float64) HalfNormal {
	m := len(sizes)
	order := make([]int, m)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	h := HalfNormal{Quantiles: make([]float64, m)}
	for rank, i := range order {
		h.Quantiles[i] = math.Sqrt2 * math.Erfinv((float64(rank)+0.5)/float64(m))
	}
	if m < fewestEffects {
		return h
	}
	if pse, alone, together := lenthMargins(sizes); pse >= leastError {
		h.PseudoError, h.Alone, h.Together = pse, alone, together
	}
	return h
}

// tailsOfT is the probability that Student's t with df degrees of freedom is farther from 0 than t.
func tailsOfT(t, df float64) float64 { return incompleteBeta(df/2, 0.5, df/(df+t*t)) }
