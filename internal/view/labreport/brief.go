package labreport

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/setting"
	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// What a brief report has at most, so that it fits on a screen of 100 columns.
const (
	mostLines    = 30
	mostRows     = 8 // of a measure; others with -v
	mostOthers   = 4 // lines about measures that decide nothing
	longestName  = 24
	longestLabel = 40 // of a variant with its baseline, where there is room
)

// experimentDocument is the report of an experiment: the answer, the findings by effect, the
// variants that were refused, the cautions, the next step and what else is to stand there; with
// s.Detail all that is known besides, else the medians if there is room.
func experimentDocument(r *lab.Record, s format.Style, foot ...document.Row) document.Doc {
	a := labanswer.Of(r)
	next := nextRow(a.Next)
	next.Most = 2
	parts := slices.Concat([]document.Part{{Apart: true, Rows: leadRows(r, a, s)}},
		findingParts(r, a, s),
		[]document.Part{{Apart: true, Yields: true, Rows: cautionRows(a, s)}, medianGlance(s, r, a),
			{Apart: true, Rows: append([]document.Row{next}, foot...)}})
	d := document.Doc{Title: titleText(r), Parts: parts, Most: mostLines}
	if s.Detail {
		d.Parts, d.Most = append(parts, experimentParts(r)...), 0
	}
	return d
}

// leadRows are the load, how much was done, and what came out.
func leadRows(r *lab.Record, a answer.Answer, s format.Style) (all []document.Row) {
	if load := labanswer.LoadText(r); load != "" {
		if request := labanswer.RequestText(r); request != "" {
			load += "; " + request
		}
		all = append(all, document.Row{Name: "load", Text: load, Most: 2})
	}
	all = append(all, document.Row{Name: "done", Text: briefScope(s, r), Most: 2},
		document.Row{Name: "verdict", Text: a.Sentence, Tone: boxColor(a.Box), Most: 4})
	if a.Uncovered != "" {
		all = append(all, a.UncoveredRow())
	}
	if s.Detail {
		return append(all, conditionRows(r, a)...)
	}
	return all
}

// conditionRows are what the answer holds for, and the command that does it again.
func conditionRows(r *lab.Record, a answer.Answer) []document.Row {
	return []document.Row{{Name: "holds for", Text: strings.Join(a.Conditions, "; ")},
		{Name: "again", Command: experimentCommand(r)}}
}

// boxColor is the colour of the sentence.
func boxColor(box answer.Severity) format.Color {
	return map[answer.Severity]format.Color{answer.Clear: format.Green, answer.Doubt: format.Yellow,
		answer.Bad: format.Red}[box]
}

// briefScope is how much was done, and of what all verdicts hold together.
func briefScope(style format.Style, r *lab.Record) string {
	variants := 0
	for _, arm := range r.Arms {
		if !arm.Control {
			variants++
		}
	}
	scope := shortScope
	if style.Detail {
		scope = scopeText
	}
	s := format.Plural(int64(variants), "variant") + ", " + scope(r)
	if isGeneratorOK(r) {
		s += "; the generator was ok in each"
	}
	n, holm := 0, false
	for _, c := range r.Verdicts {
		if !c.Control {
			n++
			holm = holm || c.Against > 0
		}
	}
	switch {
	case n < 2:
		return s
	case holm:
		return s + "; verdicts hold for " + allOf(familyCount{int64(n), "comparisons"}) + " (Holm)"
	}
	var families []string
	for _, one := range familyCounts(r.Verdicts) {
		families = append(families, allOf(one))
	}
	return s + "; verdicts hold for " + strings.Join(families, ", and for ")
}

// isGeneratorOK reports whether each trial measured something, and neither a trial nor a comparison
// has a doubt about the generator. Of some doubts of an older dyno it is not known what they are
// about, and a variant's own generator does not check itself.
func isGeneratorOK(r *lab.Record) bool {
	if r.Experiment == nil || slices.ContainsFunc(r.Experiment.Variants,
		func(v experiment.Entry[experiment.Definition]) bool { return v.Value.Generator != nil }) {
		return false
	}
	if slices.ContainsFunc(r.Verdicts, func(c lab.Comparison) bool {
		return c.ClientBound || c.Disturbed > 0 || c.OtherLoad > 0
	}) {
		return false
	}
	return len(r.Trials) > 0 && !slices.ContainsFunc(r.Trials, func(t lab.TrialSummary) bool {
		return t.Failure != nil || slices.ContainsFunc(t.Reasons, func(why lab.Reason) bool {
			return why.Fact == nil || why.IsOfGenerator()
		})
	})
}

// allOf is a number of comparisons that are judged together: "both comparisons together", or "all 3
// comparisons together".
func allOf(one familyCount) string {
	switch one.n {
	case 1:
		return one.text()
	case 2:
		return "both " + one.what + " together"
	}
	return "all " + one.text() + " together"
}

// verdictColors are the colours of findings.
var verdictColors = map[answer.Verdict]format.Color{answer.Better: format.Green,
	answer.Worse: format.Red, answer.Refused: format.Yellow}

// findingParts are the findings of the measure that decides, each with its verdict, then the
// variants that were not tested, then what other measures decide, and in a few lines those that
// decide nothing.
func findingParts(r *lab.Record, a answer.Answer, s format.Style) (all []document.Part) {
	most := atMost(mostRows, s)
	if len(a.Groups) > 0 {
		most = atMost(mostRows/2, s)
		all = append(all, groupPart(a.Groups[0], s))
	}
	all = append(all, document.Part{Apart: true, Close: len(all) > 0,
		Rows: append(notLoadedRows(a, most), failedRows(r)...)})
	if len(a.Groups) == 0 {
		return all
	}
	for _, g := range a.Groups[1:] {
		g.Findings = slices.DeleteFunc(slices.Clone(g.Findings), func(f answer.Finding) bool {
			return !f.IsDecided()
		})
		if len(g.Findings) > 0 {
			one := groupPart(g, s)
			one.Close, one.Spare, one.Rest = true, 1, g.Name
			all = append(all, one)
		}
	}
	others := document.Part{Apart: true, Close: true}
	undecided := undecidedLines(a.Groups[1:])
	for _, one := range undecided[:min(len(undecided), atMost(mostOthers, s))] {
		others.Rows = append(others.Rows, document.Row{Name: "also", Text: one.text(), Most: 1})
	}
	return append(all, others)
}

// atMost is a limit, which does not apply where the style wants detail.
func atMost(n int, s format.Style) int {
	if s.Detail {
		return math.MaxInt32
	}
	return n
}

// groupPart has the findings of a measure.
func groupPart(g answer.Group, s format.Style) document.Part {
	title, brackets := g.Name, ""
	if slices.ContainsFunc(g.Findings, func(f answer.Finding) bool { return f.Interval != "" }) {
		brackets = "; [95 % interval]"
	}
	if g.Against != "" {
		title += " against " + g.Against
	}
	p := document.Part{Head: title + " (" + g.Better + "; " + g.Change + brackets + ")", Sides: "lrrl",
		Table: format.Table{{"variant", "median", "change", "95 % interval", "verdict"}}}
	findings, open := withoutNoise(g.Findings, s)
	shown := answer.Shown(findings, atMost(mostRows, s))
	for _, i := range shown {
		f := findings[i]
		p.Table = append(p.Table, []string{format.Clip(format.PlainLine(f.Row()), labelWidth(s)),
			f.Value, f.Effect, cmp.Or(f.Interval, format.TooFew), f.Words() + tailText(f)})
		p.Beside = append(p.Beside, verdictColors[f.Verdict])
	}
	if n := len(findings) - len(shown); n > 0 {
		p.Under = append(p.Under, "and "+format.Plural(int64(n), "variant")+" more: -v")
	}
	if open > 0 {
		p.Under = append(p.Under, format.Plural(int64(open), "pair")+" of factors: undecided (-v)")
	}
	p.Under = append(p.Under, g.Notes...)
	return p
}

// withoutNoise are the findings without interactions that are undecided, and how many these are: of
// many pairs of factors nearly all say nothing.
func withoutNoise(all []answer.Finding, s format.Style) (shown []answer.Finding, open int) {
	for _, f := range all {
		if f.Interaction && f.Verdict == answer.Undecided && !s.Detail {
			open++
			continue
		}
		shown = append(shown, f)
	}
	if len(shown) == 0 {
		return all, 0
	}
	return shown, open
}

// labelWidth leaves room for change, interval and verdict.
func labelWidth(s format.Style) int {
	const others = 60
	return max(longestName, min(longestLabel, s.LineWidth()-others))
}

// tailText is why a finding is undecided, or not valid.
func tailText(f answer.Finding) string {
	if f.Why == "" || f.IsDecided() || f.Verdict == answer.Same {
		return ""
	}
	return ": " + f.Why
}

// notLoadedRows are the variants that were refused or are missing, with the remedy.
func notLoadedRows(a answer.Answer, most int) (all []document.Row) {
	for i, f := range a.NotLoaded {
		row := document.Row{Name: "not tested", Text: format.Clip(format.PlainLine(f.Variant),
			longestName) + ": " + f.Why, Tone: format.Yellow, Most: 2}
		if f.Remedy != "" {
			row.Text += "; " + f.Remedy
		}
		if i == most {
			row.Text = fmt.Sprintf("and %d more: -v", len(a.NotLoaded)-most)
			return append(all, row)
		}
		all = append(all, row)
	}
	return all
}

// failedRows are the variants whose trials all failed.
func failedRows(r *lab.Record) (all []document.Row) {
	for _, arm := range r.Arms {
		n, failed, why := 0, 0, ""
		for _, t := range r.Trials {
			if t.Arm != arm.Name {
				continue
			}
			n++
			if t.Failure != nil {
				failed, why = failed+1, t.Failure.Phase+": "+t.Failure.Reason
			}
		}
		if failed > 0 && failed == n {
			all = append(all, document.Row{Name: "failed", Tone: format.Red, Most: 2,
				Text: fmt.Sprintf("%s, in each of %s: %s", format.Clip(format.PlainLine(arm.Name),
					longestName), format.Plural(int64(n), "trial"), format.PlainLine(why))})
		}
	}
	return all
}

// cautionRows are the cautions, each once, those of the findings apart.
func cautionRows(a answer.Answer, s format.Style) (all []document.Row) {
	for _, c := range unsaid(s, a) {
		if n := len(c.Reasons) - 1; n > 1 && !s.Detail {
			c.Reasons = []string{c.Reasons[0], fmt.Sprintf("%d more with -v", n)}
		}
		row := cautionRow(c)
		if s.Detail && c.Remedy != "" {
			row.Text += "; " + c.Remedy
		}
		all = append(all, row)
	}
	return all
}

func cautionRow(c answer.Caution) document.Row {
	row := document.Aside("caution", c.Text())
	row.Most = 2
	if c.Severity == answer.Bad {
		row.Tone = format.Red
	}
	return row
}

// medianGlance has the medians of each measure at the load that decides, a row for each variant. It
// is empty if the terminal is too narrow, or if a table of all follows.
func medianGlance(s format.Style, r *lab.Record, a answer.Answer) (none document.Part) {
	if r.Experiment == nil || len(r.Cells) == 0 || len(a.Groups) == 0 || s.Detail {
		return none
	}
	level := a.Groups[0].Level
	if level == "" && len(r.Experiment.Levels) > 0 {
		level = r.Experiment.Levels[0].Name
	}
	t := format.Table{{"medians" + labanswer.AtLevel(r, level)}}
	metrics := []experiment.Metric{}
	for _, m := range r.Experiment.Design.Metrics {
		metrics = append(metrics, m)
		t[0] = append(t[0], fmt.Sprintf("%s (%s)", m, metricUnit(r, string(m))))
	}
	given := false
	for _, arm := range r.Arms {
		row, any := []string{format.Clip(format.PlainLine(arm.Name), labelWidth(s))}, 0
		for _, m := range metrics {
			cell, n := medianFigure(r, arm.Name, level, string(m))
			row, any = append(row, cell), max(any, n)
			given = given || strings.Contains(cell, "±")
		}
		if any > 0 {
			t = append(t, row)
		}
	}
	p := document.Part{Table: t, Sides: "lr", Spare: 2}
	if given {
		p.Under = []string{"±: half of a median's 95 % interval"}
	}
	for _, line := range (document.Doc{Parts: []document.Part{p}}).TextLines(s) {
		if utf8.RuneCountInString(line) > s.LineWidth()+2 {
			return none
		}
	}
	return p
}

// medianFigure is the MedianFigure of a cell, and of how many trials it is.
func medianFigure(r *lab.Record, arm, level, metric string) (cell string, trials int) {
	for _, c := range r.Cells {
		if c.Arm == arm && c.Level == level && c.Metric == metric {
			return MedianFigure(c), c.Trials
		}
	}
	return format.TooFew, 0
}

// MedianFigure is a median with half of the width of its interval, if that holds.
func MedianFigure(c lab.Cell) string {
	m := c.Median
	if c.Over || !lab.Holds(m) {
		return format.Known(c.Over, format.Digits3(m.Estimate))
	}
	return format.PlusMinus(m.Estimate, (m.High-m.Low)/2)
}

// placeRows are where everything is.
func placeRows(r *lab.Record) []document.Row {
	if r.Dir == "" {
		return nil
	}
	return []document.Row{{Name: "report", Command: r.Dir + "/report.html"},
		{Name: "all of it", Command: "dyno lab show -v " + setting.ShellQuote(r.Dir)}}
}
