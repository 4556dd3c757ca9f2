package labreport

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// What Markdown to be read at once has at most.
const (
	mostMarkdownLines = 59
	mostCharacters    = 3000 // of a text for a pull request
	mostTableRows     = 8    // of a table
	mostRefused       = 3    // variants that were not tested
	mostNoted         = 5    // cautions
	mostReasonRunes   = 200  // characters of a reason or a remedy
	mostGateRunes     = 500  // characters of what a gate decided
)

// ExperimentMarkdown writes what an experiment found in less than 60 lines: the table of the
// measure that decides, what else was decided, what was refused, the cautions and the medians.
func ExperimentMarkdown(w io.Writer, r *lab.Record) error {
	var text bytes.Buffer
	d := format.NewDocument(&text)
	a := shortAnswer(r)
	fmt.Fprintf(d, "# %s\n\n", format.EscapeMarkdown(titleText(r)))
	fmt.Fprint(d, a.Markdown(experimentCommand(r), answer.Limits{Rows: mostTableRows,
		Cautions: mostNoted, More: showAll}))
	writeRefused(d, a, mostRefused)
	writeOthers(d, a)
	const rest = 12 // lines about medians besides their rows, and the end
	room := mostMarkdownLines - rest - bytes.Count(text.Bytes(), []byte("\n"))
	if s := medianSection(r); len(s.table) > 1 && room > 0 {
		rows := s.table[:min(len(s.table), room+1)]
		fmt.Fprintf(d, "\n%s\n\n", format.EscapeMarkdown("Medians. "+s.text[0]))
		rows.WriteMarkdown(d, s.sides)
		if n := len(s.table) - len(rows); n > 0 {
			fmt.Fprintf(d, "and %s more\n\n", format.Plural(int64(n), "row"))
		}
	}
	fmt.Fprintf(d, "Next: %s\n\n", format.EscapeMarkdown(a.Next.Says))
	fmt.Fprintf(d, "%s. All tables: report.html, or %s.\n", format.EscapeMarkdown(scopeText(r)),
		format.CodeSpan(showAll))
	_, err := text.WriteTo(w)
	return err
}

// PullRequest writes an experiment as Markdown for a pull request, in at most 3,000 characters: the
// finding, one table, what it holds for and the command that runs it again. Folded below are the
// cautions, the gate, what was refused, and the picture: the file of the Forest plot, beside; ""
// for
// none.
func PullRequest(w io.Writer, r *lab.Record, picture string) error {
	d := format.NewDocument(w)
	a := shortAnswer(r)
	command := format.Clip(experimentCommand(r), mostReasonRunes)
	for most := mostTableRows; ; most-- {
		var head strings.Builder
		fmt.Fprintf(&head, "**%s**\n\n%s",
			format.EscapeMarkdown(format.ClipText(a.Sentence, mostGateRunes)), a.UncoveredLine())
		left := writeVariants(&head, r, a, most)
		fmt.Fprintf(&head, "%s\n\n%s\n", format.EscapeMarkdown(format.ClipText(
			a.ConditionsText(), mostGateRunes)), format.CodeSpan(command))
		if room := mostCharacters - len([]rune(head.String())); room >= leastFolded || most == 1 {
			fmt.Fprint(d, head.String())
			writeFolded(d, foldedParts(r, a, left, picture), room)
			return d.Err()
		}
	}
}

// leastFolded is the least room for what is folded, in characters.
const leastFolded = mostCharacters / 3

// writeVariants writes the table: each variant with its medians at the load that decides, and the
// interval and the verdict of the measure that decides. It returns how many variants are not in it.
func writeVariants(w io.Writer, r *lab.Record, a answer.Answer, most int) (left int) {
	if len(a.Groups) == 0 {
		return 0
	}
	g := a.Groups[0]
	t := format.Table{{"variant", medianHead(r, "throughput", ""), medianHead(r, "cpu", "CPU"),
		medianHead(r, "p99", ""), g.Name + ", 95 % interval", "verdict"}}
	row := func(label, arm, change, verdict string) {
		cells := []string{label}
		for _, metric := range []string{"throughput", "cpu", "p99"} {
			cell, _ := medianFigure(r, arm, decidingLevel(r, g), metric)
			cells = append(cells, cell)
		}
		t = append(t, append(cells, change, verdict))
	}
	var baselines []string
	for _, f := range g.Findings {
		if f.Baseline != "" && !slices.Contains(baselines, f.Baseline) && len(baselines) < most {
			baselines = append(baselines, f.Baseline)
			row(format.Clip(format.PlainLine(f.Baseline), longestLabel), f.Baseline, "", "baseline")
		}
	}
	shown := answer.Shown(g.Findings, most)
	for _, i := range shown {
		f := g.Findings[i]
		change := f.Effect
		if f.Interval != "" {
			change += " " + f.Interval
		}
		row(format.PlainLine(f.Row()), f.Variant, change, f.Words())
	}
	refused := a.NotLoaded[:min(len(a.NotLoaded), most)]
	for _, f := range refused {
		t = append(t, []string{format.PlainLine(f.Row()), format.TooFew, format.TooFew, format.TooFew, "",
			f.Words()})
	}
	t.WriteMarkdown(w, "lrrrrl")
	return len(g.Findings) - len(shown) + len(a.NotLoaded) - len(refused)
}

// medianHead is a column's head: the measure, or a shorter name of it, and its unit.
func medianHead(r *lab.Record, metric, name string) string {
	name = cmp.Or(name, metric)
	if unit := metricUnit(r, metric); unit != "n/a" {
		return name + ", " + unit
	}
	return name
}

// decidingLevel is the level of a group; of one of all levels the first.
func decidingLevel(r *lab.Record, g answer.Group) string {
	if g.Level == "" && r.Experiment != nil && len(r.Experiment.Levels) > 0 {
		return r.Experiment.Levels[0].Name
	}
	return g.Level
}

// foldedParts is what is folded, the most important first.
func foldedParts(r *lab.Record, a answer.Answer, left int, picture string) (parts []string) {
	if left > 0 {
		parts = append(parts, fmt.Sprintf("and %s more: %s\n", format.Plural(int64(left), "variant"),
			format.CodeSpan(showAll)))
	}
	if g := r.Gate; g != nil {
		parts = append(parts, fmt.Sprintf("Gate: %s\n",
			format.EscapeMarkdown(format.ClipText(g.Explain(), mostGateRunes))))
	}
	if s := a.CautionList(answer.Limits{Cautions: mostNoted, More: showAll}); s != "" {
		parts = append(parts, s)
	}
	if picture != "" {
		parts = append(parts, fmt.Sprintf("![Ratios to the baseline, with 95 %% intervals](%s)\n",
			url.PathEscape(picture)))
	}
	for i := range mostRefused + 1 { // the longest list of these that may have room
		var refused strings.Builder
		writeRefused(&refused, a, mostRefused-i)
		if text := strings.TrimPrefix(refused.String(), "\n"); text != "" {
			parts = append(parts, text)
		}
	}
	return append(parts, fmt.Sprintf("%s: %s\n", format.EscapeMarkdown(format.Clip(titleText(r),
		mostReasonRunes)), format.EscapeMarkdown(scopeText(r))))
}

// writeFolded writes the parts that have room in so many characters.
func writeFolded(w io.Writer, parts []string, room int) {
	const open, end = "\n<details><summary>Cautions and details</summary>\n", "\n</details>\n"
	room -= len([]rune(open + end))
	text, refused := "", false
	for _, part := range parts {
		isRefused := strings.HasPrefix("\n"+part, notLoadedHead)
		if n := len([]rune(part)) + 1; n <= room && !(isRefused && refused) {
			text, room, refused = text+"\n"+part, room-n, refused || isRefused
		}
	}
	if text != "" {
		fmt.Fprint(w, open+text+end)
	}
}

// showAll prints everything that is known of an experiment. Who reads Markdown may be on another
// machine, so it has no folder.
const showAll = "dyno lab show -v DIR"

// shortAnswer is the answer of an experiment with texts that are no longer than is read at once.
func shortAnswer(r *lab.Record) answer.Answer {
	a := labanswer.Of(r)
	for i := range a.Groups {
		g := &a.Groups[i]
		for at := range g.Findings {
			g.Findings[at].Label = format.Clip(g.Findings[at].Row(), longestLabel)
		}
	}
	for i := range a.NotLoaded {
		a.NotLoaded[i].Variant = format.Clip(a.NotLoaded[i].Variant, longestName)
	}
	a.Cautions = slices.DeleteFunc(a.Cautions, func(c answer.Caution) bool {
		return c.Kind == answer.Open || // the rows say it
			c.Kind == answer.Unloaded && a.Uncovered != "" // the line above and a list say it
	})
	for i := range a.Cautions {
		c := &a.Cautions[i]
		if c.Kind == answer.Unloaded {
			c.Reasons = nil // they are in a list of their own
		}
		c.Says = format.ClipText(c.Says, mostReasonRunes)
		c.Scope = format.ClipText(c.Scope, mostReasonRunes)
		for at, reason := range c.Reasons {
			c.Reasons[at] = format.ClipText(reason, mostReasonRunes)
		}
	}
	return a
}

const notLoadedHead = "\nNot tested:\n\n"

// writeRefused lists so many of the variants that were not tested, each with its remedy.
func writeRefused(w io.Writer, a answer.Answer, most int) {
	for i, f := range a.NotLoaded {
		if i == 0 {
			fmt.Fprint(w, notLoadedHead)
		}
		if i == most {
			fmt.Fprintf(w, "- and %s more: %s\n", format.Plural(int64(len(a.NotLoaded)-i), "variant"),
				format.CodeSpan(showAll))
			return
		}
		s := format.ClipText(f.Why, mostReasonRunes)
		if f.Remedy != "" {
			s += "; " + format.ClipText(f.Remedy, mostReasonRunes)
		}
		fmt.Fprintf(w, "- %s: %s\n", format.EscapeMarkdown(format.PlainLine(f.Variant)),
			format.EscapeCell(s))
	}
}

// writeOthers writes what the measures behind the first decide.
func writeOthers(d *format.Document, a answer.Answer) {
	if len(a.Groups) < 2 {
		return
	}
	t := format.Table{{"measure", "variant", "value", "change", "95 % interval", "verdict"}}
	var decided []answer.Finding
	var names []string
	for _, g := range a.Groups[1:] {
		for _, f := range g.Findings {
			if f.IsDecided() {
				decided, names = append(decided, f), append(names, g.Name)
			}
		}
	}
	shown := answer.Shown(decided, mostTableRows)
	for _, i := range shown {
		f := decided[i]
		t = append(t, []string{names[i], format.PlainLine(f.Row()), f.Value, f.Effect, f.Interval,
			f.Words()})
	}
	fmt.Fprintln(d)
	if len(t) > 1 {
		t.WriteMarkdown(d, "llrrrl")
	}
	if n := len(decided) - len(shown); n > 0 {
		fmt.Fprintf(d, "and %s more: %s\n\n", format.Plural(int64(n), "row"), format.CodeSpan(showAll))
	}
	for _, one := range undecidedLines(a.Groups[1:]) {
		fmt.Fprintf(d, "%s\n\n", format.EscapeMarkdown(format.ClipText(one.text(), mostReasonRunes)))
	}
}
