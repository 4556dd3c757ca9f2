package labreport

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
)

// starved has 2,000 answers of 10 ms, and 40 requests without one.
func starved() *result.Distribution {
	h := metric.NewHistogram(metric.Fine)
	h.RecordMany(int64(10*time.Millisecond), 2000)
	return durations.New(h).WithUnanswered(durations.Bound{US: 2e6, Count: 40})
}

// Every export says which values are only known to be higher.
func TestExportsOfBounds(t *testing.T) {
	r := &result.Result{Latency: starved()}
	r.Requests.Completed, r.Rate.Completed = 2000, 200
	one := &lab.Trial{ID: "t1", Result: r}
	var table, bench bytes.Buffer
	record := &lab.Record{}
	record.Trials = []lab.TrialSummary{one.Summary()}
	if err := ExperimentCSV(&table, record); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 2 || rows[0][len(rows[0])-1] != "only known to be higher" ||
		rows[1][len(rows[1])-1] != "mean p99 max in_flight" {
		t.Errorf("%v, %q", err, rows)
	}
	if err := Bench(&bench, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" 2e+09 at-least-p99-ns/op", " at-least-max-ns/op", "10000000 p50-ns/op"} {
		if !strings.Contains(bench.String(), want) {
			t.Errorf("no %q in %s", want, bench.String())
		}
	}
}

// Tables have bounds as such.
func TestTablesOfBounds(t *testing.T) {
	c := lab.Comparison{Metric: "p99", Variant: "b", Baseline: "a", Ratio: 8, Low: 7.5, High: 8.5, Confidence: 0.95,
		Basis: lab.Basis{Bound: lab.AtLeast}}
	if got := comparisonRatio(c) + " " + comparisonInterval(c); got != "at least 8.00 [7.50, ∞)" {
		t.Error(got)
	}
	if got := c.Worsening(); got != "p99 of b: worse: +700 % or higher [+650, ∞)" {
		t.Error(got)
	}
	c.Bound = lab.NoBound
	if got := comparisonRatio(c) + " " + comparisonInterval(c); got != "– –" {
		t.Error(got)
	}
	if got := variantSentence(c, answer.Finding{Verdict: answer.Undecided, Why: "why"}); got != "p99: b is undecided; why" {
		t.Error(got)
	}
	p := lab.ShiftPoint{Ratio: stats.Interval{Low: 0.1, Estimate: 0.2, High: 0.3, Level: 0.95}, Bound: lab.AtMost}
	if got := shiftText(p); got != "at most 0.20 (0, 0.30]" {
		t.Error(got)
	}
	cell := lab.Cell{Arm: "b", Level: "l", Metric: "p99", Unit: "µs", Median: stats.Interval{Estimate: 2e6}, Over: true}
	r := &lab.Record{}
	r.Cells = []lab.Cell{cell}
	if got, _ := medianFigure(r, "b", "l", "p99"); got != "over 2,000,000" || medianText(cell) != got {
		t.Error(got, medianText(cell))
	}
}
