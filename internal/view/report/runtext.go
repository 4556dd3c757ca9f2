// Package report renders what was measured: runs, searches and sweeps, for a terminal, as Markdown,
// JSON, CSV and JUnit. Package labreport renders what was compared, and historytext what was
// stored. A renderer takes the result and a writer, and computes nothing: each number is in the
// result. Every report of a run has the load model, the window, the number of requests in flight at
// its end, and the generator's verdict on itself.
//
// A function whose name ends in Text returns a number, a fact or a verdict as it is printed; one
// whose name ends in Table returns a part of a report; one whose name begins with write writes one.
//
// Where to find what is printed:
//
//	a run          runanswer.go (the verdict), runcautions.go, next.go (what to do next),
//	               brief.go (the first 20 lines), runtext.go, runtables.go (percentiles, errors,
//	               routes), iterationtext.go (of a scenario), spectrum.go (-v), server.go,
//	               fleet.go, plantext.go (the load in words), remedy.go (what to do about a
//	               reason), objectivetext.go
//	while it runs  secondline.go (a line per second); package screen draws --tui
//	requests       package sample (--show, --save-errors)
//	a search       capacity.go, plot.go
//	formats        formats.go (JSON, CSV, Markdown), junit.go
//	the page       sentences.go; package method says how it was measured, package repeat writes the
//	               command that repeats a run
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dyno/internal/result"
	"dyno/internal/view/format"
)

// reportFacts are the report but for its tables.
func reportFacts(r *result.Result) []Fact {
	all := []Fact{
		{"model", ModelText(r)},
		{"window", windowText(r)},
		{"rate", rateText(r)},
		{"requests", requestsText(r.Requests)},
	}
	if rows := r.Plan.Rows; rows != nil {
		all = append(all, Fact{"data", rowsText(rows)})
	}
	all = append(append(all, scenarioFacts(r)...), Fact{"status", statusText(r)},
		Fact{"bytes", trafficText(r)}, Fact{"connections", connectionsText(r)})
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
		all = append(all, Fact{"stored", format.PlainLine(r.ID)})
	}
	return all
}

// Text writes what a person wants to see after a run, in at most 20 lines: what the server did,
// whether the generator can be trusted, then a line for each kind of figure. With s.Detail
// everything else follows: all facts, the percentiles, errors and routes.
func Text(w io.Writer, r *result.Result, s format.Style) error {
	d := format.NewDocument(w)
	writeBrief(d, s, r)
	if s.Detail {
		writeFacts(d, s, r)
		writeTables(d, s, r)
	}
	return d.Err()
}

// saidBriefly are the names of facts that the brief report has in full.
var saidBriefly = []string{"rate", "requests", "data", "iterations", "checks", "probe", "profile",
	"fleet", "stored"}

// writeFacts writes the facts that the brief report does not have.
func writeFacts(d *format.Document, s format.Style, r *result.Result) {
	fmt.Fprintln(d)
	for _, f := range reportFacts(r) {
		brief := r.Answers() > 0 && slices.Contains(saidBriefly, f.Name)
		if !brief && f.Name != "stored" {
			format.WriteFact(d, s, "", f.Name, f.Text)
		}
	}
}

func writeFact(d *format.Document, s format.Style, c format.Color, f Fact) {
	format.WriteFact(d, s, c, f.Name, f.Text)
}

func writeTables(d *format.Document, s format.Style, r *result.Result) {
	if t := durationTable(r); t != nil {
		fmt.Fprintln(d)
		t.WriteText(d, "  ", "lr")
		if t.HasCell(format.TooFew) {
			fmt.Fprintf(d, "  %s too few were measured for this percentile\n", format.TooFew)
		}
	}
	if s.Detail {
		writeDetail(d, s, r)
	}
	if t := errorTable(r); t != nil {
		fmt.Fprintf(d, "\n  %s\n", s.Paint(format.Red, "errors"))
		t.FirstRows().WriteText(d, "  ", "rl")
		t.WriteRowsLeft(d)
	}
	for _, t := range []format.Table{checkTable(r), metricTable(r), routeTable(r), agentTable(r.Fleet),
		processTable(r)} {
		if t != nil {
			fmt.Fprintln(d)
			t.FirstRows().WriteText(d, "  ", "lr")
			t.WriteRowsLeft(d)
		}
	}
	if t := functionTable(r); t != nil {
		fmt.Fprintln(d)
		t.WriteText(d, "  ", "rrl")
	}
}

// Quiet writes the line that matters, and what speaks against it.
func Quiet(w io.Writer, r *result.Result) error {
	d := format.NewDocument(w)
	all := []string{rateText(r)}
	if l := r.Latency; l != nil {
		all = append(all, "p50 "+percentileText(l, "p50"), tailText(l))
	}
	if l := r.ErrorLatency; l != nil {
		all = append(all, "of errors p50 "+format.Micros(l.P50), tailText(l))
	}
	all = append(append(all, quietScenario(r)...), format.Plural(r.Requests.Errors, "error"))
	why, early := earlyEndings[r.Ended]
	if early {
		all = append(all, why)
	}
	own, verdict := GeneratorWord(r), format.PlainLine(r.RunVerdict())
	if verdict != r.OwnVerdict() && !(early && verdict == result.Unanswered) {
		all = append(all, strings.ToUpper(verdict))
	}
	fmt.Fprintf(d, "%s, generator %s\n", strings.Join(all, ", "), own)
	for _, line := range slices.Concat(Reasons(r), r.Warnings) {
		fmt.Fprintf(d, "- %s\n", format.PlainLine(line))
	}
	return d.Err()
}
