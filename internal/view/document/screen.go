package document

import (
	"math"
	"strings"
	"unicode/utf8"

	"dyno/internal/view/format"
)

// Measures of a Screen.
const (
	MostRowLines = 2  // of one row
	RowIndent    = 4  // of rows, in characters
	leastBeside  = 24 // characters of a text that stands beside a row
)

// A Screen is lines for a terminal that show little at once, in blocks that may be left out if
// there is no room: who adds them counts Lines. The zero value has the style of a file.
type Screen struct {
	Style format.Style
	Lines []string
}

// AtMost is a limit, which does not apply where the style wants detail.
func (b *Screen) AtMost(n int) int {
	if b.Style.Detail {
		return math.MaxInt32
	}
	return n
}

// Add adds a text in at most so many lines.
func (b *Screen) Add(c format.Color, indent int, text string, most int) {
	width := b.Style.LineWidth() - indent
	for i, line := range format.FirstLines(format.PlainLine(text), width, b.AtMost(most)) {
		line = format.Clip(line, width)
		if c != "" {
			line = b.Style.Paint(c, line)
		}
		if i > 0 && indent == RowIndent {
			line = "  " + line
		}
		b.Lines = append(b.Lines, "  "+strings.Repeat(" ", indent)+line)
	}
}

// AddWhole adds a line that is copied, a command or a path, whole, however long it is.
func (b *Screen) AddWhole(indent int, line string) {
	b.Lines = append(b.Lines, "  "+strings.Repeat(" ", indent)+format.PlainLine(line))
}

// AddRow adds a row with a text beside it, which goes on below itself.
func (b *Screen) AddRow(c format.Color, row, text string) {
	width := b.Style.LineWidth() - utf8.RuneCountInString(row) - RowIndent
	if width < leastBeside { // the text has lines of its own
		b.Lines = append(b.Lines, strings.Repeat(" ", RowIndent)+strings.TrimRight(row, " "))
		row, width = strings.Repeat(" ", RowIndent), b.Style.LineWidth()-2*RowIndent
	}
	lead := strings.Repeat(" ", RowIndent) + row
	for _, line := range format.FirstLines(text, width, b.AtMost(MostRowLines)) {
		if c != "" {
			line = b.Style.Paint(c, line)
		}
		b.Lines = append(b.Lines, lead+line)
		lead = strings.Repeat(" ", utf8.RuneCountInString(lead))
	}
}

// AlignedRows are the rows of a table without a head as lines that are all as wide.
func AlignedRows(rows format.Table, sides string) []string {
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
