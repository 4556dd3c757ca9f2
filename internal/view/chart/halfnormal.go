package chart

import (
	"cmp"
	"math"
	"slices"

	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// halfNormalViews are the half-normal plots of a screening at a level, one of each measure.
func (e experiment) halfNormalViews(i int) (all []View) {
	for _, h := range e.HalfNormals {
		if h.Level != e.Levels[i].Name {
			continue
		}
		v := e.halfNormalView(h)
		v.Name, v.Title = nameAt("half-normal", i), h.Metric+", half-normal plot at "+e.load(i)
		v.Figure, v.Choice = v.Name, []Choice{{Of: "measure", Name: h.Metric}}
		if len(all) > 0 {
			v.Name += "-" + h.Metric
		}
		all = append(all, v)
	}
	return all
}

// halfNormalView is the half-normal plot of a measure: effects by their size, the line of noise and
// Lenth's margins of error.
func (e experiment) halfNormalView(h lab.HalfNormal) View {
	v := View{Unit: "size of each effect, a factor up or down, by the quantile that noise alone " +
		"would give it",
		Foot: []string{"n = " + format.Plural(int64(len(h.Effects)), "effect") +
			", of settings and of two together",
			"an effect of two together is drawn with the square root of its factor, so that the noise " +
				"of all is the same"},
		Legend: []Key{{Name: "stands out, better", Ink: "good", Kind: Dot},
			{Name: "stands out, worse", Ink: "bad", Kind: Dot},
			{Name: "does not stand out", Ink: "faint", Kind: Dot, Shape: Ring}}}
	high, top := max(h.Together, 1.001), 0.0
	for _, p := range h.Effects {
		high, top = max(high, p.Size), max(top, p.Quantile)
	}
	high, top = math.Pow(high, 1.06), top*1.08
	v.X = ratioAxis(1, high, 8, "factor, up or down", "ratio")
	v.Y = linearBetween(0, top, "quantile of |z|", "ratio")
	if h.Noise > 1 {
		reach := min(top, math.Log(high)/math.Log(h.Noise))
		vertical := func(name string, at float64, dash int) Mark {
			return Mark{Kind: Rule, Name: name, Ink: "ink", Width: 1.2, Dash: dash,
				Points: []Point{{X: at}}}
		}
		v.Marks = append(v.Marks, Mark{Kind: Line, Name: "noise", Ink: "faint", Width: 1.5, Dash: 2,
			Points: []Point{{X: 1}, {X: math.Pow(h.Noise, reach), Y: reach}}},
			vertical("simultaneous margin of error", h.Together, 0))
		if h.Alone <= high {
			v.Marks = append(v.Marks, vertical("margin of error", h.Alone, 1))
		}
		v.Legend = append(v.Legend, Key{Name: "noise", Ink: "faint", Dash: 2},
			Key{Name: "margin of error (Lenth)", Ink: "ink", Dash: 1},
			Key{Name: "simultaneous margin of error", Ink: "ink"})
	}
	if h.Noise > 1 {
		v.Foot = append(v.Foot, "noise passes the margin of error in 5 % of effects, and the "+
			"simultaneous one in 5 % of screenings (Lenth)")
	} else {
		v.Foot = append(v.Foot, "no margins of error: these take six effects that are not all alike")
	}
	v.Marks = append(v.Marks, e.effectMarks(h, v)...)
	var out []string
	for _, p := range slices.Backward(h.Effects) {
		if p.StandsOut {
			out = append(out, format.PlainLine(p.Name))
		}
	}
	v.Summary = h.Metric + ": " + cmp.Or(joined(", ", out...), "nothing") + " stands out"
	return v
}

// labelsApart is how far apart the names of two points are at least, as a share of the axis.
const labelsApart = 0.055

// effectMarks are the points of a half-normal plot, and the names of those that stand out, from the
// largest on. A name stands on the side that has more room.
func (e experiment) effectMarks(h lab.HalfNormal, v View) (all []Mark) {
	last := math.Inf(1)
	for k := len(h.Effects) - 1; k >= 0; k-- {
		p := h.Effects[k]
		at := []Point{{X: p.Size, Y: p.Quantile}}
		dot := Mark{Kind: Dot, Name: "effect", Ink: "faint", Width: 4.5, Shape: Ring, Points: at}
		if p.StandsOut {
			dot.Ink, dot.Shape = inkOf(e.Forest[p.Comparison].Verdict, "ink"), Circle
			if (last-p.Quantile)/v.Y.High >= labelsApart {
				last = p.Quantile
				all = append(all, Mark{Kind: Text, Name: format.PlainLine(p.Name), Ink: "ink", Points: at,
					Left: v.X.At(p.Size) > 0.5})
			}
		}
		all = append(all, dot)
	}
	return all
}
