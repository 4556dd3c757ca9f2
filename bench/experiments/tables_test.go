package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/stats"
)

const file = `
version: 1
name: two
published:
  source: a magazine
  figures:
    - {variant: a, level: c1, metric: throughput, value: 12345.6, unit: req/s}
    - {variant: b, level: c1, metric: throughput, failed: "timeout after 3 requests"}
    - {variant: a, level: c1, metric: p99, value: 3.5, unit: ms}
design: {metrics: [throughput, p99], rounds: 6, measure: 2s}
levels: [{name: c1, connections: 1}]
variants:
  a: {url: http://127.0.0.1:1/}
  b: {url: http://127.0.0.1:1/}
  c: {url: http://127.0.0.1:1/}
  d: {url: http://127.0.0.1:1/}
profile: {functions: [Dump]}
`

const want = `## two

2026-01-02: 3 trials of 2s in 6 rounds, 1 of grade F; a CPU, 2 CPUs.

| c1 | bytes | throughput, published | ratio | throughput | ratio | p99, published | p99 | ratio | cpu | Dump |
|---|---|---|---|---|---|---|---|---|---|---|
| a | 140 | 12,346 | – | 98,765 | – | 3.5 ms | 2.5 ms | – | 9.88 µs | – |
| a (A/A) | – | – | – | 98,000 | 1.01 [0.99, 1.03] | – | – | – | – | – |
| b | – | failed | 0.50 | failed: it died | – | – | 150 µs | 0.06 | – | 12.5 % |

- c is not available here: no c; no d
- d was not tested: it is odd

`

// A quick run is not passed off as a full one.
func TestFullIsNotQuick(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"experiment.yaml": file, "experiment.json": `{"format": "` +
		lab.ExperimentFormat + `", "name": "two", "state": "complete", "quick": true}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := runOrOpen(t.Context(), "dyno", "two", dir, false); err != nil || r.Name != "two" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := runOrOpen(t.Context(), "dyno", "two", dir, true); err == nil {
		t.Errorf("%+v", r)
	}
}

// A table has what there is, and no column without anything.
func TestTables(t *testing.T) {
	e, err := experiment.Read("two.yaml", strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	half := 0.5
	cell := func(arm, metric, unit string, v float64) lab.Cell {
		return lab.Cell{Arm: arm, Level: "c1", Metric: metric, Unit: unit,
			Median: stats.Interval{Estimate: v}, Trials: 6}
	}
	r := &lab.Record{
		Progress:   lab.Progress{Name: "two", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		Definition: lab.Definition{Experiment: e},
		Setup:      lab.Setup{Host: result.Host{CPU: "a CPU", CPUs: 2}},
		Preparation: lab.Preparation{
			Arms: []lab.Arm{
				{Name: "a", Answer: &fairness.Answer{WireBytes: fairness.Span{Mean: 140}}},
				{Name: "a (A/A)", Control: true, Baseline: "a",
					Answer: &fairness.Answer{WireBytes: fairness.Span{Mean: 140}}},
				{Name: "b", Baseline: "a"}, {Name: "c", Missing: []string{"no c", "no d"}},
				{Name: "d", Unfit: "it is odd"},
			}},
		Findings: lab.Findings{
			Cells: []lab.Cell{cell("a", "throughput", "req/s", 98764.5), cell("a", "cpu", "µs/req", 9.876),
				cell("a", "p99", "µs", 2500), cell("a (A/A)", "throughput", "req/s", 98000),
				cell("b", "p99", "µs", 150)},
			Verdicts: []lab.Comparison{
				{Metric: "throughput", Level: "c1", Variant: "a (A/A)", Ratio: 1.01, Low: 0.99, High: 1.03,
					Confidence: 0.95},
				{Metric: "p99", Level: "c1", Variant: "b", Ratio: 0.06, Confidence: 0.5},
			},
			Trials: []lab.TrialSummary{
				{Slot: lab.Slot{Arm: "a", Level: "c1"}, Grade: lab.GradeA},
				{Slot: lab.Slot{Arm: "a", Level: "c1"}, Grade: lab.GradeB},
				{Slot: lab.Slot{Arm: "b", Level: "c1"}, Grade: lab.GradeF,
					Failure: &lab.Failure{Reason: "it died\nof something"}},
			},
			Profiles: []lab.TakenProfile{{Arm: "b", Level: "c1", Shares: []profile.FunctionShare{
				{Function: "Dump", Cumulative: profile.Part{Share: 0.125}}}}}},
	}
	for _, f := range e.Published.Figures {
		r.Published = append(r.Published, lab.PublishedFigure{Figure: f})
	}
	r.Published[1].Ratio = &half
	if got := formatTables(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := unexplainedArms(r); len(got) > 0 {
		t.Errorf("unexplained: %q", got)
	}
	r.Arms = append(r.Arms, lab.Arm{Name: "e", Baseline: "a"})
	if got := unexplainedArms(r); !slices.Equal(got, []string{"e at c1"}) {
		t.Errorf("unexplained: %q, want e", got)
	}
}
