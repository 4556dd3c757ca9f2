package labreport

import (
	"cmp"
	"fmt"
	"io"
	"slices"
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
		lead = append(lead, gateRows(r)...)
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
	a := shortAnswer(r)
	for most := mostTableRows; ; most-- {
		d := pullDocument(r, a, most, picture)
		if d.Room() >= leastFolded || most == 1 {
			return d.WriteMarkdown(w)
		}
	}
}

// leastFolded is the least room for what is folded, in characters.
const leastFolded = mostCharacters / 3

// pullDocument is what a pull request has, with a table of so many rows at most.
func pullDocument(r *lab.Record, a answer.Answer, most int, picture string) document.Doc {
	t, left := variantTable(r, a, most)
	a.Sentence = format.ClipText(a.Sentence, mostLineRunes)
	folded := []document.Part{{Counts: usualGate, Apart: true, Rows: gateRows(r)},
		answer.Limits{More: showAll}.Left(left, "variant")}
	folded = append(folded, a.CautionParts(answer.Limits{Cautions: mostNoted, More: showAll})...)
	folded = append(folded, document.Part{Picture: document.Picture{File: picture,
		Shows: "Ratios to the baseline, with 95 % intervals"}})
	for n := mostRefused; n >= 0; n-- {
		folded = append(folded, document.Part{Choice: "refused", Apart: true, Rows: refusedRows(a, n)})
	}
	folded = append(folded, document.Part{Text: []string{
		format.Clip(titleText(r), mostReasonRunes) + ": " + scopeText(r)}})
	for i := range folded {
		folded[i].Folded = true
	}
	return document.Doc{Characters: mostCharacters, Fold: "Cautions and details",
		Parts: append([]document.Part{a.Lead(), {Table: t, Sides: "lrrrrl"},
			{Text: []string{format.ClipText(a.ConditionsText(), mostLineRunes)}},
			{Apart: true, Rows: []document.Row{{
				Command: format.Clip(experimentCommand(r), mostReasonRunes)}}}}, folded...)}
}

// variantTable has each variant with its medians at the load that decides, and the interval and the
// verdict of the measure that decides. left is how many variants are not in it.
func variantTable(r *lab.Record, a answer.Answer, most int) (t format.Table, left int) {
	if len(a.Groups) == 0 {
		return nil, 0
	}
	g := a.Groups[0]
	t = format.Table{{"variant", medianHead(r, "throughput", ""), medianHead(r, "cpu", "CPU"),
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
	return t, len(g.Findings) - len(shown) + len(a.NotLoaded) - len(refused)
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

// gateRows are gateText as a row; none without a gate.
func gateRows(r *lab.Record) []document.Row {
	if r.Gate == nil {
		return nil
	}
	return []document.Row{{Name: "gate", Text: gateText(r)}}
}

// gateText is what the gate decided, of which no item is left out or cut that a comment has room
// for.
func gateText(r *lab.Record) string {
	items, text, room := r.Gate.Items(), "", mostGateRunes
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

// refusedRows are so many of the variants that were not tested, each with its remedy.
func refusedRows(a answer.Answer, most int) (all []document.Row) {
	if len(a.NotLoaded) == 0 {
		return nil
	}
	row := document.Row{Name: "not tested"}
	for _, f := range a.NotLoaded[:min(len(a.NotLoaded), most)] {
		s := format.ClipText(f.Why, mostReasonRunes)
		if f.Remedy != "" {
			s += "; " + format.ClipText(f.Remedy, mostReasonRunes)
		}
		row.Items = append(row.Items, format.PlainLine(f.Variant)+": "+s)
	}
	left := answer.Limits{More: showAll}.Left(len(a.NotLoaded)-len(row.Items), "variant")
	return append([]document.Row{row}, left.Rows...)
}
