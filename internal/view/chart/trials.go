package chart

import (
	"fmt"
	"math"
	"slices"

	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// minutes is when a trial began, in minutes after the first.
func (e experiment) minutes(i int) float64 {
	return e.Record.Trials[i].Started.Sub(e.Record.Trials[0].Started).Minutes()
}

// trialsViews are each trial of a level when it ran, with its grade: a view of each measure.
func (e experiment) trialsViews(i int) (all []View) {
	metrics := []string{}
	for _, m := range e.Metrics {
		metrics = append(metrics, string(m))
	}
	for _, m := range lab.Measures {
		has := func(t lab.TrialSummary) bool { _, has := t.Values[m.Name]; return has }
		if !slices.Contains(metrics, m.Name) && slices.ContainsFunc(e.Record.Trials, has) {
			metrics = append(metrics, m.Name)
		}
	}
	for k, metric := range metrics {
		v := e.trialsView(i, metric)
		v.Figure, v.Choice = v.Name, []Choice{{Of: "measure", Name: metric}}
		if v.Name = e.nameOf(v.Name, k, metric); k < len(e.Metrics) || v.Empty == "" {
			all = append(all, v)
		}
	}
	return all
}

// nameOf is the name of the k-th view of a figure that has one of each measure. Those that are not
// judged are for the page alone.
func (e experiment) nameOf(figure string, k int, metric string) string {
	if k == 0 {
		return figure
	}
	for _, m := range e.Metrics {
		if string(m) == metric {
			return figure + "-" + metric
		}
	}
	return ""
}

func (e experiment) trialsView(i int, metric string) View {
	v := View{Name: nameAt("trials", i), Title: fmt.Sprintf("%s of each trial at %s", metric,
		e.load(i)),
		Unit: "in the order in which the trials ran",
		Foot: []string{"circle: grade A (a ring: the baseline against itself); triangle: B; cross: F",
			"vertical lines: rounds"}}
	var values []float64
	var arms []string
	var dots []Mark
	unit := e.unit(metric)
	for k, t := range e.Record.Trials {
		if x := e.minutes(k); k > 0 && t.Round != e.Record.Trials[k-1].Round {
			v.Marks = append(v.Marks, Mark{Kind: Rule, Name: "round", Ink: "line", Width: 1,
				Points: []Point{{X: x}}})
		}
		y, measured := t.Values[metric]
		if t.Level != e.Levels[i].Name || !measured {
			continue
		}
		if !slices.Contains(arms, t.Arm) {
			arms = append(arms, t.Arm)
		}
		values = append(values, y)
		m := e.trialMark(t)
		alike := func(o Mark) bool { return o.Of == m.Of && o.Shape == m.Shape }
		at := slices.IndexFunc(dots, alike)
		if at < 0 {
			at, dots = len(dots), append(dots, m)
		}
		dots[at].Points = append(dots[at].Points, Point{X: e.minutes(k), Y: y})
		dots[at].Each = append(dots[at].Each, fmt.Sprintf("round %d, grade %s", t.Round, t.Grade))
	}
	if len(values) == 0 {
		v.Empty = "No trial at this level measured it."
	}
	v.Marks, v.Legend = append(v.Marks, dots...), e.legend(arms, Dot)
	v.Foot = append([]string{"n = " + format.Plural(int64(len(values)), "trial")}, v.Foot...)
	v.X = linearBetween(0, e.end(), "minutes since the first trial", "")
	v.Y = valueAxis(values, unit, true)
	return v
}

// trialMark is how a trial is drawn.
func (e experiment) trialMark(t lab.TrialSummary) Mark {
	n, control := e.hue(t.Arm)
	m := Mark{Kind: Dot, Name: format.PlainLine(t.Arm), Of: t.Arm, Ink: lineInk(n), Width: 4.2,
		Shape: map[lab.Grade]Shape{lab.GradeB: Triangle, lab.GradeF: Cross}[t.Grade]}
	if control && m.Shape == Circle {
		m.Shape = Ring
	}
	return m
}

// end is when the last trial was over, in minutes after the first began.
func (e experiment) end() (end float64) {
	for k := range e.Record.Trials {
		end = max(end, e.minutes(k)+e.took(k))
	}
	return end
}

// took is how long a trial took, in minutes.
func (e experiment) took(k int) float64 {
	if k < len(e.Strip.Took) {
		return known(e.Strip.Took[k]) / 60
	}
	return 0
}

// machineView is what the machine suffered while the trials ran: a row of shades for each burden.
func (e experiment) machineView() View {
	v := View{Name: "machine", Title: "The machine meanwhile", Section: "order",
		Unit: "% of each trial's time, over the minutes since the first trial",
		Foot: []string{"waiting: pressure (PSI), the share of the time in which something waited"}}
	s := e.Strip
	for _, burden := range []struct {
		name string
		of   []float64
	}{{"steal", s.Steal}, {"other programs", s.Foreign}, {"waiting for a CPU", s.CPU},
		{"waiting for memory", s.Memory}, {"waiting for I/O", s.IO}} {
		y := float64(len(v.Rows))
		_, most, found := extent(burden.of, false)
		r := Row{Label: burden.name, Says: "n/a"}
		if found {
			r.Says = "at most " + format.Percent(most)
		}
		v.Rows = append(v.Rows, r)
		for k, percent := range burden.of {
			if math.IsNaN(percent) {
				continue
			}
			// fine at the bottom, where it begins to matter
			shade := min(heatSteps-1, math.Round((heatSteps-1)*math.Sqrt(max(percent, 0)/100)))
			from := e.minutes(k)
			v.Marks = append(v.Marks, Mark{Kind: Rect, Name: burden.name, Ink: fmt.Sprintf("h%.0f", shade),
				Says:   burden.name + ": " + format.Percent(percent),
				Points: []Point{{X: from, Y: y - 0.3}, {X: from + e.took(k), Y: y + 0.3}}})
		}
	}
	if len(e.Record.Trials) == 0 {
		v.Empty = "There was no trial."
	}
	v.X = linearBetween(0, e.end(), "minutes since the first trial", "")
	return v
}

const early = 10 // s of the window that are drawn when it is only how it begins

// warmupView is how servers come to speed: completed requests a second of every trial.
func (e experiment) warmupView(i int) View {
	v := View{Name: nameAt("warmup", i), Title: "From the start of the server, at " + e.load(i),
		Unit: "requests/s of each trial over the time since its server was started",
		Foot: []string{"thin: warm-up; bold: measured window; triangle: the first right answer"}}
	high, end, begun, n := 0.0, 0.0, 0.0, 0
	var arms []string
	cut := false
	for k, t := range e.Record.Trials {
		if t.Level != e.Levels[i].Name || k >= len(e.Starts) || t.Round >= lab.ConfirmingRound {
			continue
		}
		s := e.Starts[k]
		if len(s.Warm.At)+len(s.Window.At) == 0 {
			continue
		}
		if n++; !slices.Contains(arms, t.Arm) {
			arms = append(arms, t.Arm)
		}
		window := e.line(t.Arm, pairs(s.Window.At, s.Window.Per))
		window.Width, window.Alpha = 1.6, 0.65
		warm := Mark{Kind: Line, Of: t.Arm, Ink: window.Ink, Width: 0.9, Alpha: 0.8,
			Points: pairs(s.Warm.At, s.Warm.Per)}
		if len(window.Points) == 1 {
			window.Kind, window.Width = Dot, 3 // one point is no line
		}
		if len(window.Points) > 0 {
			begun = max(begun, window.Points[0].X)
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
		if m, drawn := e.cutMark(k, window); drawn {
			v.Marks, cut = append(v.Marks, m), true
		}
	}
	if len(v.Marks) == 0 {
		v.Empty = "No trial at this level was measured."
	}
	v.Foot = append([]string{"n = " + format.Plural(int64(n), "trial") + ", a line each"}, v.Foot...)
	v.Legend = e.legend(arms, Line)
	if cut {
		v.Legend = append(v.Legend, Key{
			Name: "MSER-5 would begin here (red: it counts against the trial)", Ink: "ink", Kind: Dot,
			Shape: Diamond})
	}
	const label = "s since the start of the processes"
	v.X = linearBetween(0, end, label, "").or("the end",
		linearBetween(0, min(end, begun+early), label, ""), fmt.Sprintf("%d s into the window", early))
	v.Y = linear(high, "requests/s", "")
	return v.divide(arms, alone)
}

// cutMark is where MSER-5 would begin, on the line of the trial's window.
func (e experiment) cutMark(k int, window Mark) (Mark, bool) {
	c := e.Starts[k].Cut
	if c == nil || c.At == nil {
		return Mark{}, false
	}
	at := slices.IndexFunc(window.Points, func(p Point) bool { return p.X >= *c.At-1e-6 })
	if at < 0 {
		return Mark{}, false
	}
	m := Mark{Kind: Dot, Of: window.Of, Ink: window.Ink, Width: 4, Shape: Diamond,
		Points: []Point{{X: *c.At, Y: window.Points[at].Y}},
		Says: format.PlainLine(window.Of) + ": MSER-5 would begin " + format.Micros(*c.At*1e6) +
			" after the start"}
	if c.Cold {
		m.Ink = "bad"
	}
	return m, true
}

// pairs are points of two columns.
func pairs(x, y []float64) (points []Point) {
	for i := range x {
		points = append(points, Point{X: x[i], Y: y[i]})
	}
	return points
}
