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
	for k, metric := range e.Metrics {
		v := View{Name: nameAt("ladder", i), Title: fmt.Sprintf("%s over load", metric),
			Unit: fmt.Sprintf("medians over %s, logarithmic", loads),
			Foot: []string{"band: 95 % interval of the median, from 6 trials on"}}
		if k > 0 {
			v.Name += "-" + string(metric)
		}
		var values []float64
		var arms []string
		for _, arm := range e.Record.Arms {
			line := e.line(arm.Name, nil)
			band := Mark{Kind: Area, Name: arm.Name + " band", Of: arm.Name, Ink: line.Ink, Alpha: 0.18}
			for at, level := range l.Levels {
				m, found := e.cell(arm.Name, level, string(metric))
				if !found {
					continue
				}
				line.Points = append(line.Points, Point{X: l.At[at], Y: m.Estimate})
				if values = append(values, m.Estimate); isSure(m) {
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
			v.Foot = append(v.Foot, "thin: the universal scalability law, fitted to the trials")
			for _, law := range l.Laws {
				m := e.line(law.Arm, nil)
				m.Width, m.Dash, m.Name = 0.9, 0, law.Arm+" law"
				for at := range law.N {
					m.Points = append(m.Points, Point{X: law.N[at], Y: law.X[at]})
				}
				v.Marks = append(v.Marks, m)
			}
		}
		v.Legend = e.legend(arms, Line)
		v.X = logarithmic(l.At, 1.1, 8, loads, shortRate)
		if len(l.At) <= 8 {
			v.X.Ticks = l.At
		}
		v.Y = valueAxis(values, e.unit(string(metric)), false)
		if len(arms) == 0 {
			v.Empty = "It was not measured at these levels."
		}
		all = append(all, v.divide(arms, e.baselines))
	}
	return all
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
		return linear(high, "", withUnit(unit))
	}
	room := (high - low) * 0.12
	if room == 0 {
		room = max(math.Abs(high)*0.12, 1)
	}
	return linearBetween(low-room, high+room, "", withUnit(unit))
}

// minutes is when a trial began, in minutes after the first.
func (e experiment) minutes(i int) float64 {
	return e.Record.Trials[i].Started.Sub(e.Record.Trials[0].Started).Minutes()
}

// trialsView is each trial of a level when it ran, with its grade.
func (e experiment) trialsView(i int) View {
	metric := ""
	if len(e.Metrics) > 0 {
		metric = string(e.Metrics[0])
	}
	v := View{Name: nameAt("trials", i), Title: fmt.Sprintf("%s of each trial at %s", metric,
		e.load(i)),
		Unit: "in the order in which the trials ran",
		Foot: []string{"circle: grade A; triangle: B; cross: F; vertical lines: rounds"}}
	var values []float64
	var arms []string
	var dots []Mark
	end := 0.0
	for k, t := range e.Record.Trials {
		x := e.minutes(k)
		end = max(end, x)
		if k > 0 && t.Round != e.Record.Trials[k-1].Round {
			v.Marks = append(v.Marks, Mark{Kind: Line, Name: "round", Ink: "line", Width: 1,
				Points: []Point{{X: x, Y: math.Inf(-1)}, {X: x, Y: math.Inf(1)}}})
		}
		y, measured := t.Values[metric]
		if t.Level != e.Levels[i].Name || !measured {
			continue
		}
		if !slices.Contains(arms, t.Arm) {
			arms = append(arms, t.Arm)
		}
		values = append(values, y)
		n, control := e.hue(t.Arm)
		m := Mark{Kind: Dot, Name: t.Arm, Ink: lineInk(n), Width: 4.2, Points: []Point{{X: x, Y: y}},
			Shape: map[lab.Grade]Shape{lab.GradeB: Triangle, lab.GradeF: Cross}[t.Grade]}
		if control && m.Shape == Circle {
			m.Shape = Ring
		}
		dots = append(dots, m)
	}
	if len(dots) == 0 {
		v.Empty = "No trial at this level measured it."
	}
	v.Marks, v.Legend = append(v.Marks, dots...), e.legend(arms, Dot)
	v.Foot = append([]string{"n = " + format.Plural(int64(len(dots)), "trial")}, v.Foot...)
	v.X = linearBetween(0, end*1.02, "minutes since the first trial", shortRate)
	v.Y = valueAxis(values, e.unit(metric), true)
	return v
}

// warmupView is how servers come to speed: completed requests a second of every trial.
func (e experiment) warmupView(i int) View {
	v := View{Name: nameAt("warmup", i), Title: "From the start of the server, at " + e.load(i),
		Unit: "requests/s of each trial; thin: its warm-up",
		Foot: []string{"triangle: the first right answer"}}
	high, end := 0.0, 0.0
	var arms []string
	for k, t := range e.Record.Trials {
		if t.Level != e.Levels[i].Name || k >= len(e.Starts) {
			continue
		}
		s := e.Starts[k]
		if len(s.Warm.At)+len(s.Window.At) == 0 {
			continue
		}
		if !slices.Contains(arms, t.Arm) {
			arms = append(arms, t.Arm)
		}
		window := e.line(t.Arm, pairs(s.Window.At, s.Window.Per))
		window.Width, window.Alpha = 1.6, 0.65
		warm := Mark{Kind: Line, Of: t.Arm, Ink: window.Ink, Width: 0.9, Alpha: 0.8,
			Points: pairs(s.Warm.At, s.Warm.Per)}
		if len(window.Points) > 0 {
			warm.Points = append(warm.Points, window.Points[0]) // so that the lines meet
		}
		for _, p := range append(warm.Points, window.Points...) {
			high, end = max(high, p.Y), max(end, p.X)
		}
		v.Marks = append(v.Marks, warm, window)
		if s.Ready != nil {
			v.Marks = append(v.Marks, Mark{Kind: Dot, Of: t.Arm, Ink: window.Ink, Width: 4,
				Shape: Triangle, Points: []Point{{X: *s.Ready}}})
		}
	}
	if len(v.Marks) == 0 {
		v.Empty = "No trial at this level was measured."
	}
	v.Legend = e.legend(arms, Line)
	v.X = linearBetween(0, end, "s since the start of the processes", shortRate)
	v.Y = linear(high, "requests/s", shortRate)
	return v.divide(arms, alone)
}

// pairs are points of two columns.
func pairs(x, y []float64) (points []Point) {
	for i := range x {
		points = append(points, Point{X: x[i], Y: y[i]})
	}
	return points
}

// bentLatencies are those that may be over throughput, the first that was measured first.
var bentLatencies = []string{"p99", "p50", "p99.9", "p95", "mean", "max"}

// bendViews is latency over throughput, a view of each latency that was measured.
func (e experiment) bendViews(i int) (all []View) {
	for _, metric := range bentLatencies {
		if v := e.bendView(i, metric); v.Empty == "" {
			if len(all) > 0 {
				v.Name += "-" + metric
			}
			all = append(all, v)
		}
	}
	return all
}

// bendView is a latency over throughput at levels that differ in how much they load.
func (e experiment) bendView(i int, metric string) View {
	v := View{Name: nameAt("bend", i), Title: metric + " over throughput",
		Unit: "medians, latency logarithmic, over completed requests/s",
		Foot: []string{"bars: 95 % intervals of both medians, from 6 trials on",
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
			if isSure(x) && isSure(y) {
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
	v.X, v.Y = linear(most, "requests/s", shortRate), timeAxis(values, "latency")
	return v.divide(arms, e.baselines)
}
