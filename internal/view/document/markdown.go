package document

import (
	"fmt"
	"io"
	"strings"

	"dyno/internal/view/format"
)

// WriteMarkdown writes the document for a file, a page or a pull request, without its plots.
func (d Doc) WriteMarkdown(w io.Writer) error {
	out := format.NewDocument(w)
	if d.Title != "" {
		fmt.Fprintf(out, "# %s\n\n", format.EscapeMarkdown(d.Title))
	}
	for _, p := range Filled(d.Parts) {
		p.writeMarkdown(out)
	}
	return out.Err()
}

func (p Part) writeMarkdown(out *format.Document) {
	if p.Head != "" && len(p.Rows)+len(p.Text)+len(p.Under)+len(p.Table) > 0 {
		fmt.Fprintf(out, "## %s\n\n", format.EscapeMarkdown(p.Head))
	}
	if p.Apart {
		for _, row := range p.Rows {
			row.writeMarkdown(out)
		}
	} else if len(p.Rows) > 0 {
		t := format.Table{{"", ""}}
		for _, row := range p.Rows {
			t = append(t, []string{row.Name, row.Text})
		}
		t.WriteMarkdown(out, "l")
	}
	for _, text := range p.Text {
		fmt.Fprintf(out, "%s\n\n", format.EscapeMarkdown(text))
	}
	if p.Table != nil {
		rows, left := p.shownRows()
		rows.WriteMarkdown(out, p.Sides)
		if left != "" {
			fmt.Fprintf(out, "%s\n\n", left)
		}
	}
	for _, text := range p.Under {
		fmt.Fprintf(out, "%s\n\n", format.EscapeMarkdown(text))
	}
}

// writeMarkdown writes a row as a paragraph: its name in bold, in a quotation if it is in capitals,
// as a warning's is; then its items as a list.
func (row Row) writeMarkdown(out *format.Document) {
	quote, name := "", row.Name
	if name == strings.ToUpper(name) && name != "" {
		quote, name = "> ", strings.ToLower(name)
	}
	if name != "" {
		name = "**" + strings.ToUpper(name[:1]) + name[1:] + ":** "
	}
	fmt.Fprint(out, quote+name+format.EscapeMarkdown(row.Text))
	if row.Command != "" && row.Text != "" {
		fmt.Fprint(out, ": ")
	}
	if row.Command != "" {
		fmt.Fprint(out, format.CodeSpan(row.Command))
	}
	fmt.Fprint(out, "\n\n")
	for _, item := range row.Items {
		fmt.Fprintf(out, "- %s\n", format.EscapeMarkdown(item))
	}
	if len(row.Items) > 0 {
		fmt.Fprintln(out)
	}
}
