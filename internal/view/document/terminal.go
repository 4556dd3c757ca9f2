package document

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"dyno/internal/view/format"
)

const (
	indent         = "  "
	nameWidth      = 13 // of a row's name and the space after it
	mostLinesOfRow = 3  // of one row, where the lines of all are limited
	besideIndent   = "    "
	leastBeside    = 24 // characters of a text that stands beside others
	mostBeside     = 2  // lines of such a text
)

// WriteText writes the document for a terminal.
func (d Doc) WriteText(w io.Writer, s format.Style) error {
	_, err := io.WriteString(w, d.text(s))
	return err
}

// TextLines are the lines that WriteText writes.
func (d Doc) TextLines(s format.Style) []string {
	return strings.Split(strings.TrimSuffix(d.text(s), "\n"), "\n")
}

func (d Doc) text(s format.Style) string {
	var b strings.Builder
	if d.Title != "" {
		fmt.Fprintln(&b, s.Paint(format.Bold, oneLine(d.Title, s.LineWidth()+len(indent), s)))
	}
	text := func(p Part) string { return p.text(s) }
	for _, p := range d.fitting(layout{text, 1, 1}) {
		if b.Len() > 0 && !p.Close {
			b.WriteString("\n")
		}
		b.WriteString(text(p))
	}
	return b.String()
}

// oneLine is a text that has one line, unless the style wants detail.
func oneLine(text string, width int, s format.Style) string {
	if s.Detail {
		return text
	}
	return firstLines(text, width, 1)[0]
}

func (p Part) text(s format.Style) string {
	var b strings.Builder
	lead := indent
	if p.Beside != nil {
		lead = besideIndent
	}
	paragraph := func(lead, text string) {
		width := s.LineWidth() + len(indent) - len(lead)
		for _, line := range format.WrapLines(format.PlainLine(text), width) {
			fmt.Fprintln(&b, lead+line)
		}
	}
	if p.Head != "" {
		head := oneLine(format.PlainLine(p.Head), s.LineWidth(), s)
		fmt.Fprintln(&b, indent+s.Paint(cmp.Or(p.Tone, format.Bold), head))
	}
	p.writeRows(&b, s)
	for _, text := range p.Text {
		paragraph(indent, text)
	}
	rows, left := p.shownRows()
	if p.Beside != nil {
		p.writeBeside(&b, s)
	} else {
		rows.WriteText(&b, indent, p.Sides)
	}
	if left != "" {
		paragraph(indent, left)
	}
	for _, text := range p.Under {
		paragraph(lead, text)
	}
	for _, line := range p.Plot {
		fmt.Fprintln(&b, indent+line)
	}
	return b.String()
}

// writeRows writes each row: its name, and beside it the text in as many lines as it takes, or as
// there is room for.
func (p Part) writeRows(w io.Writer, s format.Style) {
	limited := p.Lines > 0 && !s.Detail
	rows, width := p.lines(limited), s.LineWidth()-nameWidth
	if n := len(rows) - p.Lines; n > 0 && limited {
		rows = append(rows[:p.Lines-1:p.Lines-1],
			Row{Name: "more", Text: fmt.Sprintf("%d more lines: -v", n+1)})
	}
	most := p.Lines
	if !limited {
		most = math.MaxInt32
	}
	each := lineLimits(rows, width, most, s)
	for i, row := range rows {
		lines, name := []string{row.Command}, row.Name
		if row.Aside {
			name = strings.ToUpper(name)
		}
		if row.Command == "" {
			lines = firstLines(row.Text, width, each[i])
		}
		for _, line := range lines {
			if row.Tone != "" {
				line = s.Paint(row.Tone, line)
			}
			fmt.Fprintf(w, indent+"%-*s%s\n", nameWidth, name, line)
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
		switch {
		case command == "":
			all = append(all, row)
		case row.Text == "":
			row.Command = command
			all = append(all, row)
		case few:
			row.Text += ": " + command
			all = append(all, row)
		default:
			row.Text += ":"
			all = append(all, row, Row{Command: command})
		}
		for _, item := range row.Items {
			all = append(all, Row{Text: "- " + format.PlainLine(item)})
		}
	}
	return all
}

// lineLimits are how many lines each row may have: those that take most lose some, the last first,
// until all have so many.
func lineLimits(rows []Row, width, most int, s format.Style) []int {
	each, taken, sum := make([]int, len(rows)), make([]int, len(rows)), 0
	for i, row := range rows {
		each[i] = math.MaxInt32
		if row.Most > 0 && !s.Detail {
			each[i] = row.Most
		}
		if most < math.MaxInt32 {
			each[i] = min(each[i], mostLinesOfRow)
		}
		taken[i] = len(firstLines(row.Text, width, each[i]))
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

// writeBeside writes the rows of the table without a head, the text of the last column beside them.
func (p Part) writeBeside(w io.Writer, s format.Style) {
	var rows format.Table
	var texts []string
	for _, row := range p.Table[1:] {
		last := len(row) - 1
		rows, texts = append(rows, row[:last]), append(texts, row[last])
	}
	for i, row := range alignedRows(rows, p.Sides) {
		width := s.LineWidth() - utf8.RuneCountInString(row) - len(besideIndent)
		if width < leastBeside { // the text has lines of its own
			fmt.Fprintln(w, besideIndent+strings.TrimRight(row, " "))
			row, width = besideIndent, s.LineWidth()-2*len(besideIndent)
		}
		most := mostBeside
		if s.Detail {
			most = math.MaxInt32
		}
		for _, line := range firstLines(format.PlainLine(texts[i]), width, most) {
			if tone := p.Beside[i]; tone != "" {
				line = s.Paint(tone, line)
			}
			fmt.Fprintln(w, strings.TrimRight(besideIndent+row+line, " "))
			row = strings.Repeat(" ", utf8.RuneCountInString(row))
		}
	}
}

// alignedRows are the rows of a table without a head as lines that are all as wide.
func alignedRows(rows format.Table, sides string) []string {
	if len(rows) == 0 {
		return nil
	}
	var b strings.Builder
	rows.WriteText(&b, "", sides)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	for i, line := range lines {
		lines[i] = line + strings.Repeat(" ", widest-utf8.RuneCountInString(line)+2)
	}
	return lines
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
