package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A table is rows of cells. The first row is the head.
type table [][]string

// writeText aligns columns with spaces. Sides says for each column, l or r, to
// which side; its last letter is that of all further ones.
func (t table) writeText(w io.Writer, indent, sides string) {
	var widths []int
	for _, row := range t {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t {
		line := indent
		for i, cell := range row {
			cell = printableOnly(cell)
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if side(sides, i) == 'l' {
				line += cell + pad + "  "
			} else {
				line += pad + cell + "  "
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func side(sides string, column int) byte { return sides[min(column, len(sides)-1)] }

// writeMarkdown writes the table as Markdown, aligned in the same way.
func (t table) writeMarkdown(w io.Writer, sides string) {
	for i, row := range t {
		line := "|"
		for _, text := range row {
			line += " " + escapeCell(text) + " |"
		}
		fmt.Fprintln(w, line)
		if i > 0 {
			continue
		}
		line = "|"
		for c := range row {
			line += map[byte]string{'l': "---|", 'r': "--:|"}[side(sides, c)]
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

// wrapLines breaks s between words into lines of at most width characters, where
// words allow, but not between a number and what it counts.
func wrapLines(s string, width int) []string {
	var lines []string
	line := ""
	words := strings.Fields(s)
	for i := 0; i < len(words); i++ {
		word := words[i]
		for i+1 < len(words) && '0' <= words[i][0] && words[i][0] <= '9' {
			i++
			word += " " + words[i]
		}
		if line != "" && utf8.RuneCountInString(line+" "+word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}

// A document is a writer that remembers its first error, so that a renderer
// can write as if there were none.
type document struct {
	w   io.Writer
	err error
}

// fail is the error of what could not be made to be written.
func (d *document) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *document) Write(b []byte) (int, error) {
	if d.err == nil {
		_, d.err = d.w.Write(b)
	}
	return len(b), nil
}
