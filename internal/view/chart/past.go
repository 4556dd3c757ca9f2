package chart

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/store"
	"dyno/internal/view/format"
	"dyno/internal/view/payload"
)

// Past returns the views of what runs of an experiment found, one after the other.
func Past(r *lab.Record, found *payload.Past) (all []View) {
	p := &payload.Experiment{Record: r, Past: found, Measures: payload.Measures(r.Trials),
		Metrics: r.Experiment.Design.Metrics}
	for _, l := range r.Experiment.Levels {
		p.Levels = append(p.Levels, payload.Level{Name: l.Name, Open: l.IsOpen()})
	}
	for i, l := range p.Levels {
		for _, v := range (experiment{p}).pastViews(i) {
			v.Section, v.Level = "past", l.Name
			all = append(all, v)
		}
	}
	return all
}

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
		for _, along := range []Choice{inOrder, inTime} {
			v := e.pastView(i, metric, along == inTime)
			v.Figure, v.Choice = v.Name, []Choice{{Of: "measure", Name: metric}, along}
			if k > 0 {
				v.Name += "-" + metric
			}
			if along == inTime {
				v.Name = ""
			}
			views = append(views, v)
		}
	}
	return views
}

// pastView is a measure at a level, run after run: medians, their intervals, the changes that were
// found, and the medians between these.
func (e experiment) pastView(i int, metric string, inTime bool) View {
	runs := e.Past.Runs
	v := View{Name: nameAt("past", i),
		Title: fmt.Sprintf("%s of the runs of this experiment, at %s", metric, e.load(i)),
		Unit:  "medians, run after run",
		Foot: []string{"n = " + format.Plural(int64(len(runs)), "run"), "the last is this one",
			"bars: 95 % intervals, from 6 trials on", "pale: medians between changes (E-divisive)"}}
	if n := e.Past.LeftOut; n > 0 {
		v.Foot = append(v.Foot, format.Plural(int64(n), "older run")+" left out")
	}
	var starts []time.Time
	var each []string
	for _, r := range runs {
		starts, each = append(starts, r.Started), append(each, dateText(r.Started)+", "+r.ID)
	}
	var arms []string
	var all []course
	for _, l := range e.Past.Lines {
		if l.Level != e.Levels[i].Name || l.Metric != metric {
			continue
		}
		c := course{line: e.line(l.Arm, nil), turns: l.Changes, stretches: l.Stretches}
		for run, y := range l.Median {
			if !math.IsNaN(y) {
				c.runs = append(c.runs, courseRun{at: run, value: y, low: l.Low[run], high: l.High[run],
					says: each[run]})
			}
		}
		all, arms = append(all, c), append(arms, l.Arm)
	}
	v.Legend = e.legend(arms, Line)
	v.addCourses(all, starts, e.unit(metric), inTime)
	if len(v.Marks) == 0 {
		v.Empty = "No run measured it at this level."
	}
	return v.divide(arms, alone)
}

// What runs are along, as readers of the page choose it.
var (
	inOrder = Choice{Of: "along", Name: "order", Label: "the runs in order"}
	inTime  = Choice{Of: "along", Name: "time", Label: "time"}
)

// A course is how a figure went from run to run.
type course struct {
	line      Mark
	runs      []courseRun
	turns     []payload.Turn
	stretches []store.Stretch
}

// A courseRun is the figure of a run, with its interval if there is one; else NaN.
type courseRun struct {
	at               int // of all runs
	value, low, high float64
	says             string
	shape            Shape
}

// addCourses adds courses over the runs' order, or over time, with the axes.
func (v *View) addCourses(all []course, starts []time.Time, unit string, inTime bool) {
	x := func(run int) float64 { return float64(run + 1) }
	if inTime {
		x = func(run int) float64 { return starts[run].Sub(starts[0]).Hours() / 24 }
	}
	var values []float64
	turns := map[string]bool{}
	for _, c := range all {
		marks, reached := c.marks(x, inTime)
		for _, m := range of(c.line.Of, marks...) {
			same := func(o Mark) bool {
				return o.Kind == Rule && o.Ink == m.Ink && o.Points[0] == m.Points[0]
			}
			if k := slices.IndexFunc(v.Marks, same); m.Kind == Rule && k >= 0 {
				v.Marks[k].Of = "" // of several lines, once
				continue
			}
			v.Marks = append(v.Marks, m)
		}
		values = append(values, reached...)
		for _, t := range c.turns {
			turns[t.Verdict] = true
		}
	}
	for _, verdict := range []string{"better", "worse"} {
		if turns[verdict] {
			v.Legend = append(v.Legend, Key{Name: "a change: " + verdict, Ink: turnInk(verdict), Dash: 1})
		}
	}
	v.X = Axis{Low: 0.4, High: float64(len(starts)) + 0.6, Label: "run"}
	for k, every := 1, max(1, (len(starts)+11)/12); k <= len(starts); k += every {
		v.X.Ticks = append(v.X.Ticks, Tick{float64(k), fmt.Sprint(k)})
	}
	if inTime {
		v.X = dates(starts)
	}
	_, high, _ := extent(values, false)
	v.Y = valueAxis(values, unit, true).or("of the values", linear(high, "", unit), "from 0")
}

// dates is an axis of days since the first start.
func dates(starts []time.Time) Axis {
	long := starts[len(starts)-1].Sub(starts[0]).Hours() / 24
	room := max(long*0.03, 0.01)
	a := linearBetween(0, long, "began, UTC", "")
	a.Low, a.High = -room, long+room
	layout := "2006-01-02"
	if long < 3 {
		layout = "01-02 15:04"
	}
	for i, t := range a.Ticks {
		at := starts[0].UTC().Add(time.Duration(t.At * 24 * float64(time.Hour)))
		a.Ticks[i].Text = at.Format(layout)
	}
	return a
}

// marks are those of a course, and the values that they reach.
func (c course) marks(x func(run int) float64, inTime bool) (marks []Mark, values []float64) {
	line := c.line
	line.Width, line.Alpha = 1, 0.7
	pad := map[bool]float64{false: 0.4}[inTime]
	var dots []Mark
	for _, r := range c.runs {
		line.Points = append(line.Points, Point{X: x(r.at), Y: r.value})
		if values = append(values, r.value); !math.IsNaN(r.low) && !math.IsNaN(r.high) {
			values = append(values, r.low, r.high)
			marks = append(marks, Mark{Kind: Line, Name: "interval", Ink: line.Ink, Width: 2.2, Alpha: 0.75,
				Points: []Point{{X: x(r.at), Y: r.low}, {X: x(r.at), Y: r.high}}})
		}
		at := slices.IndexFunc(dots, func(m Mark) bool { return m.Shape == r.shape })
		if at < 0 {
			at, dots = len(dots), append(dots, Mark{Kind: Dot, Name: line.Name + " median", Ink: line.Ink,
				Width: 3.8, Shape: r.shape})
		}
		dots[at].Points = append(dots[at].Points, Point{X: x(r.at), Y: r.value})
		dots[at].Each = append(dots[at].Each, r.says)
	}
	within := func(from, to int) (all []courseRun) {
		for _, r := range c.runs {
			if r.at >= from && r.at < to {
				all = append(all, r)
			}
		}
		return all
	}
	for _, s := range c.stretches {
		if some := within(s.From, s.To); len(some) > 0 {
			marks = append(marks, Mark{Kind: Line, Name: "stretch", Ink: line.Ink, Width: 5, Alpha: 0.3,
				Points: []Point{{X: x(some[0].at) - pad, Y: s.Median},
					{X: x(some[len(some)-1].at) + pad, Y: s.Median}}})
		}
	}
	for _, t := range c.turns {
		before, after := within(0, t.At), within(t.At, math.MaxInt)
		if len(before) == 0 || len(after) == 0 {
			continue
		}
		at := (x(before[len(before)-1].at) + x(after[0].at)) / 2
		marks = append(marks, Mark{Kind: Rule, Name: "change", Ink: turnInk(t.Verdict), Dash: 1,
			Width: 1.5, Says: t.Words, Points: []Point{{X: at}}})
	}
	return append(append(marks, line), dots...), values
}

// turnInk is the colour of a change.
func turnInk(verdict string) string {
	if verdict == "worse" {
		return "bad"
	}
	return "good"
}

// A SeriesRun is a result of a series.
type SeriesRun struct {
	store.Run
	Verdict string // of its generator
	Note    string
}

// Series returns the views of the results of one configuration, in order and over time, by that
// name. What is loaded, and how, is about.
func Series(name, about string, s store.Series, runs []SeriesRun) (all []View) {
	unit := s.Metric.Unit
	better := map[bool]string{true: "more", false: "less"}[s.Metric.Better > 0]
	for _, along := range []Choice{inOrder, inTime} {
		v := View{Name: name + "-" + along.Name, Figure: name, Choice: []Choice{along}, Section: "series",
			Cursor: true,
			Title:  format.PlainLine(s.Name + ": " + s.Newest.URL),
			Unit:   fmt.Sprintf("%s in %s, %s is better; %s", s.Metric.Name, unit, better, about),
			Foot: []string{"n = " + format.Plural(int64(len(runs)), "result"),
				"a run each: no interval", "a click opens a report; ○ suspect, ✕ the generator's own",
				"numbers: notes; lines across: changes (E-divisive)"}}
		c := course{line: styled(0, s.Name, nil), turns: payload.TurnsOf(s), stretches: s.Stretches()}
		var starts []time.Time
		var notes []Mark
		for i, r := range runs {
			starts = append(starts, r.Started)
			one := courseRun{at: i, value: r.Value, low: math.NaN(), high: math.NaN(),
				shape: map[string]Shape{result.Suspect: Ring, result.ClientBound: Cross,
					result.Failing: Cross}[r.Verdict],
				says: joined(": ", joined(", ", r.ID, dateText(r.Started), format.Known(r.Over,
					format.Amount(unit, r.Value)), r.Verdict), r.Note)}
			c.runs = append(c.runs, one)
			if r.Note != "" {
				notes = append(notes, Mark{Kind: Text, Name: fmt.Sprint(len(notes) + 1), Ink: "ink",
					Points: []Point{{X: float64(i), Y: r.Value}}})
			}
		}
		v.addCourses([]course{c}, starts, unit, along == inTime)
		for _, m := range notes {
			i := int(m.Points[0].X)
			m.Points[0].X = float64(i + 1)
			if along == inTime {
				m.Points[0].X = starts[i].Sub(starts[0]).Hours() / 24
			}
			v.Marks = append(v.Marks, m)
		}
		all = append(all, v)
	}
	return all
}
