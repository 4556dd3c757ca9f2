package document

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/view/format"
)

// WriteMarkdown writes the document for a file, a page or a pull request, without its plots.
func (d Doc) WriteMarkdown(w io.Writer) error {
	_, err := io.WriteString(w, d.Markdown())
	return err
}

// Markdown is what WriteMarkdown writes.
func (d Doc) Markdown() string {
	text := d.unfolded()
	return strings.TrimRight(text+d.folded(d.Room()), "\n") + "\n"
}

// unfolded is all that need not be opened.
func (d Doc) unfolded() string {
	var b strings.Builder
	if d.Title != "" {
		fmt.Fprintf(&b, "# %s\n\n", format.EscapeMarkdown(d.Title))
		d.Most-- // its blank line
	}
	d.Most = max(d.Most, 0)
	for _, p := range d.fitting(layout{Part.markdown, 0, 2}) {
		if !p.Folded {
			b.WriteString(p.markdown())
		}
	}
	return b.String()
}

func (p Part) markdown() string {
	var b strings.Builder
	paragraph := func(text string) { fmt.Fprintf(&b, "%s\n\n", format.EscapeMarkdown(text)) }
	if p.Head != "" && len(p.Rows)+len(p.Text)+len(p.Under)+len(p.Table) > 0 {
		fmt.Fprintf(&b, "## %s\n\n", format.EscapeMarkdown(p.Head))
	}
	rows := p.Rows
	if n := len(rows) - p.Lines; n > 0 && p.Lines > 0 {
		rows = append(rows[:p.Lines-1:p.Lines-1],
			Row{Name: "more", Text: fmt.Sprintf("%d more: -v", n+1)})
	}
	if p.Apart {
		for _, row := range rows {
			row.writeMarkdown(&b)
		}
	} else if len(rows) > 0 {
		t := format.Table{{"", ""}}
		for _, row := range rows {
			t = append(t, []string{row.Name, row.Text})
		}
		t.WriteMarkdown(&b, "l")
	}
	for _, text := range p.Text {
		paragraph(text)
	}
	if p.Table != nil {
		shown, left := p.shownRows()
		shown.WriteMarkdown(&b, p.Sides)
		if left != "" {
			paragraph(left)
		}
	}
	for _, text := range p.Under {
		paragraph(text)
	}
	if p.Picture.File != "" {
		fmt.Fprintf(&b, "![%s](%s)\n\n", format.EscapeCell(p.Picture.Shows),
			url.PathEscape(p.Picture.File))
	}
	return b.String()
}

// writeMarkdown writes a row as a paragraph: its name in bold, in a quotation if it is an aside;
// then its items as a list.
func (row Row) writeMarkdown(out io.Writer) {
	line := format.EscapeMarkdown(row.Text)
	if row.Strong {
		line = "**" + line + "**"
	}
	if row.Name != "" {
		line = "**" + digits.Capital(row.Name) + ":** " + line
	}
	if row.Aside {
		line = "> " + line
	}
	if row.Command != "" && row.Text != "" {
		line += ": "
	}
	if row.Command != "" {
		line += format.CodeSpan(row.Command)
	}
	if line = strings.TrimRight(line, " "); line != "" {
		fmt.Fprintf(out, "%s\n\n", line)
	}
	for _, item := range row.Items {
		fmt.Fprintf(out, "- %s\n", format.EscapeMarkdown(item))
	}
	if len(row.Items) > 0 {
		fmt.Fprintln(out)
	}
}
