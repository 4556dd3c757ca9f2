package labreport

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
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

// writeBrief writes the answer of an experiment: the sentence, how many variants it is about, the
// findings by effect, the variants that were refused, the cautions, the medians if there is room,
// and the next step.
func writeBrief(d *format.Document, s format.Style, r *lab.Record) {
	a := labanswer.Of(r)
	head := &document.Screen{Style: s}
	title := format.Clip(titleText(r), s.LineWidth()+2)
	if a.Load != "" {
		head.Add("", 0, a.Load, 2)
	}
	head.Add("", 0, briefScope(s, r), 2)
	head.Add(boxColor(a.Box), 0, a.Sentence, 3)
	if a.Uncovered != "" {
		head.Add(format.Yellow, 0, "! "+a.Uncovered+" (below)", document.MostRowLines)
	}
	head.Lines = append(head.Lines, "")
	foot := footLines(s, r, a)
	room := head.AtMost(mostLines) - 1 - len(head.Lines) - len(foot)
	const reserved = 4 // lines for cautions, with the blank one
	findings := findingLines(s, r, a, room-reserved)
	medians := medianLines(s, r, a)
	others := 1 + len(head.Lines) + len(findings) + len(foot)
	cautions := cautionLines(s, a, room-len(findings), document.MostRowLines)
	if others+len(cautions)+len(medians) > mostLines { // a line each, if there are several
		cautions = cautionLines(s, a, room-len(findings), 1)
	}
	all := slices.Concat(head.Lines, findings, cautions)
	if others+len(cautions)+len(medians) <= mostLines && !s.Detail {
		all = append(all, medians...)
	}
	fmt.Fprintln(d, s.Paint(format.Bold, title))
	for _, line := range append(all, foot...) {
		fmt.Fprintln(d, line)
	}
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

// findingLines are the findings of the measure that decides, each with its verdict, then the
// variants that were not tested, then what other measures decide, and in a few lines those that
// decide nothing.
func findingLines(s format.Style, r *lab.Record, a answer.Answer, room int) []string {
	b := &document.Screen{Style: s}
	if len(a.Groups) == 0 {
		addNotLoaded(b, a, b.AtMost(mostRows))
		addFailed(b, r)
		if len(b.Lines) == 0 {
			return nil // the sentence says it
		}
		return append(b.Lines, "")
	}
	others, left := &document.Screen{Style: s}, 0
	addGroup(b, a.Groups[0], false)
	addNotLoaded(b, a, b.AtMost(mostRows/2))
	addFailed(b, r)
	othersOf := undecidedLines(a.Groups[1:])
	for _, one := range othersOf[:min(len(othersOf), b.AtMost(mostOthers))] {
		others.Add("", 0, one.text(), 1)
	}
	for _, g := range a.Groups[1:] {
		if !slices.ContainsFunc(g.Findings, answer.Finding.IsDecided) {
			continue
		}
		one := &document.Screen{Style: s}
		addGroup(one, g, true)
		if len(b.Lines)+len(one.Lines)+len(others.Lines)+2 > room {
			left++
			continue
		}
		b.Lines = append(b.Lines, one.Lines...)
	}
	if left > 0 {
		others.Add("", 0, "findings of "+format.Plural(int64(left), "other measure")+": -v", 1)
	}
	return append(append(b.Lines, others.Lines...), "")
}

// addGroup adds the findings of a measure, all or only those that are decided.
func addGroup(b *document.Screen, g answer.Group, decided bool) {
	title := g.Name
	if g.Against != "" {
		title += " against " + g.Against
	}
	b.Add(format.Bold, 0, title+" ("+g.Better+"; "+g.Change+")", 1)
	rows := format.Table{}
	var verdicts, tails []string
	var colors []format.Color
	findings := g.Findings
	if decided {
		findings = slices.DeleteFunc(slices.Clone(findings), func(f answer.Finding) bool {
			return !f.IsDecided()
		})
	}
	findings, open := withoutNoise(b, findings)
	shown := answer.Shown(findings, b.AtMost(mostRows))
	for _, i := range shown {
		f := findings[i]
		interval := f.Interval
		if interval == "" {
			interval = format.TooFew
		}
		rows = append(rows, []string{format.Clip(format.PlainLine(f.Row()), labelWidth(b)), f.Value,
			f.Effect, interval})
		verdicts, colors = append(verdicts, f.Words()), append(colors, verdictColors[f.Verdict])
		tails = append(tails, tailText(f))
	}
	for i, line := range document.AlignedRows(rows, "lrrl") {
		b.AddRow(colors[i], line, verdicts[i]+tails[i])
	}
	if n := len(findings) - len(shown); n > 0 {
		more := "and " + format.Plural(int64(n), "variant") + " more: -v"
		b.Add("", document.RowIndent, more, 1)
	}
	if open > 0 {
		more := format.Plural(int64(open), "pair") + " of factors: undecided (-v)"
		b.Add("", document.RowIndent, more, 1)
	}
	for _, note := range g.Notes {
		b.Add("", document.RowIndent, note, document.MostRowLines)
	}
}

// withoutNoise are the findings without interactions that are undecided, and how many these are: of
// many pairs of factors nearly all say nothing.
func withoutNoise(b *document.Screen, all []answer.Finding) (shown []answer.Finding, open int) {
	for _, f := range all {
		if f.Interaction && f.Verdict == answer.Undecided && !b.Style.Detail {
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
func labelWidth(b *document.Screen) int {
	const others = 60
	return max(longestName, min(longestLabel, b.Style.LineWidth()-others))
}

// tailText is why a finding is undecided, or not valid.
func tailText(f answer.Finding) string {
	if f.Why == "" || f.IsDecided() || f.Verdict == answer.Same {
		return ""
	}
	return ": " + f.Why
}

// addNotLoaded adds the variants that were refused or are missing, with the remedy.
func addNotLoaded(b *document.Screen, a answer.Answer, most int) {
	for i, f := range a.NotLoaded {
		if i == most {
			b.Add(format.Yellow, document.RowIndent-2, fmt.Sprintf("and %d more that were not tested: -v",
				len(a.NotLoaded)-most), 1)
			return
		}
		text := format.Clip(format.PlainLine(f.Variant), longestName) + ": not tested: " + f.Why
		if f.Remedy != "" {
			text += "; " + f.Remedy
		}
		b.Add(format.Yellow, document.RowIndent-2, text, document.MostRowLines)
	}
}

// addFailed adds the variants whose trials all failed.
func addFailed(b *document.Screen, r *lab.Record) {
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
			b.Add(format.Red, document.RowIndent-2, fmt.Sprintf("%s: failed in each of %s: %s",
				format.Clip(format.PlainLine(arm.Name), longestName), format.Plural(int64(n), "trial"),
				format.PlainLine(why)), document.MostRowLines)
		}
	}
}

// cautionLines are the cautions, each once, those of the findings apart. If there are more than two
// of them, each has at most so many lines.
func cautionLines(s format.Style, a answer.Answer, room, each int) []string {
	b := &document.Screen{Style: s}
	all := unsaid(s, a)
	for i, c := range all {
		text := "! " + c.Text()
		if s.Detail && c.Remedy != "" {
			text += "; " + c.Remedy
		}
		lines := document.MostRowLines
		if len(all) > 2 {
			lines = each
		}
		if last := i == len(all)-1; len(b.Lines)+lines+1 > room ||
			!last && len(b.Lines)+lines+2 > room {
			b.Add(format.Yellow, 0, fmt.Sprintf("! and %s more: -v",
				format.Plural(int64(len(all)-i), "caution")), 1)
			break
		}
		color := format.Yellow
		if c.Severity == answer.Bad {
			color = format.Red
		}
		b.Add(color, 0, text, lines)
	}
	if len(b.Lines) > 0 {
		b.Lines = append(b.Lines, "")
	}
	return b.Lines
}

// medianLines are the medians of each measure at the load that decides, a row for each variant.
func medianLines(s format.Style, r *lab.Record, a answer.Answer) []string {
	if r.Experiment == nil || len(r.Cells) == 0 || len(a.Groups) == 0 {
		return nil
	}
	level := a.Groups[0].Level
	if level == "" && len(r.Experiment.Levels) > 0 {
		level = r.Experiment.Levels[0].Name
	}
	t := format.Table{{"medians at " + format.PlainLine(level)}}
	metrics := []experiment.Metric{}
	for _, m := range r.Experiment.Design.Metrics {
		metrics = append(metrics, m)
		t[0] = append(t[0], fmt.Sprintf("%s (%s)", m, metricUnit(r, string(m))))
	}
	for _, arm := range r.Arms {
		row, any := []string{format.Clip(format.PlainLine(arm.Name), longestName)}, 0
		for _, m := range metrics {
			cell, n := medianFigure(r, arm.Name, level, string(m))
			row, any = append(row, cell), max(any, n)
		}
		if any > 0 {
			t = append(t, row)
		}
	}
	var b strings.Builder
	t.WriteText(&b, "  ", "lr")
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for _, line := range lines {
		if utf8.RuneCountInString(line) > s.LineWidth()+2 {
			return nil
		}
	}
	return append(lines, "")
}

// medianFigure is a median with half of the width of its interval.
func medianFigure(r *lab.Record, arm, level, metric string) (cell string, trials int) {
	for _, c := range r.Cells {
		if c.Arm == arm && c.Level == level && c.Metric == metric {
			if c.Over {
				return format.Known(true, format.Digits3(c.Median.Estimate)), c.Trials
			}
			if c.Median.Level >= lab.Confidence-1e-9 {
				return format.PlusMinus(c.Median.Estimate, (c.Median.High-c.Median.Low)/2), c.Trials
			}
			return format.Digits3(c.Median.Estimate), c.Trials
		}
	}
	return format.TooFew, 0
}

// nextLines are the next step.
func nextLines(s format.Style, a answer.Answer) []string {
	b := &document.Screen{Style: s}
	next := "next: " + a.Next.Says
	if a.Next.Command != "" {
		next += ":"
	}
	b.Add("", 0, next, 2)
	if a.Next.Command != "" {
		b.AddWhole(document.RowIndent, a.Next.Command)
	}
	return b.Lines
}

// footLines are the next step, and where everything is.
func footLines(s format.Style, r *lab.Record, a answer.Answer) []string {
	return append(nextLines(s, a), placeLines(s, r)...)
}

// placeLines are where everything is.
func placeLines(s format.Style, r *lab.Record) []string {
	b := &document.Screen{Style: s}
	if r.Dir != "" {
		b.AddWhole(0, "report: "+r.Dir+"/report.html")
		b.AddWhole(0, "all of it: dyno lab show -v "+format.ShellQuote(r.Dir))
	}
	return b.Lines
}
