package stats

import (
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
	pse := pseudoError(sizes)
	reach := studentT((1+math.Pow(confidence, 1/m))/2, max(m/3, 1)) * pse
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

// tailsOfT is the probability that Student's t with df degrees of freedom is farther from 0 than t.
func tailsOfT(t, df float64) float64 { return incompleteBeta(df/2, 0.5, df/(df+t*t)) }
