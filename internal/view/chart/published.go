package chart

import (
	"fmt"

	"dyno/internal/view/format"
)

// publishedView sets the ratios that others published beside ours. The view is empty if no figure
// has a ratio.
func (e experiment) publishedView() View {
	v := View{Name: "published", Title: "Published ratios beside ours",
		Unit: "ratio to the baseline, logarithmic", Section: "beside",
		Legend: []Key{{Name: "published", Ink: "c1", Kind: Dot, Shape: Ring},
			{Name: "ours", Ink: "c1", Kind: Dot}},
		Foot: []string{"n = " + format.Plural(int64(len(e.Record.Published)), "published figure"),
			"published figures have no intervals; ours are in the forest plot",
			"the machine is another, so that only ratios compare"}}
	var values []float64
	for _, b := range e.Record.Published {
		if b.Ratio == nil && b.OursRatio == nil {
			continue
		}
		y := float64(len(v.Rows))
		says := fmt.Sprintf("%s, ours %s", ratioOf(b.Ratio), ratioOf(b.OursRatio))
		v.Rows = append(v.Rows, Row{Says: says,
			Label: format.PlainLine(joined(" ", b.Variant, b.Level, b.Metric))})
		dot := func(ratio *float64, name string, shape Shape) {
			if ratio != nil {
				values = append(values, *ratio)
				v.Marks = append(v.Marks, Mark{Kind: Dot, Name: name, Ink: "c1", Width: 5, Shape: shape,
					Points: []Point{{X: *ratio, Y: y}}})
			}
		}
		if b.Ratio != nil && b.OursRatio != nil {
			v.Marks = append(v.Marks, Mark{Kind: Line, Name: "apart", Ink: "c1", Alpha: 0.4, Width: 2,
				Points: []Point{{X: *b.Ratio, Y: y}, {X: *b.OursRatio, Y: y}}})
		}
		dot(b.Ratio, "published", Ring)
		dot(b.OursRatio, "ours", Circle)
	}
	low, high, found := extent(values, true)
	if !found {
		v.Empty = "No published figure has a baseline to be a ratio to."
	}
	v.Marks = append([]Mark{{Kind: Rule, Name: "baseline", Ink: "ink", Width: 1, Alpha: 0.7,
		Points: []Point{{X: 1}}}}, v.Marks...)
	v.X = ratioAxis(min(low, 0.97)/1.05, max(high, 1.03)*1.05, 6, "ratio", "ratio")
	return v
}

// ratioOf is a ratio, if there is one.
func ratioOf(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return format.RatioAlone(*v)
}
