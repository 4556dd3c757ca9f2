package chart

import (
	"fmt"
	"math"
	"slices"

	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// ladderViews is each measure over levels that differ in nothing but how much they load.
func (e experiment) ladderViews(i int) (all []View) {
	l := e.Ladders[i]
	loads := "connections"
	if l.Open {
		loads = "requests/s offered"
	}
	for k, metric := range e.measured(l.Levels) {
		v := View{Name: nameAt("ladder", i), Title: metric + " over load, " + e.kindOf(i),
			Unit: fmt.Sprintf("medians over %s, logarithmic", loads),
			Foot: []string{e.trialsText(l.Levels, metric),
				"band: 95 % interval of the median, from 6 trials on"},
			Figure: nameAt("ladder", i), Choice: []Choice{{Of: "measure", Name: metric}}}
		v.Name = e.nameOf(v.Name, k, metric)
		var values []float64
		var arms []string
		for _, arm := range e.Record.Arms {
			line := e.line(arm.Name, nil)
			band := Mark{Kind: Area, Name: arm.Name + " band", Of: arm.Name, Ink: line.Ink, Alpha: 0.18}
			for at, level := range l.Levels {
				m, found := e.cell(arm.Name, level, metric)
				if !found {
					continue
				}
				line.Points = append(line.Points, Point{X: l.At[at], Y: m.Estimate})
				if values = append(values, m.Estimate); lab.Holds(m) {
					band.Points = append(band.Points, Point{X: l.At[at], Y: m.High, Low: m.Low})
					values = append(values, m.Low, m.High)
				}
			}
			if len(line.Points) > 0 {
				dots := Mark{Kind: Dot, Of: arm.Name, Ink: line.Ink, Width: 3, Points: line.Points}
				v.Marks, arms = append(v.Marks, band, line, dots), append(arms, arm.Name)
			}
		}
		if metric == "throughput" && len(l.Laws) > 0 {
			v.addLaws(e, i)
		}
		v.Legend = e.legend(arms, Line)
		v.X = logarithmic(l.At, 1.1, 8, loads, "")
		if len(l.At) <= 8 {
			v.X.Ticks = ticksIn("", l.At)
		}
		v.Y = valueAxis(values, e.unit(metric), false)
		if len(arms) == 0 {
			v.Empty = "It was not measured at these levels."
		}
		all = append(all, v.divide(arms, e.baselines))
	}
	return all
}

// addLaws adds the laws of throughput of the i-th ladder.
func (v *View) addLaws(e experiment, i int) {
	v.Foot = append(v.Foot, "thin: the universal scalability law, fitted to the trials")
	for _, law := range e.Ladders[i].Laws {
		m := e.line(law.Arm, nil)
		m.Width, m.Dash, m.Name = 0.9, 0, law.Arm+" law"
		for at := range law.N {
			m.Points = append(m.Points, Point{X: law.N[at], Y: law.X[at]})
		}
		v.Marks = append(v.Marks, m)
	}
}

// measured are the measures of which some of the levels have medians, those that are judged first.
func (e experiment) measured(levels []string) (all []string) {
	has := func(metric string) bool {
		return slices.ContainsFunc(e.Record.Cells, func(c lab.Cell) bool {
			return c.Metric == metric && slices.Contains(levels, c.Level)
		})
	}
	for _, m := range e.Metrics {
		if has(string(m)) {
			all = append(all, string(m))
		}
	}
	for _, m := range lab.Measures {
		if has(m.Name) && !slices.Contains(all, m.Name) {
			all = append(all, m.Name)
		}
	}
	return all
}

// trialsText is of how many trials the medians of a measure at some levels are.
func (e experiment) trialsText(levels []string, metric string) string {
	var trials []float64
	for _, c := range e.Record.Cells {
		if c.Metric == metric && slices.Contains(levels, c.Level) {
			trials = append(trials, float64(c.Trials))
		}
	}
	least, most, _ := extent(trials, false)
	if least < most {
		return fmt.Sprintf("n = %.0f to %.0f trials of each variant at each level", least, most)
	}
	return "n = " + format.Plural(int64(max(most, 0)), "trial") + " of each variant at each level"
}

// valueAxis is that of a measure: logarithmic if times differ by much, else linear, from 0 or, if
// near is set, around the values.
func valueAxis(values []float64, unit string, near bool) Axis {
	low, high, found := extent(values, false)
	if !found {
		low, high = 0, 1
	}
	if unit == "µs" && high/max(low, 1e-9) > 20 {
		return timeAxis(values, "")
	}
	if !near {
		return linear(high, "", unit)
	}
	room := (high - low) * 0.12
	if room == 0 {
		room = max(math.Abs(high)*0.12, 1)
	}
	return linearBetween(low-room, high+room, "", unit)
}

// bentLatencies are those that may be over throughput, the first that was measured first.
var bentLatencies = []string{"p99", "p50", "p99.9", "p95", "mean", "max"}

// bendViews is latency over throughput, a view of each latency that was measured.
func (e experiment) bendViews(i int) (all []View) {
	for _, metric := range bentLatencies {
		if v := e.bendView(i, metric); v.Empty == "" {
			v.Figure, v.Choice = v.Name, []Choice{{Of: "latency", Name: metric}}
			if len(all) > 0 {
				v.Name += "-" + metric
			}
			all = append(all, v)
		}
	}
	return all
}

// kindOf names the levels of the i-th ladder, because an experiment can have open ones and closed.
func (e experiment) kindOf(i int) string {
	return map[bool]string{true: "open levels", false: "closed levels"}[e.Ladders[i].Open]
}

// bendView is a latency over throughput at levels that differ in how much they load.
func (e experiment) bendView(i int, metric string) View {
	v := View{Name: nameAt("bend", i), Title: metric + " over throughput, " + e.kindOf(i),
		Unit: "medians, latency logarithmic, over completed requests/s",
		Foot: []string{e.trialsText(e.Ladders[i].Levels, metric),
			"bars: 95 % intervals of both medians, from 6 trials on",
			"a line goes through a variant's levels, from the least loaded to the most"}}
	var values []float64
	var arms []string
	most := 0.0
	for _, arm := range e.Record.Arms {
		line := e.line(arm.Name, nil)
		line.Width = 1.6
		var bars []Mark
		for _, level := range e.Ladders[i].Levels {
			x, done := e.cell(arm.Name, level, "throughput")
			y, found := e.cell(arm.Name, level, metric)
			if !done || !found {
				continue
			}
			line.Points = append(line.Points, Point{X: x.Estimate, Y: y.Estimate})
			values, most = append(values, y.Estimate), max(most, x.Estimate)
			if lab.Holds(x) && lab.Holds(y) {
				values, most = append(values, y.Low, y.High), max(most, x.High)
				bars = append(bars, line, line)
				bars[len(bars)-2].Points = []Point{{X: x.Low, Y: y.Estimate}, {X: x.High, Y: y.Estimate}}
				bars[len(bars)-1].Points = []Point{{X: x.Estimate, Y: y.Low}, {X: x.Estimate, Y: y.High}}
			}
		}
		for k := range bars {
			bars[k].Name, bars[k].Dash, bars[k].Alpha = "interval", 0, 0.7
		}
		if len(line.Points) > 0 {
			dots := Mark{Kind: Dot, Of: arm.Name, Ink: line.Ink, Width: 3, Points: line.Points}
			v.Marks, arms = append(append(v.Marks, bars...), line, dots), append(arms, arm.Name)
		}
	}
	if len(arms) == 0 {
		v.Empty = "Latency and throughput were not both measured at these levels."
	}
	v.Legend = e.legend(arms, Line)
	v.X, v.Y = linear(most, "requests/s", ""), timeAxis(values, "latency")
	return v.divide(arms, e.baselines)
}
