package chart

import (
	"cmp"
	"fmt"
	"slices"

	"dyno/internal/lab"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/payload"
)

// This file has the forest plots: ratios of variants to their baselines, with intervals.

var verdictInks = map[answer.Verdict]string{answer.Better: "good", answer.Worse: "bad",
	answer.Refused: "doubt"}

// inkOf is the ink of a verdict, or another of one that decides nothing.
func inkOf(v answer.Verdict, otherwise string) string { return cmp.Or(verdictInks[v], otherwise) }

const overviewMost = 14 // rows of a plot of all measures

// decideViews are the forest plots of the answer: one of all measures, if there are one or two
// variants, and one of each measure.
func (e experiment) decideViews() (all []View) {
	for i, g := range e.Answer.Groups {
		all = append(all, e.decideView(i, g))
	}
	rows, few := 0, len(all) > 1
	for _, g := range e.Answer.Groups {
		rows, few = rows+len(g.Findings), few && len(g.Findings) <= 2
	}
	if few && rows <= overviewMost {
		all = append([]View{e.overviewView()}, all...)
	}
	for i := range all {
		all[i].Section, all[i].Figure = first, "decide"
	}
	return all
}

// overviewView is one plot of all measures.
func (e experiment) overviewView() View {
	var variants, baselines []string
	for _, g := range e.Answer.Groups {
		for _, one := range g.Findings {
			variants, baselines = append(variants, one.Variant), append(baselines, one.Baseline)
		}
	}
	slices.Sort(variants)
	slices.Sort(baselines)
	variants, baselines = slices.Compact(variants), slices.Compact(baselines)
	names := func(all []string) string {
		return format.Clip(format.PlainLine(joined(", ", all...)), 60)
	}
	f := &forest{View: View{Name: "overview", Title: names(variants) + " against " + names(baselines),
		Unit:   "change against the baseline, with 95 % intervals, of each measure",
		Foot:   []string{e.Answer.Groups[0].Rule},
		Choice: []Choice{{Of: "measure", Name: "all", Label: "all measures"}}}}
	for _, g := range e.Answer.Groups {
		f.margin = max(f.margin, g.Margin)
		for _, one := range g.Findings {
			label := g.Name
			if len(variants) > 1 {
				label += ": " + one.Row()
			}
			f.addFinding(e, one, label, g.Better)
		}
	}
	f.addNotLoaded(e)
	return f.finished("change", "change against the baseline")
}

// decideView is the forest plot of a measure: each variant in a row, the best first, in the colour
// of its verdict; those that were not tested; the baseline against itself at the bottom.
func (e experiment) decideView(i int, g answer.Group) View {
	v := View{Name: "decide", Title: format.PlainLine(g.Name),
		Unit: "change against the baseline, with 95 % intervals; " + g.Better, Foot: []string{g.Rule},
		Choice: []Choice{{Of: "measure", Name: fmt.Sprint(i), Label: g.Name}}}
	if i > 0 {
		v.Name = fmt.Sprintf("decide-%d", i+1)
	}
	if g.Against != "" {
		v.Title += ", against " + format.PlainLine(g.Against)
	}
	if g.Noise != "" {
		v.Foot = append(v.Foot, g.Noise)
	}
	v.Foot = append(v.Foot, g.Notes...)
	f := &forest{View: v, margin: g.Margin}
	for _, one := range g.Findings {
		f.addFinding(e, one, one.Row(), "")
	}
	f.addNotLoaded(e)
	for _, c := range e.Record.Verdicts {
		if c.Control && c.HasInterval() && c.Metric == g.Metric && c.Level == g.Level {
			f.addControl(c)
		}
	}
	return f.finished("change", "change against the baseline")
}

// Ratios is every comparison of an experiment: the picture beside its summary.
func Ratios(p *payload.Experiment) View {
	return experiment{p}.ratiosView(View{Title: format.Clip(p.Words.Title, 80)},
		func(c lab.Comparison) bool { return true },
		func(c lab.Comparison) string {
			level := p.Record.ShownLevel(c.Level)
			if level == "" {
				return c.Metric
			}
			return c.Metric + " at " + format.Clip(format.PlainLine(level), 44)
		})
}

// forestView is every comparison at a level.
func (e experiment) forestView(i int) View {
	return e.ratiosView(View{Name: nameAt("forest", i), Title: "Ratios at " + e.load(i)},
		func(c lab.Comparison) bool { return c.Level == e.Levels[i].Name },
		func(c lab.Comparison) string { return c.Metric })
}

// ratiosView is v with the comparisons of which has says so, in groups of the same name, and with
// the pairs of trials.
func (e experiment) ratiosView(v View, has func(lab.Comparison) bool,
	group func(lab.Comparison) string) View {
	v.Unit = "ratio to the baseline, logarithmic"
	v.Foot = []string{"thin: 95 % interval, all comparisons together (sign flips of rounds)",
		"thick: each alone", "shaded: within the margin; | what A/A differs by, if that is more"}
	v.Legend = []Key{{Name: "better", Ink: "good", Kind: Dot}, {Name: "worse", Ink: "bad", Kind: Dot},
		{Name: "the same", Ink: "ink", Kind: Dot, Shape: Square},
		{Name: "no sure verdict", Ink: "ink", Kind: Dot, Shape: Ring}}
	f := &forest{View: v}
	head, trials := "", []float64{}
	for at, c := range e.Record.Verdicts {
		if !has(c) {
			continue
		}
		trials = append(trials, float64(c.Trials))
		if f.margin = c.Margin; group(c) != head {
			head = group(c)
			better := map[bool]string{true: "more", false: "less"}[c.Better > 0]
			f.Rows = append(f.Rows, Row{Label: fmt.Sprintf("%s: %s is better", head, better), Head: true})
		}
		bar := e.Forest[at]
		ink := inkOf(bar.Verdict, "ink")
		y := f.addRow(Row{Label: c.Variant, Of: c.Variant, Says: c.ChangeText() + " " + bar.Words,
			Short: c.ChangeText(), Ink: ink}, c.Ratio)
		if len(bar.Pairs) > 0 {
			f.Foot[1] = "thick: each alone; small dots: pairs of trials"
			f.addPairs(y, c, bar.Pairs)
		}
		f.addAlone(y, c, ink)
		shape := Circle
		if bar.Verdict == answer.Same {
			shape = Square
		}
		if !bar.Settled {
			shape = Ring
		}
		f.addDot(y, c, ink, shape)
	}
	if len(f.Rows) == 0 {
		f.Empty = "Nothing was compared at this level."
	}
	f.Foot = append([]string{pairsText(trials)}, f.Foot...)
	return f.finished("ratio", "ratio")
}

// pairsText is of how many pairs of trials each figure is.
func pairsText(trials []float64) string {
	least, most, _ := extent(trials, false)
	if least < most {
		return fmt.Sprintf("n = %.0f to %.0f pairs of trials each", least, most)
	}
	return "n = " + format.Plural(int64(max(most, 0)), "pair") + " of trials each"
}

// A forest is a forest plot that is being made.
type forest struct {
	View
	margin    float64
	estimates []float64
	ends      []float64
}

// addRow adds a row, at whose number its marks are.
func (f *forest) addRow(r Row, ratio float64) (y float64) {
	r.Label = format.PlainLine(r.Label)
	f.Rows, f.estimates = append(f.Rows, r), append(f.estimates, ratio)
	return float64(len(f.Rows) - 1)
}

// addFinding adds what was found of a variant. Its dot is filled if the row says all that was
// asked.
func (f *forest) addFinding(e experiment, one answer.Finding, label, below string) {
	c := e.Record.Verdicts[one.Comparison]
	maybe := ""
	if one.IsDecided() {
		maybe = one.Why
	}
	ink, shape := inkOf(one.Verdict, "faint"), Circle
	r := Row{Label: label, Below: below, Value: one.Medians, Note: joined(", ", maybe, one.Unreliable),
		Says: joined(" ", one.Effect, one.Interval, string(one.Verdict)), Ink: inkOf(one.Verdict, "ink"),
		Short: string(one.Verdict)}
	if r.Note != "" {
		r.Short, r.Ink = joined(", ", r.Short, cmp.Or(one.Unreliable, "maybe")), "ink"
	}
	if !one.IsSettled() {
		shape = Ring
	}
	y := f.addRow(r, c.Ratio)
	f.addInterval(y, c, ink, 3)
	f.addDot(y, c, ink, shape)
}

// addNotLoaded adds those that were not tested.
func (f *forest) addNotLoaded(e experiment) {
	for _, one := range e.Answer.NotLoaded {
		f.Rows = append(f.Rows, Row{Label: format.PlainLine(one.Row()), Says: string(one.Verdict),
			Ink: "doubt"})
	}
}

// addControl adds the baseline against itself.
func (f *forest) addControl(c lab.Comparison) {
	r := Row{Label: c.Baseline + " itself", Says: "noise", Ink: "ink"}
	if c.Verdict == stats.Different {
		r.Says, r.Ink = "differs from itself", "bad"
	}
	if c.Alone.Level > 0 {
		c.Low, c.High = c.Alone.Low, c.Alone.High
	}
	ink := map[bool]string{true: "bad", false: "faint"}[r.Ink == "bad"]
	f.addInterval(f.addRow(r, c.Ratio), c, ink, 1.5)
}

func (f *forest) addInterval(y float64, c lab.Comparison, ink string, width float64) {
	if c.HasInterval() {
		f.ends = append(f.ends, c.Low, c.High)
		f.Marks = append(f.Marks, Mark{Kind: Line, Name: "interval", Of: f.Rows[int(y)].Of, Ink: ink,
			Width: width, Alpha: 0.85, Points: []Point{{X: c.Low, Y: y}, {X: c.High, Y: y}}})
	}
}

// addAlone adds the interval of all comparisons together, and that of each alone.
func (f *forest) addAlone(y float64, c lab.Comparison, ink string) {
	f.addInterval(y, c, ink, 1.2)
	if c.Alone.Level > 0 {
		f.ends = append(f.ends, c.Alone.Low, c.Alone.High)
		f.Marks = append(f.Marks, Mark{Kind: Line, Name: "alone", Of: c.Variant, Ink: ink, Width: 4,
			Alpha: 0.85, Points: []Point{{X: c.Alone.Low, Y: y}, {X: c.Alone.High, Y: y}}})
	}
	if c.Floor > c.Margin {
		for _, x := range []float64{1 + c.Floor, 1 / (1 + c.Floor)} {
			f.Marks = append(f.Marks, Mark{Kind: Line, Name: "noise", Of: c.Variant, Ink: "faint",
				Width: 1.5, Points: []Point{{X: x, Y: y - 0.32}, {X: x, Y: y + 0.32}}})
		}
	}
}

func (f *forest) addDot(y float64, c lab.Comparison, ink string, shape Shape) {
	f.Marks = append(f.Marks, Mark{Kind: Dot, Name: "ratio", Of: f.Rows[int(y)].Of, Ink: ink, Width: 5,
		Shape: shape, Points: []Point{{X: c.Ratio, Y: y}}})
}

// addPairs adds the ratios of single rounds.
func (f *forest) addPairs(y float64, c lab.Comparison, pairs []float64) {
	m := Mark{Kind: Dot, Name: "pairs", Of: c.Variant, Ink: "faint", Width: 1.6, Alpha: 0.8}
	for _, x := range pairs {
		m.Points = append(m.Points, Point{X: x, Y: y + 0.25})
	}
	f.ends = append(f.ends, pairs...)
	f.Marks = append(f.Marks, m)
}

// finished is the view with its axis. Of an interval that runs far beyond all estimates an end is
// not drawn.
func (f *forest) finished(unit, label string) View {
	const beyond = 4
	least, most, found := extent(f.estimates, true)
	if !found {
		least, most = 1, 1
		f.Empty = cmp.Or(f.Empty, "Nothing was compared.")
	}
	low, high := min(least, 1/(1+2*f.margin)), max(most, 1+2*f.margin)
	for _, v := range f.ends {
		low, high = min(low, max(v, least/beyond)), max(high, min(v, most*beyond))
	}
	f.X = ratioAxis(low/1.02, high*1.02, 6, label, unit)
	f.Marks = append([]Mark{
		{Kind: Rect, Name: "margin", Ink: "faint", Alpha: 0.16,
			Points: []Point{{X: 1 / (1 + f.margin), Y: -0.5},
				{X: 1 + f.margin, Y: float64(len(f.Rows)) - 0.5}}},
		{Kind: Rule, Name: "baseline", Ink: "ink", Width: 1, Alpha: 0.7, Points: []Point{{X: 1}}}},
		f.Marks...)
	var rows []string
	for _, r := range f.Rows {
		if !r.Head {
			rows = append(rows, joined(" ", r.Label+":", r.Said()))
		}
	}
	f.Summary = joined("; ", rows...)
	return f.View
}
