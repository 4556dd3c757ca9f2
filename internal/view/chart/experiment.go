package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/stats"
	"dyno/internal/view/format"
	"dyno/internal/view/payload"
)

// Experiment returns the views of an experiment, the most important first: the forest plot of each
// measure, then what each level shows.
func Experiment(p *payload.Experiment) (all []View) {
	e := experiment{p}
	all = e.decideViews()
	levels := func(section string, views func(level int) []View) {
		for i := range p.Levels {
			for _, v := range views(i) {
				v.Section, v.Level = cmp.Or(v.Section, section), p.Levels[i].Name
				all = append(all, v)
			}
		}
	}
	one := func(view func(int) View) func(int) []View {
		return func(i int) []View { return []View{view(i)} }
	}
	levels("ratios", one(e.forestView))
	levels("screened", e.halfNormalViews)
	levels("latency", e.spectrumViews)
	levels("latency", one(e.shiftView))
	levels("cost", one(e.costView))
	for i := range p.Ladders {
		for _, v := range append(e.ladderViews(i), e.bendViews(i)...) {
			v.Section = "load"
			all = append(all, v)
		}
	}
	levels("order", e.trialsViews)
	all = append(all, e.machineView())
	levels("warm", one(e.warmupView))
	levels("servers", e.serverViews)
	all = append(all, e.flameViews()...)
	if len(e.Record.Published) > 0 {
		all = append(all, e.publishedView())
	}
	levels("past", e.pastViews)
	about := joined("; ", p.Words.Title, p.Answer.Load, p.Words.Scope, dateText(p.Record.Started))
	for i := range all {
		all[i].About = about
	}
	return all
}

// An experiment is a payload that views are made from.
type experiment struct{ *payload.Experiment }

// nameAt is the name of a view of a level.
func nameAt(what string, level int) string { return fmt.Sprintf("%s-%d", what, level+1) }

// load is a level with its load in words.
func (e experiment) load(i int) string {
	name := format.PlainLine(e.Levels[i].Name)
	if i < len(e.Words.Levels) && e.Words.Levels[i] != "" {
		name += " (" + format.PlainLine(e.Words.Levels[i]) + ")"
	}
	return name
}

// hue is the number of an arm's colour: a control has its baseline's.
func (e experiment) hue(arm string) (n int, control bool) {
	for _, a := range e.Record.Arms {
		if a.Name == arm && a.Control {
			control = true
			if a.Baseline != "" {
				arm = a.Baseline
			}
		}
	}
	for _, a := range e.Record.Arms {
		switch {
		case a.Control:
		case a.Name == arm:
			return n, control
		default:
			n++
		}
	}
	return 0, control
}

// line is the line of an arm: its colour and its dash. A control is dotted.
func (e experiment) line(arm string, points []Point) Mark {
	n, control := e.hue(arm)
	m := Mark{Kind: Line, Name: arm, Of: arm, Points: points, Ink: lineInk(n), Dash: n + 3*(n/8),
		Width: 2}
	if control {
		m.Dash = 2
	}
	return m
}

// baselines are the arms that an arm is compared with.
func (e experiment) baselines(arm string) []string {
	for _, a := range e.Record.Arms {
		if a.Name == arm && a.Baseline != "" {
			return []string{a.Baseline}
		}
	}
	return nil
}

// legend is that of arms as lines or dots, in the order of the record.
func (e experiment) legend(arms []string, kind Kind) (all []Key) {
	for _, a := range e.Record.Arms {
		arm := a.Name
		if !slices.Contains(arms, arm) {
			continue
		}
		m := e.line(arm, nil)
		k := Key{Name: format.Clip(format.PlainLine(arm), 40), Of: arm, Ink: m.Ink, Dash: m.Dash,
			Kind: kind}
		if _, control := e.hue(arm); control && kind == Dot {
			k.Shape = Ring
		}
		all = append(all, k)
	}
	return all
}

// spectrumViews are latency by percentile at a level, and of an open one service time.
func (e experiment) spectrumViews(i int) []View {
	v := e.spectrumView(i, "latency")
	if !e.Levels[i].Open {
		return []View{v}
	}
	v.Figure, v.Choice = v.Name, []Choice{{Of: "of", Name: "latency", Label: "latency (from due)"}}
	service := e.spectrumView(i, "service")
	service.Figure, service.Name = v.Name, v.Name+"-service"
	service.Choice = []Choice{{Of: "of", Name: "service", Label: "service time (from sent)"}}
	return []View{v, service}
}

// spectrumView is a duration by percentile of every variant, with its band and each trial.
func (e experiment) spectrumView(i int, kind string) View {
	what := map[string]string{"latency": "Latency", "service": "Service time"}[kind]
	v := View{Name: nameAt("spectrum", i), Title: what + " by percentile at " + e.load(i),
		Unit: "duration over percentile, on a scale of 1/(1 − p)",
		Foot: []string{"bold: all trials of a variant; band: its 95 % interval, from 8 trials on",
			"thin: each trial",
			"a line ends where fewer than 10 requests lie beyond, or had no answer"}}
	var values []float64
	var arms []string
	most, n := 0.5, int64(0)
	var thin, bold []Mark
	for _, s := range e.Spectra.Cells {
		if s.Level != e.Levels[i].Name || s.Kind != kind {
			continue
		}
		arms, n = append(arms, s.Arm), n+s.Count
		at := e.Spectra.At
		line := e.line(s.Arm, curve(at, s.Merged))
		band := Mark{Kind: Area, Name: s.Arm + " band", Of: s.Arm, Ink: line.Ink, Alpha: 0.18}
		for k := range s.Low {
			band.Points = append(band.Points, Point{X: percentileX(at[k]), Y: s.High[k], Low: s.Low[k]})
		}
		for _, run := range s.Runs {
			thin = append(thin, Mark{Kind: Line, Of: s.Arm, Part: "trials", Ink: line.Ink, Width: 0.6,
				Alpha: 0.45, Points: curve(at, run)})
			values = append(values, run...)
		}
		values = append(values, s.Merged...)
		most = max(most, at[max(len(s.Merged)-1, 0)])
		thin, bold = append(thin, band), append(bold, line)
	}
	if len(bold) == 0 {
		v.Empty = "No latency was measured at this level."
	}
	v.Marks, v.Legend = append(thin, bold...), e.legend(arms, Line)
	v.Foot = append([]string{"n = " + format.Plural(n, "request")}, v.Foot...)
	v.X, v.Y = percentileAxis(most), timeAxis(values, "duration").orLinear("duration")
	return v.divide(arms, e.baselines)
}

// curve are the points of quantiles that are at some fractions.
func curve(at, values []float64) (points []Point) {
	for i, y := range values {
		if y > 0 {
			points = append(points, Point{X: percentileX(at[i]), Y: y})
		}
	}
	return points
}

// shiftView is the ratio of each percentile to the baseline's.
func (e experiment) shiftView(i int) View {
	v := View{Name: nameAt("shift", i), Title: "Latency, percentile by percentile, at " + e.load(i),
		Unit: "ratio of the variant's percentile to the baseline's, logarithmic",
		Foot: []string{"thick: 95 % interval of each",
			"thin: of all percentiles at once (sign flips of rounds)"}}
	low, high := 0.98, 1.02
	var arms []string
	var quantiles, pairs []float64
	var here []lab.Shift
	for _, s := range e.Record.Shifts {
		if s.Level == e.Levels[i].Name {
			here, arms = append(here, s), append(arms, s.Variant)
			for _, p := range s.Points {
				pairs = append(pairs, float64(p.Trials))
				if !slices.Contains(quantiles, p.Quantile) {
					quantiles = append(quantiles, p.Quantile)
				}
			}
		}
	}
	slices.Sort(quantiles)
	for k, s := range here {
		line := e.line(s.Variant, nil)
		dots := Mark{Kind: Dot, Name: s.Variant + " ratio", Ink: line.Ink, Width: 3.6}
		var bars []Mark
		for _, p := range s.Points {
			x := float64(slices.Index(quantiles, p.Quantile))
			if len(here) <= linesMax { // or each has a plot of its own
				x += 0.12 * (float64(k) - float64(len(here)-1)/2)
			}
			at := Point{X: x, Y: p.Ratio.Estimate}
			line.Points, dots.Points = append(line.Points, at), append(dots.Points, at)
			low = min(low, p.Band.Low, p.Ratio.Low)
			high = max(high, p.Band.High, p.Ratio.High)
			bars = append(bars,
				Mark{Kind: Line, Ink: line.Ink, Width: 1, Points: []Point{{X: x, Y: p.Band.Low}, {X: x,
					Y: p.Band.High}}},
				Mark{Kind: Line, Ink: line.Ink, Width: 3.2, Alpha: 0.8, Points: []Point{{X: x,
					Y: p.Ratio.Low}, {X: x, Y: p.Ratio.High}}})
		}
		line.Alpha = 0.5
		v.Marks = append(v.Marks, of(s.Variant, append(bars, line, dots)...)...)
	}
	v.Foot = append([]string{pairsText(pairs)}, v.Foot...)
	if len(here) == 0 {
		v.Empty = "Percentiles were not compared at this level."
	}
	v.Legend = e.legend(arms, Line)
	v.X = Axis{Low: -0.6, High: float64(len(quantiles)) - 0.4, Label: "percentile"}
	for k, q := range quantiles {
		v.X.Ticks = append(v.X.Ticks, Tick{float64(k), format.Percentile(q)})
	}
	v.Y = ratioAxis(low/1.01, high*1.01, 8, "ratio", "ratio")
	v.Marks = append([]Mark{{Kind: Line, Ink: "ink", Width: 1, Alpha: 0.6,
		Points: []Point{{X: v.X.Low, Y: 1}, {X: v.X.High, Y: 1}}}}, v.Marks...)
	return v.divide(arms, alone)
}

// costView is what a request costs the server: CPU time, by process, user and system.
func (e experiment) costView(i int) View {
	v := View{Name: nameAt("cost", i), Title: "CPU per request at " + e.load(i),
		Unit: "µs of the server's CPU time for each completed request, medians",
		Foot: []string{"full colour: in user mode; pale: in the kernel",
			"line: 95 % interval of the median of all",
			"a bar ends at the median of all processes, and is divided as the medians of the parts are"}}
	level, high := e.Levels[i].Name, 0.0
	for _, c := range e.Record.Cells {
		if c.Level == level && c.Metric == "cpu" {
			v.Foot = append([]string{"n = " + format.Plural(int64(c.Trials), "trial")}, v.Foot...)
			break
		}
	}
	var names []string
	for _, arm := range e.Record.Arms {
		parts := e.pieces(arm.Name, level)
		if len(parts) == 0 {
			continue
		}
		y, x := len(v.Rows), 0.0
		total, known := e.cell(arm.Name, level, "cpu")
		scale := scaleOf(parts, total, known)
		for _, part := range parts {
			if !slices.Contains(names, part.Name) {
				names = append(names, part.Name)
			}
			ink := fmt.Sprintf("a%d", slices.Index(names, part.Name)%6+1)
			for k, us := range split(part) {
				b := bar(cmp.Or(part.Name, "all"), y, x, x+us*scale, ink)
				b.Alpha, b.Of = []float64{0.95, 0.5}[k], arm.Name
				b.Says = fmt.Sprintf("%s, %s: %s in the median", b.Name, []string{"user", "kernel"}[k],
					format.Micros(us))
				v.Marks, x = append(v.Marks, b), x+us*scale
			}
		}
		row := Row{Label: format.PlainLine(arm.Name), Of: arm.Name, Says: format.Micros(x)}
		if high = max(high, x); known {
			row.Says, high = format.Micros(total.Estimate), max(high, total.High)
			if lab.Holds(total) {
				v.Marks = append(v.Marks, Mark{Kind: Line, Name: "interval", Of: arm.Name, Ink: "ink",
					Width: 2, Points: []Point{{X: total.Low, Y: float64(y)}, {X: total.High, Y: float64(y)}}})
			}
		}
		v.Rows = append(v.Rows, row)
	}
	for k, name := range names {
		v.Legend = append(v.Legend, Key{Name: cmp.Or(format.PlainLine(name), "all processes"),
			Ink: fmt.Sprintf("a%d", k%6+1), Kind: Rect})
	}
	if len(v.Rows) == 0 {
		v.Empty = "The CPU time of the servers was not measured at this level."
	}
	v.X = linear(high, "µs per request", "")
	return v
}

// pieces are the named processes of an arm, or all together where there is no name. A tree's
// processes stand for it where they are told one by one.
func (e experiment) pieces(arm, level string) (all []lab.ProcessUse) {
	var whole []lab.ProcessUse
	for _, part := range e.Record.Parts {
		if part.Arm != arm || part.Level != level {
			continue
		}
		isTree := slices.ContainsFunc(e.Record.Parts, func(o lab.ProcessUse) bool {
			return o.Arm == arm && o.Level == level && strings.HasPrefix(o.Name, part.Name+": ")
		})
		if whole = append(whole, part); part.Name != "" && !isTree {
			all = append(all, part)
		}
	}
	if len(all) == 0 {
		return whole
	}
	return all
}

// split is a part's time in user mode and in the kernel, or all of it.
func split(part lab.ProcessUse) []float64 {
	user, system := float64(part.User), float64(part.System)
	if math.IsNaN(user) || math.IsNaN(system) {
		return []float64{known(float64(part.CPU)), 0}
	}
	return []float64{user, system}
}

// scaleOf is by what the parts are multiplied so that the bar ends at the median of the whole.
func scaleOf(parts []lab.ProcessUse, whole stats.Interval, known bool) float64 {
	sum := 0.0
	for _, part := range parts {
		for _, us := range split(part) {
			sum += us
		}
	}
	if !known || sum <= 0 {
		return 1
	}
	return whole.Estimate / sum
}

// cell is the median of an arm at a level.
func (e experiment) cell(arm, level, metric string) (stats.Interval, bool) {
	for _, c := range e.Record.Cells {
		if c.Arm == arm && c.Level == level && c.Metric == metric {
			return c.Median, true
		}
	}
	return stats.Interval{}, false
}

// unit is that of a measure.
func (e experiment) unit(metric string) string {
	for _, m := range e.Measures {
		if m.Name == metric {
			return m.Unit
		}
	}
	return ""
}
