// Package report renders what was measured: runs, searches and sweeps, for a terminal, as Markdown,
// JSON, CSV and JUnit. Package labreport renders what was compared, and historytext what was
// stored. A renderer takes the result and a writer, and computes nothing: each number is in the
// result. Every report of a run has the load model, the window, the number of requests in flight at
// its end, and the generator's self-check.
//
// A function whose name ends in Text returns a number, a fact or a verdict as it is printed. Those
// in Row, Table and Part return parts of a report, those in Document all of it, as values, which
// package document lays out.
//
// Where to find what is printed:
//
//	a run          runanswer.go (the verdict), runcautions.go (what speaks against it), next.go (what
//	               to do next), brief.go (the first 20 lines), runtext.go (all of it; the line of
//	               -q), runtables.go (percentiles, and which of them the first lines and the page's
//	               tiles have: FirstQuantiles; errors, routes), iterationtext.go (of a scenario),
//	               spectrum.go (-v: curve and heat map), server.go (CPU and memory of its processes,
//	               profiles), fleet.go (a line for each agent), plantext.go (the load and the
//	               self-check in words), remedy.go (reasons of the self-check, and what to do),
//	               objectivetext.go (met, missed, undecided), streamtext.go (streams of events)
//	while it runs  secondline.go (a line per second); package screen draws --tui
//	requests       package sample (--show, --save-errors)
//	a search       capacity.go (also a sweep)
//	calibrate      calibration.go
//	formats        formats.go (JSON, CSV, Markdown to paste), junit.go
//	the page       sentences.go (what the page has of these, as text); package method says how it
//	               was measured, package repeat writes the command that repeats a run
package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"dyno/internal/result"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// runDocument is the report of a run: what a person wants to see after it, in at most 20 lines, or
// all of it.
func runDocument(r *result.Result, s format.Style, plots []document.Part) document.Doc {
	if !s.Detail {
		return document.Doc{Title: MethodAndURL(r), Parts: []document.Part{
			{Rows: briefRows(r, s), Lines: mostLines - 2}}} // the title and a blank line
	}
	return document.Doc{Title: MethodAndURL(r) + ", " + transportText(r), Parts: slices.Concat(
		[]document.Part{{Rows: leadRows(r, s), Apart: true}, {Rows: append(factRows(r),
			document.Row{Name: "started", Text: r.Window.Started.Format("2006-01-02 15:04:05 MST")},
			document.Row{Name: "host", Text: Machine(r.Host)},
			document.Row{Name: "dyno", Text: format.PlainLine(r.Dyno)})},
			durationPart(r)},
		plots, []document.Part{
			{Head: "Errors", Tone: format.Red, Table: errorTable(r), Sides: "rl", Most: format.MostRows,
				Rest: "in --json"},
			tablePart("Checks", CheckTable(r)), tablePart("Metrics", MetricTable(r)),
			tablePart("Routes", RouteTable(r)), tablePart("Agents", agentTable(r.Fleet)),
			tablePart("Server", processTable(r)),
			{Head: "Profile", Table: functionTable(r), Sides: "rrl"}})}
}

// tablePart is a table of a report whose first column is a name.
func tablePart(head string, t format.Table) document.Part {
	return document.Part{Head: head, Table: t, Sides: "lr", Most: format.MostRows, Rest: "in --json"}
}

// leadRows are what the whole report says first: what came out, what to do next, whether the
// generator can be trusted, and what speaks against the numbers.
func leadRows(r *result.Result, s format.Style) []document.Row {
	a := RunAnswer(r)
	verdict := document.Row{Name: "verdict", Text: deadVerdict(r), Tone: format.Red}
	if r.Answers() > 0 {
		verdict.Text, verdict.Tone = serverVerdict(r), boxColor(r, a)
	}
	return slices.Concat([]document.Row{verdict, stepRow(a), generatorRow(r, s)}, objectiveRows(r, s),
		warningRows(a, s))
}

// factRows are what the whole report says besides, but for its tables.
func factRows(r *result.Result) []document.Row {
	all := []document.Row{
		{Name: "model", Text: ModelText(r)},
		{Name: "window", Text: windowText(r)},
		{Name: "rate", Text: rateText(r)},
		{Name: "requests", Text: requestsText(r.Requests, retriedText(r))},
	}
	add := func(name, text string) {
		if text != "" {
			all = append(all, document.Row{Name: name, Text: text})
		}
	}
	if rows := r.Plan.Rows; rows != nil {
		add("data", rowsText(rows))
	}
	all = append(append(all, streamRows(r)...), scenarioRows(r)...)
	add("status", statusText(r))
	add("bytes", trafficText(r))
	add("connections", connectionsText(r))
	add("TLS", tlsText(r))
	add("generator", generatorText(r))
	if r.Fleet != nil {
		add("fleet", fleetText(r.Fleet))
	}
	if p := r.Probe; p != nil {
		add("probe", probeText(p))
	}
	all = append(all, serverRows(r)...)
	add("stored", format.PlainLine(r.ID))
	return all
}

// Text writes a run for a terminal: in at most 20 lines what the server did, whether the generator
// can be trusted, then a line for each kind of figure; with s.Detail everything.
func Text(w io.Writer, r *result.Result, s format.Style) error {
	var plots []document.Part
	var err error
	if s.Detail {
		plots, err = runPlots(r)
	}
	return errors.Join(err, runDocument(r, s, plots).WriteText(w, s))
}

// Markdown writes everything of a run, for a page or a pull request.
func Markdown(w io.Writer, r *result.Result) error {
	return runDocument(r, format.Style{Detail: true}, nil).WriteMarkdown(w)
}

// Quiet writes the line that matters, and what speaks against it.
func Quiet(w io.Writer, r *result.Result) error {
	d := format.NewDocument(w)
	fmt.Fprintln(d, QuietLine(r))
	for _, line := range slices.Concat(Reasons(r), r.Warnings) {
		fmt.Fprintf(d, "- %s\n", format.PlainLine(line))
	}
	return d.Err()
}

// QuietLine is a run in one line.
func QuietLine(r *result.Result) string {
	all := []string{rateText(r)}
	if l := r.Latency; l != nil {
		all = append(all, "p50 "+percentileText(l, "p50"), tailText(l))
	}
	if l := r.ErrorLatency; l != nil {
		all = append(all, "of errors p50 "+format.Micros(l.P50), tailText(l))
	}
	all = append(append(all, quietScenario(r)...), format.Plural(r.Requests.Errors, "error"))
	why := earlyEnding(r)
	if why != "" {
		all = append(all, why)
	}
	own, verdict := GeneratorWord(r), format.PlainLine(r.RunVerdict())
	if verdict != r.OwnVerdict() && !(why != "" && verdict == result.Unanswered) {
		all = append(all, strings.ToUpper(verdict))
	}
	return strings.Join(append(all, "generator "+own), ", ")
}
