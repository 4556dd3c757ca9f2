package chart

import (
	"fmt"
	"math"
	"slices"

	"dyno/internal/view/format"
)

// pastViews is what earlier runs of the experiment found at a level, beside this one: a view of
// each measure. There are none if there are no earlier runs.
func (e experiment) pastViews(i int) (views []View) {
	if e.Past == nil {
		return nil
	}
	var metrics []string
	for _, m := range e.Metrics {
		metrics = append(metrics, string(m))
	}
	for _, l := range e.Past.Lines {
		if l.Level == e.Levels[i].Name && !slices.Contains(metrics, l.Metric) {
			metrics = append(metrics, l.Metric)
		}
	}
	for k, metric := range metrics {
		v := e.pastView(i, metric)
		if k > 0 {
			v.Name += "-" + metric
		}
		views = append(views, v)
	}
	return views
}

// pastView is a measure at a level, run after run: medians, their intervals, the changes that were
// found, and the medians between these.
func (e experiment) pastView(i int, metric string) View {
	runs := len(e.Past.Runs)
	v := View{Name: nameAt("past", i),
		Title: fmt.Sprintf("%s of the runs of this experiment, at %s", metric, e.load(i)),
		Unit:  "medians, run after run",
		Foot: []string{"n = " + format.Plural(int64(runs), "run"), "the last is this one",
			"bars: 95 % intervals, from 6 trials on", "pale: medians between changes (E-divisive)"}}
	if n := e.Past.LeftOut; n > 0 {
		v.Foot = append(v.Foot, format.Plural(int64(n), "older run")+" left out")
	}
	var values []float64
	var arms []string
	turns := map[string]bool{}
	for k, l := range e.Past.Lines {
		if l.Level != e.Levels[i].Name || l.Metric != metric {
			continue
		}
		marks, reached := e.pastMarks(k)
		v.Marks, values = append(v.Marks, of(l.Arm, marks...)...), append(values, reached...)
		arms = append(arms, l.Arm)
		for _, t := range l.Changes {
			turns[t.Verdict] = true
		}
	}
	if len(values) == 0 {
		v.Empty = "No run measured it at this level."
	}
	v.Legend = e.legend(arms, Line)
	for _, verdict := range []string{"better", "worse"} {
		if turns[verdict] {
			v.Legend = append(v.Legend, Key{Name: "a change: " + verdict, Ink: turnInk(verdict), Dash: 1})
		}
	}
	v.X = Axis{Low: 0.4, High: float64(runs) + 0.6, Label: "run", Text: shortRate}
	for k, every := 1, max(1, (runs+11)/12); k <= runs; k += every {
		v.X.Ticks = append(v.X.Ticks, float64(k))
	}
	v.Y = valueAxis(values, e.unit(metric), true)
	return v.divide(arms, alone)
}

// pastMarks are the marks of the k-th line of the past, and the values that they reach.
func (e experiment) pastMarks(k int) (marks []Mark, values []float64) {
	l := e.Past.Lines[k]
	line := e.line(l.Arm, nil)
	line.Width, line.Alpha = 1, 0.7
	dots := Mark{Kind: Dot, Name: l.Arm + " median", Ink: line.Ink, Width: 3.8}
	for run, y := range l.Median {
		if math.IsNaN(y) {
			continue
		}
		x, low, high := float64(run+1), l.Low[run], l.High[run]
		line.Points = append(line.Points, Point{X: x, Y: y})
		values = append(values, y)
		if !math.IsNaN(low) && !math.IsNaN(high) {
			values = append(values, low, high)
			marks = append(marks, Mark{Kind: Line, Name: "interval", Ink: line.Ink, Width: 2.2, Alpha: 0.75,
				Points: []Point{{X: x, Y: low}, {X: x, Y: high}}})
		}
	}
	for _, s := range l.Stretches {
		from, to := float64(s.From)+0.6, float64(s.To)+0.4
		marks = append(marks, Mark{Kind: Line, Name: "stretch", Ink: line.Ink, Width: 5, Alpha: 0.3,
			Points: []Point{{X: from, Y: s.Median}, {X: to, Y: s.Median}}})
	}
	for _, t := range l.Changes {
		x := float64(t.At) + 0.5
		marks = append(marks, Mark{Kind: Line, Name: "change", Ink: turnInk(t.Verdict), Dash: 1,
			Width: 1.5, Points: []Point{{X: x, Y: math.Inf(-1)}, {X: x, Y: math.Inf(1)}}})
	}
	dots.Points = line.Points
	return append(marks, line, dots), values
}

// turnInk is the colour of a change.
func turnInk(verdict string) string {
	if verdict == "worse" {
		return "bad"
	}
	return "good"
}
