// Package report renders results: for a terminal, as Markdown, JSON and CSV,
// and side by side. Renderers are functions of the result and a writer, and
// compute nothing: what is worth saying is in the result. Each says the load
// model, the window, what became of the requests under way at its end, and the
// generator's verdict on itself.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dyno/internal/result"
)

// Style is how a terminal wants its text.
type Style struct {
	Color Paint // of which Visible makes ANSI colours; "": none
	Width int   // columns, of which 100 at most are used; 0: as many

	Detail bool // draw the whole distribution, and latency over time
}

// width is in how many characters lines break, their indent apart.
func (s Style) width() int {
	if s.Width <= 0 {
		return textWidth
	}
	return min(textWidth, max(s.Width, narrowest)-indent)
}

type color string

const (
	bold   color = "1"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
)

func (s Style) paint(c color, text string) string {
	if s.Color == "" {
		return text
	}
	return string(s.Color) + string(c) + "m" + text + string(s.Color) + "0m"
}

// facts are the report but for its tables.
func facts(r *result.Result) []Fact {
	all := []Fact{
		{"model", model(r)},
		{"window", window(r)},
		{"rate", rate(r)},
		{"requests", requests(r.Requests)},
		{"status", statuses(r)},
		{"bytes", traffic(r)},
		{"connections", connections(r)},
	}
	if s := settled(r); s != "" {
		all = append(all, Fact{"TLS", s})
	}
	all = append(all, Fact{"generator", generator(r)})
	if r.Fleet != nil {
		all = append(all, Fact{"fleet", together(r.Fleet)})
	}
	if p := r.Probe; p != nil {
		all = append(all, Fact{"probe", besides(p)})
	}
	all = append(all, serverFacts(r)...)
	if r.ID != "" {
		all = append(all, Fact{"stored", plain(r.ID)})
	}
	return all
}

const (
	textWidth = 98 // in which lines break
	indent    = 2  // of lines, besides
	narrowest = 40 // columns in which a report can be read
	nameWidth = 13 // of a fact's name and the space after it
	mostRows  = 20 // of a table in text; JSON has all
)

// Text writes what a person wants to see after a run: the model and the
// verdict in words first, then the numbers, then whatever went wrong.
func Text(w io.Writer, r *result.Result, s Style) error {
	d := &document{w: w}
	fmt.Fprintf(d, "%s, %s\n", s.paint(bold, what(r)), how(r))
	lines := facts(r)
	writeFact(d, s, "", lines[0])
	writeVerdict(d, s, r)
	for _, o := range r.Objectives {
		c := green
		if !o.Met {
			c = red
		}
		writeFact(d, s, c, Fact{"objective", objective(o)})
	}
	for _, text := range r.Warnings {
		writeFact(d, s, yellow, Fact{"WARNING", plain(text)})
	}
	for _, f := range lines[1:] {
		writeFact(d, s, "", f)
	}
	writeTables(d, s, r)
	return d.err
}

func writeFact(d *document, s Style, c color, f Fact) {
	name := f.Name
	for _, line := range wrap(f.Text, s.width()-nameWidth) {
		if c != "" {
			line = s.paint(c, line)
		}
		fmt.Fprintf(d, "  %-*s%s\n", nameWidth, name, line)
		name = ""
	}
}

func writeVerdict(d *document, s Style, r *result.Result) {
	c, known := map[string]color{result.OK: green, result.ClientBound: red}[r.Generator.Verdict]
	if !known {
		c = yellow
	}
	writeFact(d, s, c, Fact{"verdict", verdict(r)})
	for _, reason := range besidesVerdict(r) {
		for i, line := range wrap(reason, s.width()-nameWidth-2) {
			mark := "  "
			if i == 0 {
				mark = "- "
			}
			fmt.Fprintf(d, "  %-*s%s%s\n", nameWidth, "", mark, line)
		}
	}
}

func writeTables(d *document, s Style, r *result.Result) {
	if t := durations(r); t != nil {
		fmt.Fprintln(d)
		t.write(d, "  ", "lr")
		if t.has(tooFew) {
			fmt.Fprintf(d, "  %s too few were measured for this percentile\n", tooFew)
		}
	}
	if s.Detail {
		detail(d, s, r)
	}
	if t := failures(r); t != nil {
		fmt.Fprintf(d, "\n  %s\n", s.paint(red, "errors"))
		t.top().write(d, "  ", "rl")
		t.writeRest(d)
	}
	for _, t := range []table{routes(r), agents(r.Fleet), processes(r)} {
		if t != nil {
			fmt.Fprintln(d)
			t.top().write(d, "  ", "lr")
			t.writeRest(d)
		}
	}
	if t := functions(r); t != nil {
		fmt.Fprintln(d)
		t.write(d, "  ", "rrl")
	}
}

// top is the head and the first rows of the table.
func (t table) top() table { return t[:min(len(t), mostRows+1)] }

func (t table) writeRest(w io.Writer) {
	if n := len(t) - mostRows - 1; n > 0 {
		fmt.Fprintf(w, "  and %s more, in --json\n", count(int64(n)))
	}
}

func (t table) has(cell string) bool {
	return slices.ContainsFunc(t, func(row []string) bool { return slices.Contains(row, cell) })
}

// Quiet writes the line that matters, and what speaks against it.
func Quiet(w io.Writer, r *result.Result) error {
	d := &document{w: w}
	all := []string{rate(r)}
	if l := r.Latency; l != nil {
		all = append(all, "p50 "+micros(l.P50), "p99 "+micros(l.P99))
	}
	if l := r.ErrorLatency; l != nil {
		all = append(all, "of errors p50 "+micros(l.P50), "p99 "+micros(l.P99))
	}
	all = append(all, Many(r.Requests.Errors, "error"))
	if why, early := endings[r.Ended]; early {
		all = append(all, why)
	}
	verdict := plain(r.Generator.Verdict)
	if onlyShort(r) {
		verdict = "not judged"
	}
	fmt.Fprintf(d, "%s, %s\n", strings.Join(all, ", "), verdict)
	for _, line := range slices.Concat(Reasons(r), r.Warnings) {
		fmt.Fprintf(d, "- %s\n", plain(line))
	}
	return d.err
}
