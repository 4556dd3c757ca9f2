package labreport

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/report"
)

// UnpairedAnswer is what a comparison of runs that were measured apart says first.
func UnpairedAnswer(u *judge.Unpaired) (answer.Answer, error) {
	differing, err := differingRows(u)
	if err != nil {
		return answer.Answer{}, err
	}
	var settings []string
	for _, row := range differing {
		if !isTarget(row[0]) && row[0] != "seed" && row[0] != "values" { // which each run draws anew
			settings = append(settings, row[0])
		}
	}
	return labanswer.OfComparison(u, settings), nil
}

// Unpaired writes what runs that were measured apart say of each other, for a
// terminal. Single results it sets side by side, as Compare does.
func Unpaired(w io.Writer, u *judge.Unpaired, s format.Style) error {
	a, err := UnpairedAnswer(u)
	if err != nil {
		return err
	}
	d := format.NewDocument(w)
	b := &brief{s: s}
	b.add(boxColor(a.Box), 0, a.Sentence, 3)
	fmt.Fprintf(d, "%s\n\n", strings.Join(b.lines, "\n"))
	if err := writeUnpaired(d, u, s); err != nil {
		return err
	}
	fmt.Fprintf(d, "\n%s\n", strings.Join(nextLines(s, a), "\n"))
	return d.Err()
}

// writeUnpaired writes all of a comparison but its answer.
func writeUnpaired(d *format.Document, u *judge.Unpaired, s format.Style) error {
	if u.IsSingle() {
		if err := Compare(d, resultsOf(u)); err != nil {
			return err
		}
		gateOf(u.Gate).writeText(d, s)
		return nil
	}
	differing, err := differingRows(u)
	if err != nil {
		return err
	}
	groupLegend(u).WriteText(d, "", "l")
	for _, c := range u.Cautions {
		format.WriteFact(d, s, format.Yellow, "CAUTION", format.PlainLine(c))
	}
	for _, part := range comparisonSections(u) {
		part.writeText(d, s)
	}
	fmt.Fprintln(d)
	for _, line := range likenessText(differing) {
		fmt.Fprintln(d, strings.Join(format.WrapLines(line, format.TextWidth), "\n"))
	}
	writeDiffering(d, differing)
	return nil
}

// UnpairedMarkdown writes the same for a page or a pull request.
func UnpairedMarkdown(w io.Writer, u *judge.Unpaired) error {
	a, err := UnpairedAnswer(u)
	if err != nil {
		return err
	}
	d := format.NewDocument(w)
	fmt.Fprintf(d, "# Comparison\n\n**%s**\n\n", format.EscapeMarkdown(a.Sentence))
	if u.IsSingle() {
		if err := CompareMarkdown(d, resultsOf(u)); err != nil {
			return err
		}
		gateOf(u.Gate).writeMarkdown(d)
		fmt.Fprintf(d, "%s\n", nextMarkdown(a.Next))
		return d.Err()
	}
	differing, err := differingRows(u)
	if err != nil {
		return err
	}
	append(format.Table{{"", "", "runs", "of", ""}}, groupLegend(u)...).WriteMarkdown(d, "l")
	for _, c := range u.Cautions {
		fmt.Fprintf(d, "> **Caution:** %s\n\n", format.EscapeMarkdown(c))
	}
	for _, part := range comparisonSections(u) {
		part.writeMarkdown(d)
	}
	for _, line := range likenessText(differing) {
		fmt.Fprintf(d, "%s\n\n", format.EscapeMarkdown(line))
	}
	writeDifferingMarkdown(d, differing)
	fmt.Fprintf(d, "%s\n", nextMarkdown(a.Next))
	return d.Err()
}

// nextMarkdown is the next step, with its command.
func nextMarkdown(next answer.Step) string {
	s := "Next: " + format.EscapeMarkdown(next.Says)
	if next.Command != "" {
		s += ": " + format.CodeSpan(next.Command)
	}
	return s
}

// resultsOf are those of single runs.
func resultsOf(u *judge.Unpaired) (all []*result.Result) {
	for _, g := range u.Groups {
		all = append(all, g.Results()...)
	}
	return all
}

// differingRows is in what the groups' plans and machines differ. Where experiments
// started their servers is drawn anew for each trial, and says nothing.
func differingRows(u *judge.Unpaired) (format.Table, error) {
	groups := make([][]*result.Result, len(u.Groups))
	for i, g := range u.Groups {
		groups[i] = g.Results()
	}
	all, err := differingSettings(groups)
	var kept format.Table
	for _, row := range all {
		if u.Groups[0].Record == nil || !isTarget(row[0]) {
			kept = append(kept, row)
		}
	}
	return append(kept, settingRows(u)...), err
}

// settingRows are what experiments ran in and on, where it differs.
func settingRows(u *judge.Unpaired) (differ format.Table) {
	var names []string
	values := make([]map[string]string, len(u.Groups))
	for i, g := range u.Groups {
		if g.Record == nil {
			return nil
		}
		values[i] = map[string]string{}
		for _, f := range g.Record.Environment() {
			values[i][f.Name] = f.Value
			names = appendMissing(names, f.Name)
		}
	}
	for _, name := range names {
		row, alike := []string{format.PlainLine(name)}, true
		for i := range values {
			row = append(row, shortenSetting(values[i][name]))
			alike = alike && values[i][name] == values[0][name]
		}
		if !alike {
			differ = append(differ, row)
		}
	}
	return differ
}

const widestName = 60 // characters of what a group was called

// groupLegend says what the groups are.
func groupLegend(u *judge.Unpaired) (t format.Table) {
	for i, g := range u.Groups {
		runs := 0
		for _, s := range g.Samples {
			runs += len(s.Runs)
		}
		row := []string{letterOf(i), format.Clip(format.PlainLine(g.Name), widestName),
			format.Plural(int64(runs), "run")}
		if g.Record != nil {
			row = append(row, fmt.Sprintf("experiment %s, dyno %s", format.PlainLine(g.Record.Name),
				format.PlainLine(g.Record.Dyno)), labanswer.GroupLoad(g))
		} else if rs := g.Results(); len(rs) > 0 {
			row = append(row, report.MethodAndURL(rs[0]), report.ModelText(rs[0]))
		}
		t = append(t, row)
	}
	return t
}

func comparisonSections(u *judge.Unpaired) []section {
	gate := gateOf(nil)
	if u.Gate != nil {
		short := *u.Gate
		short.Missed = u.Labelled(short.Missed)
		gate = gateOf(&short)
	}
	return []section{gate, verdictsSection(u), groupMedianSection(u)}
}

// verdictsSection is the verdict table, first in words.
func verdictsSection(u *judge.Unpaired) section {
	out := section{head: "Verdicts", sides: "llllrrlrr", table: format.Table{
		{"level", "measure", "", "of", "ratio", "95 % interval", "verdict", "runs", "p (corrected)"}},
		text: correctionText(u.Verdicts)}
	for _, c := range u.Labelled(u.Verdicts) {
		f := labanswer.FindingOf(c, u.Verdicts)
		if !c.Control {
			out.text = append(out.text, variantSentence(c, f))
		}
		out.table = append(out.table, []string{format.PlainLine(c.Level), c.Metric,
			format.PlainLine(c.Variant),
			format.PlainLine(c.Baseline), comparisonRatio(c), comparisonInterval(c), verdictMark(c, f),
			runCounts(c), pValueText(c.PAdjusted)})
	}
	if len(u.Verdicts) == 0 {
		return section{head: "Verdicts", text: []string{"Nothing could be compared."}}
	}
	return out.withoutLevels()
}

// trialsOf is on how many trials a comparison rests, in words.
func trialsOf(c lab.Comparison) string {
	if c.Against == 0 {
		return format.Plural(int64(c.Trials), "pair")
	}
	return fmt.Sprintf("%s against %s", format.Plural(int64(c.Trials), "run"),
		format.Count(int64(c.Against)))
}

// runCounts is trialsOf in a table.
func runCounts(c lab.Comparison) string {
	if c.Against == 0 {
		return format.Plural(int64(c.Trials), "pair")
	}
	return fmt.Sprintf("%s/%s", format.Count(int64(c.Trials)), format.Count(int64(c.Against)))
}

// groupMedianSection has a row for each group, or arm of it, at each level.
func groupMedianSection(u *judge.Unpaired) section {
	type place struct{ level, name string }
	rows, runs := map[place][]string{}, map[place]int{}
	var places []place
	head := []string{"level", ""}
	for _, c := range u.Cells {
		at := place{c.Level, c.Arm}
		if rows[at] == nil {
			places, rows[at] = append(places, at), []string{format.PlainLine(c.Level),
				format.PlainLine(u.Label(c.Arm))}
		}
		column := slices.Index(head, c.Metric+" ("+c.Unit+")")
		if column < 0 {
			column, head = len(head), append(head, c.Metric+" ("+c.Unit+")")
		}
		for len(rows[at]) < column {
			rows[at] = append(rows[at], "n/a")
		}
		rows[at] = append(rows[at], medianText(c))
		runs[at] = max(runs[at], c.Trials)
	}
	if len(places) == 0 {
		return section{}
	}
	out := section{head: "Medians", sides: "llr", table: format.Table{append(head, "runs")},
		text: []string{"In brackets is the 95 % interval of a median; it takes 6 runs. " +
			ratioKind(u)}}
	for _, at := range places {
		for len(rows[at]) < len(head) {
			rows[at] = append(rows[at], "n/a")
		}
		out.table = append(out.table, append(rows[at], format.Count(int64(runs[at]))))
	}
	return out.withoutLevels()
}

// ratioKind says what the ratio of a verdict is of: it is not that of the medians below it.
func ratioKind(u *judge.Unpaired) string {
	of := "runs, one of each"
	if u.AreInRounds() {
		of = "trials of a round"
	}
	return "The ratio of a verdict is not that of these medians: it is the middle of the ratios " +
		"of two " + of + "."
}

func medianText(c lab.Cell) string {
	v := c.Median
	if c.Over {
		return format.Known(true, format.Digits3(v.Estimate))
	}
	if v.Level < 0.95-1e-9 {
		return format.Digits3(v.Estimate)
	}
	return format.WithInterval(v.Estimate, v.Low, v.High)
}

// withoutLevels is the section without its first column, the level's, if no row has
// one.
func (p section) withoutLevels() section {
	for _, row := range p.table[1:] {
		if row[0] != "" {
			return p
		}
	}
	for i := range p.table {
		p.table[i] = p.table[i][1:]
	}
	p.sides = p.sides[1:]
	return p
}
