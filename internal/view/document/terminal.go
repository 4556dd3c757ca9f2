package document

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"dyno/internal/view/format"
)

const (
	indent         = "  "
	nameWidth      = 13 // of a row's name and the space after it
	mostLinesOfRow = 3  // of one row, where their number is limited
)

// WriteText writes the document for a terminal.
func (d Doc) WriteText(w io.Writer, s format.Style) error {
	out, between := format.NewDocument(w), ""
	if d.Title != "" {
		title := d.Title
		if !s.Detail {
			title = firstLines(title, s.LineWidth()+len(indent), 1)[0]
		}
		fmt.Fprintln(out, s.Paint(format.Bold, title))
		between = "\n"
	}
	for _, p := range Filled(d.Parts) {
		fmt.Fprint(out, between)
		p.writeText(out, s)
		between = "\n"
	}
	return out.Err()
}

func (p Part) writeText(out *format.Document, s format.Style) {
	paragraph := func(text string) {
		for _, line := range format.WrapLines(format.PlainLine(text), s.LineWidth()) {
			fmt.Fprintf(out, indent+"%s\n", line)
		}
	}
	if p.Head != "" {
		fmt.Fprintf(out, indent+"%s\n", s.Paint(cmp.Or(p.Tone, format.Bold), p.Head))
	}
	p.writeRows(out, s)
	for _, text := range p.Text {
		paragraph(text)
	}
	if p.Table != nil {
		rows, left := p.shownRows()
		rows.WriteText(out, indent, p.Sides)
		if left != "" {
			paragraph(left)
		}
	}
	for _, text := range p.Under {
		paragraph(text)
	}
	for _, line := range p.Plot {
		fmt.Fprintf(out, indent+"%s\n", line)
	}
}

// writeRows writes each row: its name, and beside it the text in as many lines as it takes, or as
// there is room for.
func (p Part) writeRows(out *format.Document, s format.Style) {
	limited := p.Lines > 0 && !s.Detail
	rows, width := p.lines(limited), s.LineWidth()-nameWidth
	if n := len(rows) - p.Lines; n > 0 && limited {
		rows = append(rows[:p.Lines-1:p.Lines-1],
			Row{Name: "more", Text: fmt.Sprintf("%d more lines: -v", n+1)})
	}
	each := make([]int, len(rows))
	for i := range each {
		each[i] = math.MaxInt32
	}
	if limited {
		each = lineLimits(rows, width, p.Lines)
	}
	for i, row := range rows {
		lines, name := []string{row.Command}, row.Name
		if row.Command == "" {
			lines = firstLines(row.Text, width, each[i])
		}
		for _, line := range lines {
			if row.Tone != "" {
				line = s.Paint(row.Tone, line)
			}
			fmt.Fprintf(out, indent+"%-*s%s\n", nameWidth, name, line)
			name = ""
		}
	}
}

// lines are the rows one below the other: each item is one, and a command, which is to be copied,
// has a line of its own unless lines are few.
func (p Part) lines(few bool) (all []Row) {
	for _, row := range p.Rows {
		command := format.PlainLine(row.Command)
		row.Command, row.Text = "", format.PlainLine(row.Text)
		if command != "" {
			row.Text += ":"
		}
		if command != "" && few {
			row.Text, command = row.Text+" "+command, ""
		}
		all = append(all, row)
		if command != "" {
			all = append(all, Row{Command: command})
		}
		for _, item := range row.Items {
			all = append(all, Row{Text: "- " + format.PlainLine(item)})
		}
	}
	return all
}

// lineLimits are how many lines each row may have: those that take most lose some, the last first,
// until all have so many.
func lineLimits(rows []Row, width, most int) []int {
	each, taken, sum := make([]int, len(rows)), make([]int, len(rows)), 0
	for i, row := range rows {
		each[i] = mostLinesOfRow
		taken[i] = len(firstLines(row.Text, width, mostLinesOfRow))
		sum += taken[i]
	}
	for ; sum > most; sum-- {
		longest := 0
		for i, n := range taken {
			if n >= taken[longest] {
				longest = i
			}
		}
		taken[longest]--
		each[longest] = taken[longest]
	}
	return each
}

// firstLines are the first n lines of a text; the last of them ends in … if there are more. Where
// their number is limited, so is the length of a word.
func firstLines(text string, width, n int) []string {
	all := format.FirstLines(text, width, n)
	if n == math.MaxInt32 {
		return all
	}
	for i, line := range all {
		all[i] = format.Clip(line, width)
	}
	return all
}
