package labreport

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"

	"golang.org/x/perf/benchfmt"
)

// servers is an experiment's record with all that exports show.
func servers() *lab.Record {
	r := &lab.Record{Format: lab.ExperimentFormat,
		Progress: lab.Progress{Name: "two servers", State: lab.Complete,
			Started: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Seed: 7},
		Setup: lab.Setup{Host: result.Host{OS: "linux", Arch: "amd64", CPU: "Some CPU", CPUs: 4}},
		Preparation: lab.Preparation{
			Arms: []lab.Arm{{Name: "go"}, {Name: "go~", Control: true, Baseline: "go"}, {Name: reporttest.Nasty, Baseline: "go"},
				{Name: "absent", Missing: []string{"no-such-program is not on the PATH"}}, {Name: "odd", Unfit: "not alike"},
				{Name: "broken", Baseline: "go"}}},
		Findings: lab.Findings{SpentS: 60,
			Objectives: []lab.ObjectiveCount{{Expr: "p99<1ms", Arm: "go", Level: "c10", Met: 2, Trials: 2},
				{Expr: "p99<1ms", Arm: reporttest.Nasty, Level: "c10", Met: 1, Trials: 2}},
			Gate: &lab.GateOutcome{Verdict: lab.Regression, Confirmed: true}}}
	for round := 1; round <= 2; round++ {
		for i, arm := range []string{"go", "go~", reporttest.Nasty} {
			v := 1000 * float64(i+round)
			r.Trials = append(r.Trials, lab.TrialSummary{ID: fmt.Sprintf("r%d-%d", round, i), Attempt: 1, Grade: lab.GradeB,
				Slot:    lab.Slot{Round: round, Position: i + 1, Arm: arm, Level: "c10"},
				Started: r.Started.Add(time.Minute), Reasons: []lab.Reason{{Says: "one, two"}, {Says: "three"}},
				Values: map[string]float64{"throughput": v, "p99": 1e6 / v, "memory": 2}})
		}
		r.Trials = append(r.Trials, lab.TrialSummary{ID: fmt.Sprint("failed", round), Slot: lab.Slot{Arm: "broken", Level: "c10"},
			Grade: lab.GradeF, Failure: &lab.Failure{Phase: "start", Reason: "it exited"}})
	}
	compare := func(metric, level, arm string, ratio, low, high float64, v stats.Verdict) lab.Comparison {
		return lab.Comparison{Metric: metric, Level: level, Baseline: "go", Variant: arm, Ratio: ratio, Low: low, High: high,
			Verdict: v, Trials: 10, Confidence: 0.95, Margin: 0.02, Better: 1, Control: arm == "go~"}
	}
	r.Verdicts = []lab.Comparison{
		compare("throughput", "c10", "go~", 1.001, 0.99, 1.012, stats.Equivalent),
		compare("throughput", "c10", reporttest.Nasty, 0.8, 0.7, 0.9, stats.Different),
		compare("p99", "c10", "go~", 1.02, 0.95, 1.1, stats.Inconclusive),
		compare("p99", "c10", reporttest.Nasty, 1.5, 0.001, 3000, stats.Inconclusive),
		compare("throughput", "", reporttest.Nasty, 1.3, 1.2, 1.4, stats.Different)}
	r.Verdicts[3].Confidence = 0.5
	r.Gate.Missed = r.Verdicts[1:2]
	return r
}

// benchmarks are those that Go's own reader finds, which takes no more than benchstat.
func benchmarks(t *testing.T, b []byte) (all []*benchfmt.Result, units benchfmt.UnitMetadataMap) {
	t.Helper()
	r := benchfmt.NewReader(bytes.NewReader(b), "x")
	for r.Scan() {
		switch found := r.Result().(type) {
		case *benchfmt.Result:
			all = append(all, found.Clone())
		case *benchfmt.SyntaxError:
			t.Error(found)
		}
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	return all, r.Units()
}

func benchValue(t *testing.T, r *benchfmt.Result, unit string) float64 {
	t.Helper()
	v, has := r.Value(unit)
	if !has {
		t.Errorf("%s has no %s", r.Name, unit)
	}
	return v
}

func TestBench(t *testing.T) {
	var b bytes.Buffer
	open, many := reporttest.Late(), reporttest.Failing()
	many.Host.CPU = ""
	if err := Bench(&b, reporttest.Closed(), open, many, reporttest.Shopping(), reporttest.Unreachable()); err != nil {
		t.Fatal(err)
	}
	all, units := benchmarks(t, b.Bytes())
	if len(all) != 4 {
		t.Fatalf("%d of\n%s", len(all), b.String())
	}
	for i, want := range []string{"HTTP/GET_%2F/model=closed/connections=100",
		"HTTP/GET_%2F/model=open/connections=100/rate=20000", "HTTP/2_requests/model=closed/connections=100",
		"HTTP/scenario_of_3_steps/model=open/connections=100/rate=500"} {
		if got := string(all[i].Name); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for unit, want := range map[string]float64{"sec/op": 289e-6 * 1.1, "p99-sec/op": 289e-6 * 1.6, "req/s": 332_014,
		"B/op": 153} {
		if v := benchValue(t, all[0], unit); math.Abs(v/want-1) > 1e-6 {
			t.Errorf("%s: %v, want %v", unit, v, want)
		}
	}
	if all[0].Iters != 3_320_140 || all[0].GetConfig("cpu") != "Some CPU" || all[0].GetConfig("goos") != "linux" {
		t.Errorf("%+v", all[0])
	}
	for unit, want := range map[string]string{"req/s": "higher", "sec/op": "lower", "p99-sec/op": "lower"} {
		if m := units.Get(unit, "better"); m == nil || m.Value != want {
			t.Errorf("%s: %+v", unit, m)
		}
	}
}

// Each measure has a unit of its own.
func TestBenchUnits(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range lab.Measures {
		unit, _ := benchUnit(m)
		if unit == "" || seen[unit] || strings.ContainsAny(unit, " \t") {
			t.Errorf("%s is in %q", m.Name, unit)
		}
		seen[unit] = true
	}
}

func TestExperimentBench(t *testing.T) {
	var b bytes.Buffer
	if err := ExperimentBench(&b, servers()); err != nil {
		t.Fatal(err)
	}
	all, _ := benchmarks(t, b.Bytes())
	if len(all) != 6 { // what failed has none
		t.Fatalf("%d of\n%s", len(all), b.String())
	}
	names := map[string]int{}
	for _, r := range all {
		names[string(r.Name)]++
	}
	if len(names) != 3 || names["Two%20servers/variant=go/level=c10"] != 2 {
		t.Errorf("%v", names)
	}
	if v := benchValue(t, all[0], "memory-B"); v != 2e6 {
		t.Errorf("%v bytes", v)
	}
}

func TestExperimentJUnit(t *testing.T) {
	for gate, want := range map[string]string{
		lab.Passed: "gate: passed", lab.Regression: "gate: failure (regression)",
		lab.Undecided: "gate: error (inconclusive: too few)"} {
		r := servers()
		if r.Gate.Verdict = gate; gate == lab.Undecided {
			r.Gate.Why = "too few"
		}
		var b bytes.Buffer
		if err := ExperimentJUnit(&b, r); err != nil {
			t.Fatal(err)
		}
		got := reporttest.Outcomes(reporttest.ReadSuite(t, b.Bytes()))
		if !strings.HasSuffix(got, "\n"+want) {
			t.Errorf("%s\nends not in %q", got, want)
		}
		if gate == lab.Regression {
			golden(t, "experiment.junit", []byte(got+"\n"))
		}
	}
}

// An objective that is open says why: not each is for the machine.
func TestOpenObjectivesInJUnit(t *testing.T) {
	for why, open := range map[string]*result.Outcome{
		"the machine spoiled too many of the trials (grade F)": nil,
		"in a trial p99 is over 2.00 s, and nobody knows by how much": {Expr: "p99<5s", Unit: "us", Value: new(2e6), Over: true,
			Undecided: result.NoAnswers},
		"in a trial p99 takes at least 100 values, and the longest of fewer was 3.00 ms": {Expr: "p99<5s", Unit: "us",
			Value: new(3e3), Undecided: result.FewValues, Needs: 100},
	} {
		r := servers()
		r.Objectives = []lab.ObjectiveCount{{Expr: "p99<5s", Arm: "go", Level: "c10", Met: 1, Trials: 2, Undecided: true, Open: open}}
		var b bytes.Buffer
		if err := ExperimentJUnit(&b, r); err != nil {
			t.Fatal(err)
		}
		want := "p99<5s of go at c10: error (inconclusive: met in 1 of 2 trials: " + why + ")"
		if got := reporttest.Outcomes(reporttest.ReadSuite(t, b.Bytes())); !strings.Contains(got, want+"\n") {
			t.Errorf("%s\nhas no %s", got, want)
		}
	}
}

func TestExperimentCSV(t *testing.T) {
	var b bytes.Buffer
	r := servers()
	r.Sensitive = tried()
	if err := ExperimentCSV(&b, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+len(r.Trials)+len(r.Sensitive.Trials) {
		t.Fatal(len(rows), err)
	}
	at := func(row int, column string) string {
		for i, name := range rows[0] {
			if name == column {
				return rows[row][i]
			}
		}
		t.Fatalf("no column %s in %q", column, rows[0])
		return ""
	}
	for column, want := range map[string]string{"trial": "r1-2", "variant": format.PlainLine(reporttest.Nasty), "level": "c10", "round": "1",
		"position": "3", "control": "false", "started": "2026-01-02T15:05:05Z", "grade": "B", "reasons": "one, two; three",
		"throughput (req/s)": "3000", "p50 (µs)": "", "memory (MB)": "2", "failure": ""} {
		if got := at(3, column); got != want {
			t.Errorf("%s: %q, want %q", column, got, want)
		}
	}
	if at(2, "control") != "true" || at(4, "failure") != "start: it exited" {
		t.Errorf("%q", rows[2:5])
	}
	last := len(rows) - 1
	if at(last, "generator setting") != "2 threads instead of 4" || at(last, "throughput (req/s)") != "900" ||
		at(3, "generator setting") != "" {
		t.Errorf("%q", rows[last])
	}
}

// tried is a sensitivity of which a setting has moved the cell.
func tried() *lab.Sensitivity {
	s := &lab.Sensitivity{Arm: "go", Level: "c10", Metric: "throughput", Matters: true,
		Sentence: "another setting of the generator (2 threads instead of 4) moves throughput of go at c10 by 10 % [8, 12]",
		Settings: []lab.SensitiveSetting{{Name: "2 threads instead of 4", Trials: 1,
			Ratio: stats.Interval{Low: 0.88, Estimate: 0.9, High: 0.92, Level: 0.96}}},
		Skipped: []string{"wrk: it is not installed"}}
	for i, setting := range []string{lab.AsAsked, "2 threads instead of 4"} {
		s.Trials = append(s.Trials, lab.TrialSummary{ID: fmt.Sprint("s", i), Attempt: 1, Grade: []lab.Grade{lab.GradeA, lab.GradeB}[i],
			Slot:   lab.Slot{Round: lab.SensitivityRound, Position: i + 1, Arm: lab.SettingArm("go", setting), Level: "c10"},
			Values: map[string]float64{"throughput": 1000 - 100*float64(i)}})
	}
	return s
}

// The trials of settings of the generator are counted where the others are, and by themselves.
func TestSensitivityInTheWholeReport(t *testing.T) {
	var b bytes.Buffer
	r := servers()
	r.Sensitive = tried()
	if err := WholeMarkdown(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 trials more tried settings of the generator.",
		"Of 2 trials with settings of the generator 1 are of grade A, 1 of B, 0 of F.",
		"| 2 threads instead of 4 | 0.900 |", r.Sensitive.Sentence} {
		if !strings.Contains(strings.ReplaceAll(b.String(), `\`, ""), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}

// described is servers with a description and a caution.
func described() *lab.Record {
	r := servers()
	r.Cautions = []string{"the machine was busy"}
	r.Facts = []fact.Fact{{Args: fact.Told{Text: "The machine was busy"}}}
	r.Experiment = &experiment.Experiment{Description: "which?"}
	return r
}

func TestPullRequest(t *testing.T) {
	r := described()
	var b bytes.Buffer
	if err := PullRequest(&b, r, "a b.svg"); err != nil {
		t.Fatal(err)
	}
	golden(t, "pullrequest.md", reporttest.LayoutOf(b.Bytes(), experimentPhrases(r)))
	b.Reset()
	if err := PullRequest(&b, r, ""); err != nil || strings.Contains(b.String(), "![") {
		t.Errorf("%v: a picture of nothing\n%s", err, b.String())
	}
}
