// Package format has what reports are made of: numbers, tables and lines as people and terminals
// read them. It knows no results. Packages report and labreport build their reports with it.
//
//	numbers  forms.go (how many digits an amount or a percentage has: rules, as values that the page
//	         has too), units.go (counts, times, sizes; texts and URLs that are cut), uncertain.go
//	         (no digits that the noise does not carry)
//	shapes   table.go (tables, broken lines, documents), style.go (colours), suite.go (JUnit)
//	safety   visible.go (nothing that a terminal obeys), markup.go (escapes for Markdown and CSV)
package format

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Table is rows of cells. The first row is the head.
type Table [][]string

// WriteText aligns columns with spaces. Sides says for each column, l or r, to
// which side; its last letter is that of all further ones.
func (t Table) WriteText(w io.Writer, indent, sides string) {
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

// WriteMarkdown writes the table as Markdown, aligned in the same way.
func (t Table) WriteMarkdown(w io.Writer, sides string) {
	for i, row := range t {
		line := "|"
		for _, text := range row {
			line += " " + EscapeCell(text) + " |"
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

// MostRows are the rows of a table in text; JSON has all.
const MostRows = 20

// WrapLines breaks s between words into lines of at most width characters, where
// words allow, but not between a number and what it counts.
func WrapLines(s string, width int) []string {
	var lines []string
	line := ""
	words := strings.Fields(s)
	for i := 0; i < len(words); i++ {
		word := words[i]
		for i+1 < len(words) && beginsNumber(words[i]) {
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

// beginsNumber reports whether a word begins as a number does, with or without a sign.
func beginsNumber(word string) bool {
	rest := strings.TrimLeft(word, "−+±×")
	return rest != "" && '0' <= rest[0] && rest[0] <= '9'
}

// FirstLines are the first n of WrapLines. If there are more, the last of them ends in " …".
func FirstLines(s string, width, n int) []string {
	all := WrapLines(s, width)
	if len(all) <= n {
		return all
	}
	last := WrapLines(all[n-1], width-cutWidth)[0]
	return append(all[:n-1:n-1], strings.TrimSuffix(Clip(last, width-cutWidth), "…")+" …")
}

const cutWidth = 2 // of " …"

// A Document is a writer that remembers its first error, so that a renderer
// can write as if there were none.
type Document struct {
	w   io.Writer
	err error
}

// NewDocument is a document that writes to w.
func NewDocument(w io.Writer) *Document { return &Document{w: w} }

// Err is the first error; nil if there was none.
func (d *Document) Err() error { return d.err }

// Fail is the error of what could not be made to be written.
func (d *Document) Fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *Document) Write(b []byte) (int, error) {
	if d.err == nil {
		_, d.err = d.w.Write(b)
	}
	return len(b), nil
}
