// Package report renders results, searches, experiments and comparisons: for a terminal, as
// Markdown, JSON, CSV, JUnit and SVG. A renderer takes the result and a writer, and computes
// nothing: each number is in the result. Every report of a run has the load model, the window, the
// number of requests in flight at its end, and the generator's verdict on itself.
//
// A function whose name ends in Text returns a number, a fact or a verdict as it is printed; one
// whose name ends in Table or Section returns a part of a report; one whose name begins with write
// writes one.
//
// Where to find what is printed:
//
//	a run          runtext.go (facts, verdict), runtables.go (percentiles, errors, routes),
//	               spectrum.go (-v), server.go, fleet.go, plantext.go (the load in words)
//	while it runs  secondline.go (a line per second), screen.go (--tui)
//	a search       capacity.go, curve.go
//	an experiment  experiment.go; findings.go, experimentwords.go, shift.go, serversettings.go,
//	               programs.go, trials.go, remedy.go (what to do about a reason)
//	a comparison   compare.go, unpaired.go, comparedparts.go, correction.go
//	history        history.go
//	formats        formats.go (which file name is which), markup.go, junit.go, gobench.go,
//	               pullrequest.go, sentences.go and methods.go (prose of the page and of papers)
//	numbers        units.go, uncertain.go (no digits that the noise does not carry), visible.go
//	shapes         table.go, plot.go, forest.go
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

// lineWidth is in how many characters lines break, their indent apart.
func (s Style) lineWidth() int {
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

// reportFacts are the report but for its tables.
func reportFacts(r *result.Result) []Fact {
	all := []Fact{
		{"model", modelText(r)},
		{"window", windowText(r)},
		{"rate", rateText(r)},
		{"requests", requestsText(r.Requests)},
		{"status", statusText(r)},
		{"bytes", trafficText(r)},
		{"connections", connectionsText(r)},
	}
	if s := tlsText(r); s != "" {
		all = append(all, Fact{"TLS", s})
	}
	all = append(all, Fact{"generator", generatorText(r)})
	if r.Fleet != nil {
		all = append(all, Fact{"fleet", fleetText(r.Fleet)})
	}
	if p := r.Probe; p != nil {
		all = append(all, Fact{"probe", probeText(p)})
	}
	all = append(all, serverFacts(r)...)
	if r.ID != "" {
		all = append(all, Fact{"stored", plainLine(r.ID)})
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
	fmt.Fprintf(d, "%s, %s\n", s.paint(bold, methodAndURL(r)), transportText(r))
	lines := reportFacts(r)
	writeFact(d, s, "", lines[0])
	writeVerdict(d, s, r)
	for _, o := range r.Objectives {
		c := green
		if !o.Met {
			c = red
		}
		writeFact(d, s, c, Fact{"objective", objectiveText(o)})
	}
	for _, text := range r.Warnings {
		writeFact(d, s, yellow, Fact{"WARNING", plainLine(text)})
	}
	for _, f := range lines[1:] {
		writeFact(d, s, "", f)
	}
	writeTables(d, s, r)
	return d.err
}

func writeFact(d *document, s Style, c color, f Fact) {
	name := f.Name
	for _, line := range wrapLines(f.Text, s.lineWidth()-nameWidth) {
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
	writeFact(d, s, c, Fact{"verdict", verdictText(r)})
	for _, reason := range verdictReasons(r) {
		for i, line := range wrapLines(reason, s.lineWidth()-nameWidth-2) {
			mark := "  "
			if i == 0 {
				mark = "- "
			}
			fmt.Fprintf(d, "  %-*s%s%s\n", nameWidth, "", mark, line)
		}
	}
}

func writeTables(d *document, s Style, r *result.Result) {
	if t := durationTable(r); t != nil {
		fmt.Fprintln(d)
		t.writeText(d, "  ", "lr")
		if t.hasCell(tooFew) {
			fmt.Fprintf(d, "  %s too few were measured for this percentile\n", tooFew)
		}
	}
	if s.Detail {
		writeDetail(d, s, r)
	}
	if t := errorTable(r); t != nil {
		fmt.Fprintf(d, "\n  %s\n", s.paint(red, "errors"))
		t.firstRows().writeText(d, "  ", "rl")
		t.writeRowsLeft(d)
	}
	for _, t := range []table{routeTable(r), agentTable(r.Fleet), processTable(r)} {
		if t != nil {
			fmt.Fprintln(d)
			t.firstRows().writeText(d, "  ", "lr")
			t.writeRowsLeft(d)
		}
	}
	if t := functionTable(r); t != nil {
		fmt.Fprintln(d)
		t.writeText(d, "  ", "rrl")
	}
}

// firstRows is the head and the first rows of the table.
func (t table) firstRows() table { return t[:min(len(t), mostRows+1)] }

func (t table) writeRowsLeft(w io.Writer) {
	if n := len(t) - mostRows - 1; n > 0 {
		fmt.Fprintf(w, "  and %s more, in --json\n", countText(int64(n)))
	}
}

func (t table) hasCell(cell string) bool {
	return slices.ContainsFunc(t, func(row []string) bool { return slices.Contains(row, cell) })
}

// Quiet writes the line that matters, and what speaks against it.
func Quiet(w io.Writer, r *result.Result) error {
	d := &document{w: w}
	all := []string{rateText(r)}
	if l := r.Latency; l != nil {
		all = append(all, "p50 "+microsText(l.P50), "p99 "+microsText(l.P99))
	}
	if l := r.ErrorLatency; l != nil {
		all = append(all, "of errors p50 "+microsText(l.P50), "p99 "+microsText(l.P99))
	}
	all = append(all, Plural(r.Requests.Errors, "error"))
	if why, early := earlyEndings[r.Ended]; early {
		all = append(all, why)
	}
	verdict := plainLine(r.Generator.Verdict)
	if onlyShort(r) {
		verdict = "not judged"
	}
	fmt.Fprintf(d, "%s, %s\n", strings.Join(all, ", "), verdict)
	for _, line := range slices.Concat(Reasons(r), r.Warnings) {
		fmt.Fprintf(d, "- %s\n", plainLine(line))
	}
	return d.err
}
