package labreport

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// What Markdown to be read at once has at most.
const (
	mostMarkdownLines = 59
	mostCharacters    = 3000 // of a text for a pull request, but for the gate
	mostTableRows     = 8    // of a table
	mostRefused       = 3    // variants that were not tested
	mostNoted         = 5    // cautions
	mostReasonRunes   = 200  // characters of a reason or a remedy
	mostLineRunes     = 500  // characters of the sentence, and of the conditions

	// A gate names whatever is worse or open, so what it decided has as many characters as that takes.
	// A comment of GitHub has at most 65,536.
	mostGateRunes = 50_000
	usualGate     = 500 // characters of it for which other parts make room
)

// ExperimentMarkdown writes what an experiment found in less than 60 lines: what a terminal shows
// at once, what it holds for, and the gate.
func ExperimentMarkdown(w io.Writer, r *lab.Record) error {
	var s format.Style
	a := labanswer.Of(r)
	lead := append(leadRows(r, a, s), conditionRows(r, a)...)
	if r.Gate != nil {
		lead = append(lead, document.Row{Name: "gate", Text: gateText(r)})
		a.Cautions = slices.DeleteFunc(a.Cautions, func(c answer.Caution) bool {
			return c.Kind == answer.GateMissed
		})
	}
	return document.Doc{Title: titleText(r), Most: mostMarkdownLines, Parts: slices.Concat(
		[]document.Part{{Apart: true, Rows: lead}}, findingParts(r, a, s),
		[]document.Part{{Apart: true, Yields: true, Rows: cautionRows(a, s)},
			medianGlance(s, r, a),
			{Apart: true, Rows: []document.Row{nextRow(a.Next), {Name: "all tables",
				Text: "report.html, or", Command: showAll}}}})}.WriteMarkdown(w)
}

// PullRequest writes an experiment as Markdown for a pull request, in at most 3,000 characters, or
// more where a gate has much to name: the finding, how many variants it is about, one table, what
// it holds for and the command that runs it again. Folded below are the gate, the cautions, what
// was refused, and the picture: the file of the Forest plot, beside; "" for none.
func PullRequest(w io.Writer, r *lab.Record, picture string) error {
	d := format.NewDocument(w)
	a := shortAnswer(r)
	command := format.Clip(experimentCommand(r), mostReasonRunes)
	for most := mostTableRows; ; most-- {
		var head strings.Builder
		fmt.Fprintf(&head, "**%s**\n\n%s",
			format.EscapeMarkdown(format.ClipText(a.Sentence, mostLineRunes)), a.UncoveredLine())
		left := writeVariants(&head, r, a, most)
		fmt.Fprintf(&head, "%s\n\n%s\n", format.EscapeMarkdown(format.ClipText(
			a.ConditionsText(), mostLineRunes)), format.CodeSpan(command))
		if room := mostCharacters - len([]rune(head.String())); room >= leastFolded || most == 1 {
			fmt.Fprint(d, head.String())
			writeFolded(d, gateLine(r), foldedParts(r, a, left, picture), room)
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
		medianHead(r, "p99", ""), g.Name + " " + g.Change + ", 95 % interval", "verdict"}}
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

// gateLine is gateText as a line; "" without a gate.
func gateLine(r *lab.Record) string {
	if r.Gate == nil {
		return ""
	}
	return "Gate: " + format.EscapeMarkdown(gateText(r)) + "\n"
}

// gateText is what the gate decided, of which no item is left out or cut that a comment has room
// for.
func gateText(r *lab.Record) string {
	items, text, room := strings.Split(r.Gate.Explain(), "; "), "", mostGateRunes
	for i, item := range items {
		if room -= utf8.RuneCountInString(item) + len("; "); room < 0 {
			return text + fmt.Sprintf("and %d more: %s", len(items)-i, showAll)
		}
		if text += item; i < len(items)-1 {
			text += "; "
		}
	}
	return text
}

// foldedParts is what is folded besides the gate, the most important first.
func foldedParts(r *lab.Record, a answer.Answer, left int, picture string) (parts []string) {
	if left > 0 {
		parts = append(parts, fmt.Sprintf("and %s more: %s\n", format.Plural(int64(left), "variant"),
			format.CodeSpan(showAll)))
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

// writeFolded writes the gate's line and those parts that have room in so many characters with it.
func writeFolded(w io.Writer, gate string, parts []string, room int) {
	const open, end = "\n<details><summary>Cautions and details</summary>\n", "\n</details>\n"
	room -= len([]rune(open + end))
	text, refused := "", false
	if gate != "" {
		text, room = "\n"+gate, room-min(utf8.RuneCountInString(gate), usualGate)
	}
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
			c.Kind == answer.GateMissed || // a line says it
			c.Kind == answer.Unloaded && a.Uncovered != "" // a line above and a list say it
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
