package chart

import (
	"fmt"
	"math"
	"slices"

	"dyno/internal/capacity"
	"dyno/internal/view/format"
	"dyno/internal/view/payload"
)

// Capacity returns the views of a search or a sweep, whichever the payload is of.
func Capacity(p payload.Capacity) (all []View) {
	if p.Search != nil {
		all = append(all, traceView(p.Search, p.Unit))
		for i := range p.Search.Objectives {
			all = append(all, objectiveView(p, i))
		}
	}
	if p.Curve != nil {
		all = append(all, sweepView(p), responseView(p.Curve))
	}
	about := joined("; ", p.Words.What, p.Words.How)
	if p.Search != nil && len(p.Search.Probes) > 0 {
		about = joined("; ", about, dateText(p.Search.Probes[0].Started))
	}
	for i := range all {
		all[i].About, all[i].Section = about, "search"
		if p.Curve != nil {
			all[i].Section = "curve"
		}
	}
	return all
}

// probeStyles are how probes of each outcome are drawn.
var probeStyles = []struct {
	outcome capacity.Outcome
	key     Key
}{{capacity.Passed, Key{Name: "passed", Ink: "c3", Kind: Dot, Shape: Circle}},
	{capacity.Failed, Key{Name: "failed", Ink: "c2", Kind: Dot, Shape: Cross}},
	{capacity.Undecided, Key{Name: "undecided", Ink: "c5", Kind: Dot, Shape: Diamond}},
	{capacity.OurLimit, Key{Name: "the generator's limit", Ink: "c4", Kind: Dot, Shape: Square}}}

// addProbes adds the probes as dots, told apart by colour and shape.
func (v *View) addProbes(all []capacity.Probe, at func(i int) (Point, bool)) {
	for _, style := range probeStyles {
		m := Mark{Kind: Dot, Name: style.key.Name, Ink: style.key.Ink, Shape: style.key.Shape, Width: 5}
		for i, p := range all {
			if point, drawn := at(i); drawn && p.Outcome == style.outcome {
				m.Points = append(m.Points, point)
			}
		}
		if len(m.Points) > 0 {
			v.Marks, v.Legend = append(v.Marks, m), append(v.Legend, style.key)
		}
	}
}

// traceView is every probe of a search in its order, and the bracket: met below, not met above.
func traceView(s *capacity.Search, unit string) View {
	v := View{Name: "trace", Title: "The search",
		Unit: fmt.Sprintf("offered %s, logarithmic, over the probes in their order", unit),
		Foot: []string{fmt.Sprintf("n = %s", format.Plural(int64(len(s.Probes)), "probe")),
			"lines: the bracket, met below and not met above"}}
	low, high := math.NaN(), math.NaN()
	var lower, upper []Point
	var rates []float64
	for i, p := range s.Probes {
		_, level := p.Level()
		switch p.Outcome {
		case capacity.Passed:
			low = max(level, known(low))
		case capacity.Failed, capacity.OurLimit:
			if math.IsNaN(high) || level < high {
				high = level
			}
		}
		x := float64(i + 1)
		lower = append(lower, Point{X: x, Y: low}, Point{X: x + 1, Y: low})
		upper = append(upper, Point{X: x, Y: high}, Point{X: x + 1, Y: high})
		rates = append(rates, level)
	}
	v.Marks = []Mark{{Kind: Line, Name: "highest met", Points: lower, Ink: "c3", Width: 1.5},
		{Kind: Line, Name: "lowest not met", Points: upper, Ink: "c2", Width: 1.5, Dash: 1}}
	v.addProbes(s.Probes, func(i int) (Point, bool) {
		return Point{X: float64(i + 1), Y: rates[i]}, rates[i] > 0
	})
	if len(v.Legend) == 0 {
		v.Empty = "No probe came to an outcome."
	}
	v.Legend = append(v.Legend, Key{Name: "highest met", Ink: "c3"},
		Key{Name: "lowest not met", Ink: "c2", Dash: 1})
	v.X = Axis{Low: 0.5, High: float64(len(s.Probes)) + 0.5, Label: "probe"}
	for i := range s.Probes {
		if every := max(1, len(s.Probes)/12); i%every == 0 {
			v.X.Ticks = append(v.X.Ticks, Tick{float64(i + 1), fmt.Sprint(i + 1)})
		}
	}
	v.Y = logarithmic(rates, 1.2, 7, unit, "")
	v.Summary = fmt.Sprintf("%s in their order, from %s to %s %s",
		format.Plural(int64(len(s.Probes)), "probe"), format.Amount("", v.Y.Low),
		format.Amount("", v.Y.High), unit)
	return v
}

// objectiveView is an objective's value over the rate, with its bounds and its limit.
func objectiveView(p payload.Capacity, i int) View {
	expr := p.Search.Objectives[i]
	limit, unit := p.Limits[i].Value, p.Limits[i].Unit
	in := map[string]string{"us": "µs", "percent": "percent"}[unit]
	what := "value"
	if unit == "us" {
		what = "latency, logarithmic"
	}
	v := View{Name: fmt.Sprintf("objective-%d", i+1), Title: expr,
		Unit: fmt.Sprintf("%s over offered %s, logarithmic", what, p.Unit),
		Foot: []string{"judged by its value: it has no bounds"}}
	values, rates := []float64{limit}, []float64{}
	bounds := []Mark{}
	for _, probe := range p.Search.Probes {
		if i >= len(probe.Judged) || probe.Judged[i].Value == nil {
			continue
		}
		j := probe.Judged[i]
		_, level := probe.Level()
		values, rates = append(values, *j.Value), append(rates, level)
		if j.Low != nil && j.High != nil {
			values = append(values, *j.Low, *j.High)
			bounds = append(bounds, Mark{Kind: Line, Name: "bounds", Ink: "c7", Width: 2,
				Points: []Point{{X: level, Y: *j.Low}, {X: level, Y: *j.High}}})
		}
	}
	v.X = logarithmic(rates, 1.2, 8, "offered "+p.Unit, "")
	v.Y = linear(slices.Max(values), "value", in)
	if unit == "us" {
		v.Y = logarithmic(values, 1.3, 7, "latency", in)
	}
	v.Marks = append([]Mark{{Kind: Line, Name: "limit", Ink: "bad", Dash: 1, Width: 1.5,
		Points: []Point{{X: v.X.Low, Y: limit}, {X: v.X.High, Y: limit}}}}, bounds...)
	v.addProbes(p.Search.Probes, func(at int) (Point, bool) {
		probe := p.Search.Probes[at]
		if i >= len(probe.Judged) || probe.Judged[i].Value == nil {
			return Point{}, false
		}
		_, level := probe.Level()
		return Point{X: level, Y: *probe.Judged[i].Value}, true
	})
	if len(rates) == 0 {
		v.Empty = "No probe measured it."
	}
	if len(bounds) > 0 {
		v.Foot = []string{"bars: bounds, each at 95 %"}
	}
	v.Foot = append([]string{"n = " + format.Plural(int64(len(rates)), "probe")}, v.Foot...)
	v.Legend = append(v.Legend, Key{Name: "limit " + format.Tick(in, limit), Ink: "bad",
		Dash: 1})
	return v
}

// sweepView is throughput over load, with the law.
func sweepView(p payload.Capacity) View {
	c := p.Curve
	v := View{Name: "throughput", Title: "Throughput over load",
		Unit:   "completed requests/s over requests in flight",
		Legend: []Key{{Name: "a run", Ink: "c1", Kind: Dot, Shape: Ring}},
		Foot: []string{fmt.Sprintf("n = %s in %s", format.Plural(int64(len(c.Points)), "run"),
			format.Plural(int64(c.Rounds), "round"))}}
	runs := Mark{Kind: Dot, Name: "a run", Ink: "c1", Width: 4, Shape: Ring}
	limits := Mark{Kind: Dot, Name: "the generator's limit", Ink: "c4", Width: 4, Shape: Square}
	widest, most := 0.0, 0.0
	for _, one := range c.Points {
		if one.X <= 0 || one.N <= 0 {
			continue
		}
		widest, most = max(widest, one.N), max(most, one.X)
		if at := (Point{X: one.N, Y: one.X}); one.Counts() {
			runs.Points = append(runs.Points, at)
		} else {
			limits.Points = append(limits.Points, at)
		}
	}
	law := Mark{Kind: Line, Name: "law", Ink: "c2", Dash: 1, Width: 2}
	band := Mark{Kind: Area, Name: "law at 95 %", Ink: "c2", Alpha: 0.25}
	for _, b := range p.Band {
		law.Points = append(law.Points, Point{X: b.N, Y: b.X})
		most = max(most, b.X)
		if b.Low != nil && b.High != nil {
			band.Points = append(band.Points, Point{X: b.N, Y: *b.High, Low: *b.Low})
			most = max(most, *b.High)
		}
	}
	if len(limits.Points) > 0 {
		v.Legend = append(v.Legend, Key{Name: "the generator's limit: no part of the law", Ink: "c4",
			Kind: Dot, Shape: Square})
	}
	if len(law.Points) > 0 {
		v.Legend = append(v.Legend, Key{Name: "law", Ink: "c2", Dash: 1})
	}
	v.X, v.Y = linear(widest, "in flight", ""), linear(most, "requests/s", "")
	v.Marks = []Mark{band, law}
	v.addFit(c.Fit, len(band.Points) > 0)
	v.Marks = append(v.Marks, runs, limits)
	if len(runs.Points)+len(limits.Points) == 0 {
		v.Empty = "Nothing was completed at any level."
	}
	return v
}

// addFit adds what is known of the law: where its peak is, and that within an interval.
func (v *View) addFit(fit *capacity.Fit, banded bool) {
	switch {
	case fit == nil:
		v.Foot = append(v.Foot, "no law: no interval")
	case banded:
		v.Foot = append(v.Foot, "band: the law at 95 %, from drawing rounds")
	default:
		v.Foot = append(v.Foot, "8 rounds or more would give the law an interval")
	}
	if fit != nil && fit.PeakNInterval != nil {
		within := fit.PeakNInterval
		high := v.X.High
		if within.High != nil {
			high = min(high, *within.High)
		}
		v.Marks = append(v.Marks, Mark{Kind: Rect, Name: "its peak at 95 %", Ink: "c7", Alpha: 0.12,
			Points: []Point{{X: within.Low}, {X: high, Y: v.Y.High}}})
	}
	if fit != nil && fit.PeakN != nil {
		v.Summary = "By the law, most throughput is at " + format.Digits3(*fit.PeakN) + " in flight"
		v.Marks = append(v.Marks, Mark{Kind: Rule, Name: "its peak", Ink: "c7", Dash: 2, Width: 1.5,
			Points: []Point{{X: *fit.PeakN}}})
		v.Legend = append(v.Legend, Key{Name: "its peak, at " + format.Digits3(*fit.PeakN),
			Ink: "c7", Dash: 2})
	}
}

// responseView is latency over throughput; the line goes through each level's medians.
func responseView(c *capacity.Curve) View {
	v := View{Name: "response", Title: "Latency over throughput",
		Unit: "latency, logarithmic, over completed requests/s",
		Foot: []string{"n = " + format.Plural(int64(len(c.Points)), "run"),
			"points: runs; line: the levels' medians, in the levels' order"}}
	byLevel := map[float64][]capacity.Point{}
	var levels, values []float64
	most := 0.0
	for _, p := range c.Points {
		if p.X <= 0 || p.P50 <= 0 || p.P99 <= 0 {
			continue
		}
		if byLevel[p.Level] == nil {
			levels = append(levels, p.Level)
		}
		byLevel[p.Level] = append(byLevel[p.Level], p)
		values, most = append(values, p.P50, p.P99), max(most, p.X)
	}
	slices.Sort(levels)
	for _, curve := range []struct {
		name  string
		shape Shape
		of    func(capacity.Point) float64
	}{{"p99", Circle, func(p capacity.Point) float64 { return p.P99 }},
		{"p50", Triangle, func(p capacity.Point) float64 { return p.P50 }}} {
		line := percentileLine(curve.name, nil)
		dots := Mark{Kind: Dot, Ink: line.Ink, Width: 3, Shape: curve.shape}
		for _, level := range levels {
			var x, y []float64
			for _, p := range byLevel[level] {
				x, y = append(x, p.X), append(y, curve.of(p))
				dots.Points = append(dots.Points, Point{X: p.X, Y: curve.of(p)})
			}
			line.Points = append(line.Points, Point{X: median(x), Y: median(y)})
		}
		v.Marks = append(v.Marks, line, dots)
		v.Legend = append(v.Legend, Key{Name: curve.name, Ink: line.Ink, Dash: line.Dash})
	}
	if len(levels) == 0 {
		v.Empty = "Nothing was completed at any level."
	}
	v.X, v.Y = linear(most, "requests/s", ""), logarithmic(values, 1.3, 7, "latency",
		"µs")
	return v
}
