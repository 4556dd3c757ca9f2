package document

import (
	"errors"
	"os"
	"strings"
	"testing"

	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// whole has each thing that a document can have.
func whole() Doc {
	return Doc{Title: "GET http://x/", Parts: []Part{
		{Apart: true, Rows: []Row{{Name: "verdict", Text: "*fine*", Tone: format.Green, Items: []string{"for a reason"}},
			{Name: "WARNING", Text: "it is late"}, {Name: "next", Text: "run it again", Command: "dyno run http://x/?" + strings.Repeat("y", 90)}}},
		{Head: "Nothing"},
		{Rows: []Row{{Name: "rate", Text: "5/s"}, {Text: "it goes on"}}},
		{Head: "Names", Tone: format.Red, Text: []string{"Two."}, Table: format.Table{{"name", "n"}, {"a", "10"}, {"b", "2"}, {"c", "3"}},
			Sides: "lr", Most: 2, Rest: "in --json", Under: []string{"below"}},
		{Head: "Drawn", Plot: []string{" /\\", "/  \\"}},
	}}
}

// What a document has stands in each format once and in the same order; a plot is for terminals alone.
func TestBothFormats(t *testing.T) {
	long := strings.Repeat("y", 90)
	text := reporttest.Text(t, func(b *strings.Builder) error { return whole().WriteText(b, format.Style{Color: "\x1bp-"}) })
	want := "\x1b[1mGET http://x/\x1b[0m\n\n  verdict      \x1b[32m*fine*\x1b[0m\n               - for a reason\n" +
		"  WARNING      it is late\n  next         run it again:\n               dyno run http://x/?" + long + "\n\n" +
		"  rate         5/s\n               it goes on\n\n  \x1b[31mNames\x1b[0m\n  Two.\n  name   n\n  a     10\n  b      2\n" +
		"  and 1 more, in --json\n  below\n\n  \x1b[1mDrawn\x1b[0m\n   /\\\n  /  \\\n"
	if got := string(format.Visible([]byte(text), "\x1bp-")); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	want = "# GET `http://x/`\n\n**Verdict:** \\*fine\\*\n\n- for a reason\n\n> **Warning:** it is late\n\n" +
		"**Next:** run it again: `dyno run http://x/?" + long + "`\n\n" +
		"|  |  |\n|---|---|\n| rate | 5/s |\n|  | it goes on |\n\n## Names\n\nTwo.\n\n" +
		"| name | n |\n|---|--:|\n| a | 10 |\n| b | 2 |\n\nand 1 more, in --json\n\nbelow\n\n"
	if got := reporttest.Text(t, func(b *strings.Builder) error { return whole().WriteMarkdown(b) }); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Rows that have few lines lose the ends of the longest texts, then the last rows; details have all.
func TestFewLines(t *testing.T) {
	p := Part{Lines: 3}
	for _, text := range []string{"one", strings.Repeat("two ", 90), "three", "four"} {
		p.Rows = append(p.Rows, Row{Name: "name", Text: text})
	}
	write := func(d Doc, s format.Style) string {
		return reporttest.Text(t, func(b *strings.Builder) error { return d.WriteText(b, s) })
	}
	got := write(Doc{Parts: []Part{p}}, format.Style{Width: 40})
	want := "  name         one\n  name         two two two two two two …\n  more         2 more lines: -v\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	p.Lines = 5
	if got := write(Doc{Parts: []Part{p}}, format.Style{Width: 40}); strings.Count(got, "\n") != 5 || strings.Contains(got, "more") {
		t.Errorf("in five lines:\n%s", got)
	}
	if got := write(Doc{Parts: []Part{p}}, format.Style{Detail: true}); strings.Contains(got, "…") || strings.Count(got, "two") != 90 {
		t.Errorf("with details:\n%s", got)
	}
}

func TestWriteErrors(t *testing.T) {
	for _, err := range []error{whole().WriteText(reporttest.Full{}, format.Style{}), whole().WriteMarkdown(reporttest.Full{})} {
		if !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	}
}
