package answer

import (
	"cmp"
	"fmt"
	"strings"

	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// Limits are how many rows and cautions a summary has at most; 0 is no limit. What is left out is
// counted, and More is the command that shows it.
type Limits struct {
	Rows, Cautions int
	More           string
}

// Left says how many things a limit left out.
func (m Limits) Left(n int, thing string) document.Part {
	if n == 0 {
		return document.Part{}
	}
	return document.Part{Apart: true, Rows: []document.Row{{Command: m.More,
		Text: "and " + format.Plural(int64(n), thing) + " more"}}}
}

// Document is an answer as a summary to paste: the sentence, what it is not about, the table of the
// group that decides, the cautions, and what it holds for. command runs it again.
func (a Answer) Document(command string, most Limits) document.Doc {
	t, left := a.table(most)
	parts := []document.Part{a.Lead(), {Table: t, Sides: "lrrrl"}, most.Left(left, "variant")}
	if len(a.Groups) > 0 {
		for _, note := range a.Groups[0].Notes {
			parts = append(parts, document.Part{Text: []string{note + "."}})
		}
	}
	parts = append(parts, a.CautionParts(most)...)
	if holds := a.ConditionsText(); holds != "" {
		parts = append(parts, document.Part{Text: []string{holds}})
	}
	if command != "" {
		parts = append(parts, document.Part{Apart: true, Rows: []document.Row{{Command: command}}})
	}
	return document.Doc{Parts: parts}
}

// Markdown is the summary as Markdown.
func (a Answer) Markdown(command string, most Limits) string {
	return a.Document(command, most).Markdown()
}

// Lead is the sentence, and of which variants there is no verdict.
func (a Answer) Lead() document.Part {
	p := document.Part{Apart: true, Rows: []document.Row{{Text: a.Sentence, Strong: true}}}
	if a.Uncovered != "" {
		p.Rows = append(p.Rows, a.UncoveredRow())
	}
	return p
}

// Card is an answer in three lines: the sentence, what speaks most against it, and what is next;
// more is what else is to be known of it.
func (a Answer) Card() (lines, more []document.Row) {
	lines = []document.Row{{Text: a.Sentence, Strong: true}}
	for _, c := range a.Unsaid() {
		row := document.Aside("caution", c.Text())
		if c.Remedy != "" {
			row.Text += "; " + c.Remedy
		}
		if len(lines) == 1 && c.Severity.rank() >= Doubt.rank() {
			lines = append(lines, row)
		} else {
			more = append(more, row)
		}
	}
	if a.Next.Says != "" {
		lines = append(lines, document.Row{Name: "next", Text: cmp.Or(a.Next.Short, a.Next.Says)})
	}
	if holds := a.ConditionsText(); holds != "" {
		more = append(more, document.Row{Name: "holds for", Text: holds})
	}
	return lines, more
}

// UncoveredRow says of which variants there is no verdict.
func (a Answer) UncoveredRow() document.Row {
	row := document.Aside("caution", a.Uncovered)
	row.Most = 2
	return row
}

// ConditionsText is the load, and what else the answer holds for, in one line.
func (a Answer) ConditionsText() string {
	all := a.Conditions
	if a.Load != "" {
		all = append([]string{a.Load}, all...)
	}
	return strings.Join(all, "; ")
}

// CautionParts are the cautions as a list, each with its first reason.
func (a Answer) CautionParts(most Limits) []document.Part {
	var row document.Row
	all := a.Unsaid()
	for i, c := range all {
		if most.Cautions > 0 && i == most.Cautions {
			break
		}
		s := c.Says
		if c.Kind == Unloaded && a.Uncovered != "" {
			s = "Not tested" // how many stands above
		}
		if c.Scope != "" {
			s += " (" + c.Scope + ")"
		}
		if len(c.Reasons) > 0 {
			s += ": " + c.Reasons[0]
			if n := len(c.Reasons) - 1; n > 0 {
				s += fmt.Sprintf("; and %d more", n)
			}
		}
		row.Items = append(row.Items, s)
	}
	if len(row.Items) == 0 {
		return nil
	}
	return []document.Part{{Apart: true, Rows: []document.Row{row}},
		most.Left(len(all)-len(row.Items), "caution")}
}

// table is that of the first group, with the variants that were not tested, or of a run's numbers.
// left is how many variants are not in it.
func (a Answer) table(most Limits) (t format.Table, left int) {
	if len(a.Groups) == 0 {
		return a.numbersTable(), 0
	}
	g := a.Groups[0]
	change := "change " + g.Change
	if g.Against != "" {
		change += " vs " + g.Against
	}
	t = format.Table{{"variant", g.Name, change, "95 % interval", "verdict"}}
	shown := Shown(g.Findings, most.Rows)
	for _, i := range shown {
		f := g.Findings[i]
		t = append(t, []string{format.PlainLine(f.Row()), f.Value, f.Effect, f.Interval,
			f.Words()})
	}
	left = len(g.Findings) - len(shown)
	for i, f := range a.NotLoaded {
		if most.Rows > 0 && i == most.Rows {
			left += len(a.NotLoaded) - i
			break
		}
		t = append(t, []string{format.PlainLine(f.Row()), format.TooFew, format.TooFew, "",
			f.Words()})
	}
	return t, left
}

// numbersTable has a column for each of a run's numbers.
func (a Answer) numbersTable() format.Table {
	if len(a.Numbers) == 0 {
		return nil
	}
	t := format.Table{nil, nil}
	for _, n := range a.Numbers {
		t[0], t[1] = append(t[0], n.Name), append(t[1], n.Text)
	}
	return t
}
