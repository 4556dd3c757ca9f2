package document

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// whole has each thing that a document can have.
func whole() Doc {
	return Doc{Title: "GET http://x/", Parts: []Part{
		{Apart: true, Rows: []Row{{Name: "verdict", Text: "*fine*", Tone: format.Green, Items: []string{"for a reason"}},
			Aside("warning", "it is late"), {Name: "next", Text: "run it again", Command: "dyno run http://x/?" + strings.Repeat("y", 90)}}},
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
		"  WARNING      \x1b[33mit is late\x1b[0m\n  next         run it again:\n               dyno run http://x/?" + long + "\n\n" +
		"  rate         5/s\n               it goes on\n\n  \x1b[31mNames\x1b[0m\n  Two.\n  name   n\n  a     10\n  b      2\n" +
		"  and 1 more, in --json\n  below\n\n  \x1b[1mDrawn\x1b[0m\n   /\\\n  /  \\\n"
	if got := string(format.Visible([]byte(text), "\x1bp-")); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	want = "# GET `http://x/`\n\n**Verdict:** \\*fine\\*\n\n- for a reason\n\n> **Warning:** it is late\n\n" +
		"**Next:** run it again: `dyno run http://x/?" + long + "`\n\n" +
		"|  |  |\n|---|---|\n| rate | 5/s |\n|  | it goes on |\n\n## Names\n\nTwo.\n\n" +
		"| name | n |\n|---|--:|\n| a | 10 |\n| b | 2 |\n\nand 1 more, in --json\n\nbelow\n"
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

// What is beside a row goes on below itself, or below the row where there is no room; a file has a head.
func TestBeside(t *testing.T) {
	p := Part{Table: format.Table{{"name", "n", "what"}, {"a", "1", strings.Repeat("word ", 20)}, {"bc", "10", "x"}}, Sides: "lr",
		Beside: []format.Color{"", format.Red}, Under: []string{"below"}, Close: true}
	d := Doc{Title: "T", Parts: []Part{p}}
	want := "T\n    a    1  word word word word word word\n            word word word word word …\n    bc  10  x\n    below\n"
	if got := strings.Join(d.TextLines(format.Style{Width: 44}), "\n") + "\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	p.Table[1][0] = strings.Repeat("z", 20)
	if got := d.TextLines(format.Style{Width: 44}); got[1] != "    "+p.Table[1][0]+"   1" || !strings.HasPrefix(got[2], "        word word") {
		t.Errorf("%q", got)
	}
	if got := reporttest.Text(t, func(b *strings.Builder) error { return d.WriteMarkdown(b) }); !strings.Contains(got, "| name | n | what |") {
		t.Error(got)
	}
}

// Where there are few lines, parts that can be spared are left out, the last of the highest first, and named; the one that yields
// has the rest.
func TestRoom(t *testing.T) {
	d := Doc{Title: "T", Parts: []Part{{Text: []string{"first"}}, {Text: []string{"one"}, Spare: 1, Rest: "1"}, {Text: []string{"two"}, Spare: 1, Rest: "2"},
		{Yields: true, Rows: []Row{{Name: "a", Text: "x", Most: 2}, {Name: "b", Text: strings.Repeat("y ", 300), Most: 2}}}, {Text: []string{"figures"}, Spare: 2},
		{Text: []string{"last"}}}}
	for most, want := range map[int]string{
		14: "T||first||one||two||a x|b y …||figures||last", 13: "T||first||one||two||a x|b y y …||last", 12: "T||first||one||two||a x|b y …||last",
		10: "T||first|more 1; 2: -v||a x|b y y …||last", 8: "T||first|more 1; 2: -v||more 2 more lines: -v||last",
	} {
		d.Most = most
		lines := d.TextLines(format.Style{})
		if len(lines) > most {
			t.Errorf("%d lines, where there is room for %d", len(lines), most)
		}
		got := regexp.MustCompile(`y[y |]+`).ReplaceAllStringFunc(strings.Join(lines, "|"), func(all string) string {
			return strings.Repeat("y ", 1+strings.Count(all, "|"))
		})
		if got = regexp.MustCompile(` {2,}`).ReplaceAllString(strings.ReplaceAll(got, "|  ", "|"), " "); got != want {
			t.Errorf("in %d lines: %s\nwant %s", most, got, want)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	for _, err := range []error{whole().WriteText(reporttest.Full{}, format.Style{}), whole().WriteMarkdown(reporttest.Full{})} {
		if !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	}
}
