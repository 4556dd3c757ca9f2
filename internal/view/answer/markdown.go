package answer

import (
	"fmt"
	"strings"

	"dyno/internal/view/format"
)

// Markdown is an answer as a summary to paste: the sentence, the table of the group that decides,
// the cautions, and what it holds for. command runs it again.
func (a Answer) Markdown(command string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", format.EscapeMarkdown(a.Sentence))
	if t := a.table(); t != nil {
		t.WriteMarkdown(&b, "lrrrl")
	}
	if len(a.Groups) > 0 {
		for _, note := range a.Groups[0].Notes {
			fmt.Fprintf(&b, "%s.\n\n", format.EscapeMarkdown(note))
		}
	}
	for _, c := range a.Cautions {
		s := format.EscapeMarkdown(c.Says)
		if c.Scope != "" {
			s += " (" + format.EscapeCell(c.Scope) + ")"
		}
		fmt.Fprintf(&b, "- %s\n", s)
	}
	if len(a.Cautions) > 0 {
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "%s\n", format.EscapeMarkdown(strings.Join(a.Conditions, "; ")))
	if command != "" {
		fmt.Fprintf(&b, "\n%s\n", format.CodeSpan(command))
	}
	return b.String()
}

// table is that of the first group, with the variants that were not loaded, or of a run's numbers.
func (a Answer) table() format.Table {
	if len(a.Groups) == 0 {
		return a.numbersTable()
	}
	g := a.Groups[0]
	change := "change"
	if g.Against != "" {
		change = "vs " + g.Against
	}
	t := format.Table{{"variant", g.Name, change, "95 % interval", "verdict"}}
	for _, f := range g.Findings {
		t = append(t, []string{format.PlainLine(f.Row()), f.Value, f.Effect, f.Interval,
			string(f.Verdict)})
	}
	for _, f := range a.NotLoaded {
		t = append(t, []string{format.PlainLine(f.Row()), format.TooFew, format.TooFew, "",
			string(f.Verdict)})
	}
	return t
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
