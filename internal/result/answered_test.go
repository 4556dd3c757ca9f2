package result

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
)

// failingRun is a closed loop of 20,000 answers within 2 s, of which so many are right and the
// others a 503 or a 500, in turn: right ones take 2 ms and errors 1 ms.
func failingRun(right int64) *loadresult.Result {
	r := closedRun()
	r.Plan.Expect, r.Plan.Connections, r.Totals.Outage, r.Totals.Unfinished = nil, 10, 0, 0
	r.Totals.Opened, r.Totals.Served, r.Totals.Reconnects = 10, 10, 0
	r.Total, r.Routes, r.Intervals, r.Totals.Failures = metric.NewCounters(), nil, nil, nil
	for i := range int64(20_000) {
		status := 503 - 3*(i%2)
		if i < right {
			status = 200
			r.Total.Completed++
			r.Total.Latency.Record(int64(2 * time.Millisecond))
		} else {
			r.Total.Failed++
			r.Total.ErrorLatency.Record(int64(time.Millisecond))
		}
		r.Total.Sent++
		r.Total.Status[status]++
	}
	for status, detail := range map[int]string{500: "500", 503: "503"} {
		if n := r.Total.Status[status]; n > 0 {
			r.Totals.Failures = append(r.Totals.Failures, loadresult.Failure{Phase: loadresult.Expect, Kind: "status",
				Address: "1.2.3.4:443", Detail: detail, Count: n})
		}
	}
	return r
}

// A server that only fails is measured: nothing of it is in latency or the rate, and
// what it cost is known.
func TestOnlyErrors(t *testing.T) {
	r := from(t, failingRun(0))
	if !r.OnlyErrors() || r.Answers() != 20_000 || r.Latency != nil || r.Service != nil ||
		r.ErrorLatency.P50 < 999 || r.ErrorLatency.Count != 20_000 {
		t.Errorf("%d answers, latency %v, of errors %+v", r.Answers(), r.Latency, r.ErrorLatency)
	}
	if r.Rate.Completed != 0 || *r.Rate.ErrorAnswers != 10_000 || r.Generator.CPUPerRequest != 25 ||
		*r.Generator.Little != 1 {
		t.Errorf("%+v, %+v", r.Rate, r.Generator)
	}
	if r.Generator.Verdict != OK {
		t.Errorf("the generator is %s: %v", r.Generator.Verdict, r.Generator.Reasons)
	}
	if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, "EVERY answer was an error (status 500, 503)") {
		t.Errorf("warnings: %s", all)
	}
	if err := Check(r); err != nil {
		t.Error(err)
	}
}

// The generator's limits show in answers that are errors as in any others.
func TestErrorsAreJudged(t *testing.T) {
	r := from(t, failingRun(0))
	r.Generator.BusyPercent = 99
	if r.judgeGenerator(); r.Generator.Verdict != ClientBound {
		t.Errorf("%s: %v", r.Generator.Verdict, r.Generator.Reasons)
	}
	r.Generator.BusyPercent, r.Generator.GCPauseMax = 1, 1e6
	if r.judgeGenerator(); r.Generator.Verdict != Suspect {
		t.Errorf("%s: %v", r.Generator.Verdict, r.Generator.Reasons)
	}
}

// Some errors: each answer is in one of the distributions, and Little's law holds of both.
func TestSomeErrors(t *testing.T) {
	run := failingRun(5000)
	run.Total.ErrorLatency.Reset()
	for range 15_000 { // 10 connections for 2 s, less 5,000 × 2 ms
		run.Total.ErrorLatency.Record(int64(10*time.Second) / 15_000)
	}
	r := from(t, run)
	if r.Latency.Count != 5000 || r.ErrorLatency.Count != 15_000 || r.OnlyErrors() ||
		r.Rate.Completed != 2500 || *r.Rate.ErrorAnswers != 7500 || *r.Generator.Little != 1 {
		t.Errorf("%d and %d latencies, %+v, Little %v", r.Latency.Count, r.ErrorLatency.Count, r.Rate,
			*r.Generator.Little)
	}
	r.ErrorLatency.Count++
	if Check(r) == nil {
		t.Error("more errors have latencies than there were")
	}
}

// Parts of a load keep the errors of each status apart, and lose no latency of them.
func TestErrorsMerge(t *testing.T) {
	plans := failingRun(0).Plan.Split(2)
	var all []*loadresult.Result
	for i, p := range plans {
		run := failingRun(int64(20_000 * i)) // the second has no errors
		run.Plan = p
		all = append(all, run)
	}
	m := together(t, all...)
	if len(m.Errors) != 2 || m.Errors[0].Count != 10_000 || m.Errors[0].Detail == m.Errors[1].Detail {
		t.Errorf("%+v", m.Errors)
	}
	if m.ErrorLatency.Count != 20_000 || m.Latency.Count != 20_000 || *m.Rate.ErrorAnswers != 10_000 ||
		m.Generator.CPUPerRequest != 25 {
		t.Errorf("%d errors, %d latencies, %+v, %v µs", m.ErrorLatency.Count, m.Latency.Count, m.Rate,
			m.Generator.CPUPerRequest)
	}
	all[0].Total.ErrorLatency = metric.NewHistogram(metric.Fine)
	if _, err := From(joined(t, all...), "v"); err == nil || !strings.Contains(err.Error(), "does not add up") {
		t.Errorf("a latency was lost: %v", err)
	}
}

// Rows that were each to be sent once and were not are told, also of parts together.
func TestUnsentRows(t *testing.T) {
	run := failingRun(0)
	run.Plan.Rows = &loadplan.Rows{File: "people.csv", Rows: 50_000, Order: "once"}
	for requested, want := range map[int64]string{run.Total.Sent + 60: fmt.Sprintf("60 of the %s rows of \"people.csv\" were not sent before the run ended", loadresult.CountText(run.Total.Sent+60)), run.Total.Sent: ""} {
		run.Plan.Requested = requested
		r := from(t, run)
		text := strings.Join(r.Warnings, "\n")
		if strings.Contains(text, "rows of") != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%d requested: %q", requested, r.Warnings)
		}
	}
}

// Requests that were not sent because of a value are errors, and no answers: what remains adds up.
func TestRefusedRequests(t *testing.T) {
	run := scenarioRun(false)
	run.Failures = append(run.Failures,
		loadresult.Failure{Phase: loadresult.Check, Kind: loadresult.Refused, Detail: "row 3", Count: 7})
	r := from(t, run)
	if r.Refused() != 7 || r.wrongAnswers() != 3 {
		t.Errorf("%d refused, %d wrong answers", r.Refused(), r.wrongAnswers())
	}
	m := together(t, halves(func() *loadresult.Result { return run })...)
	if m.Refused() != 14 || !strings.Contains(strings.Join(m.Warnings, "\n"), "14 requests were due but not sent: row 3") {
		t.Errorf("together: %d refused, %q", m.Refused(), m.Warnings)
	}
	run.Failures[2].Kind = loadresult.Refused // a check of that name, whose error has an address
	if r = from(t, run); r.Refused() != 7 || r.wrongAnswers() != 3 {
		t.Errorf("%d refused, %d wrong answers", r.Refused(), r.wrongAnswers())
	}
}
