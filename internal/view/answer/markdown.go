package answer

import (
	"fmt"
	"strings"

	"dyno/internal/view/format"
)

// Limits are how many rows and cautions a summary has at most; 0 is no limit. What is left out is
// counted, and More is the command that shows it.
type Limits struct {
	Rows, Cautions int
	More           string
}

// writeLeft says how many things a limit left out.
func (m Limits) writeLeft(b *strings.Builder, lead string, n int, thing string) {
	if n > 0 {
		fmt.Fprintf(b, "%sand %s more: %s\n", lead, format.Plural(int64(n), thing),
			format.CodeSpan(m.More))
	}
}

// Markdown is an answer as a summary to paste: the sentence, what it is not about, the table of the
// group that decides, the cautions, and what it holds for. command runs it again.
func (a Answer) Markdown(command string, most Limits) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n%s", format.EscapeMarkdown(a.Sentence), a.UncoveredLine())
	t, left := a.table(most)
	if t != nil {
		t.WriteMarkdown(&b, "lrrrl")
	}
	if left > 0 {
		most.writeLeft(&b, "", left, "variant")
		fmt.Fprintln(&b)
	}
	if len(a.Groups) > 0 {
		for _, note := range a.Groups[0].Notes {
			fmt.Fprintf(&b, "%s.\n\n", format.EscapeMarkdown(note))
		}
	}
	b.WriteString(a.CautionList(most))
	if len(a.Cautions) > 0 {
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "%s\n", format.EscapeMarkdown(a.ConditionsText()))
	if command != "" {
		fmt.Fprintf(&b, "\n%s\n", format.CodeSpan(command))
	}
	return b.String()
}

// UncoveredLine is the paragraph above a table of verdicts that says of which variants there is no
// verdict; "" if there is one of each.
func (a Answer) UncoveredLine() string {
	if a.Uncovered == "" {
		return ""
	}
	return "**CAUTION:** " + format.EscapeMarkdown(a.Uncovered) + "\n\n"
}

// ConditionsText is the load, and what else the answer holds for, in one line.
func (a Answer) ConditionsText() string {
	all := a.Conditions
	if a.Load != "" {
		all = append([]string{a.Load}, all...)
	}
	return strings.Join(all, "; ")
}

// CautionList are the cautions as a list in Markdown.
func (a Answer) CautionList(most Limits) string {
	var b strings.Builder
	for i, c := range a.Cautions {
		if most.Cautions > 0 && i == most.Cautions {
			most.writeLeft(&b, "- ", len(a.Cautions)-i, "caution")
			break
		}
		s := format.EscapeMarkdown(c.Says)
		if c.Kind == Unloaded && a.Uncovered != "" {
			s = "Not tested" // how many stands above
		}
		if c.Scope != "" {
			s += " (" + format.EscapeCell(c.Scope) + ")"
		}
		if len(c.Reasons) > 0 {
			s += ": " + format.EscapeCell(c.Reasons[0])
			if n := len(c.Reasons) - 1; n > 0 {
				s += fmt.Sprintf("; and %d more", n)
			}
		}
		fmt.Fprintf(&b, "- %s\n", s)
	}
	return b.String()
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
