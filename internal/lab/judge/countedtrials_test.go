package judge

import (
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"math"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
)

// readTrial is a trial with a throughput.
func readTrial(arm string, round, attempt int, g lab.Grade, rate float64) *lab.Trial {
	return &lab.Trial{Format: lab.TrialFormat, ID: lab.Slot{Round: round, Arm: arm, Level: "c1"}.FileID(attempt),
		Attempt: attempt, Slot: lab.Slot{Round: round, Arm: arm, Level: "c1"}, Grade: g,
		Result: &result.Result{Rate: result.Rate{Completed: rate}}}
}

// A reader of a folder counts the trials that the verdicts rest on: of two attempts the better,
// pairs of one attempt, and none of a gate's second batch.
func TestCountedAndLogs(t *testing.T) {
	failed := readTrial("b", 3, 1, lab.GradeF, 0)
	failed.Failure, failed.Result = &lab.Failure{Phase: "start"}, nil
	trials := []*lab.Trial{
		readTrial("a", 1, 1, lab.GradeF, 100), readTrial("b", 1, 1, lab.GradeA, 50),
		readTrial("a", 1, 2, lab.GradeB, 200), readTrial("b", 1, 2, lab.GradeA, 300),
		readTrial("a", 2, 1, lab.GradeA, 100), readTrial("b", 2, 1, lab.GradeA, 200),
		readTrial("a", 3, 1, lab.GradeA, 100), failed,
		readTrial("a", lab.ConfirmingRound, 1, lab.GradeA, 1), readTrial("b", lab.ConfirmingRound, 1, lab.GradeA, 1),
	}
	var counted []float64
	for _, x := range CountedTrials(trials, "b", "c1") {
		counted = append(counted, x.Result.Rate.Completed)
	}
	if want := []float64{50, 200}; !slices.Equal(counted, want) {
		t.Errorf("counted %v, not %v", counted, want)
	}
	c := lab.Comparison{Metric: "throughput", Level: "c1", Baseline: "a", Variant: "b"}
	var ratios []float64
	for _, x := range PairLogs(c, trials) {
		ratios = append(ratios, math.Round(1e6*math.Exp(x))/1e6)
	}
	if want := []float64{1.5, 2}; !slices.Equal(ratios, want) {
		t.Errorf("ratios %v, not %v", ratios, want)
	}
	if c.Metric = "beauty"; PairLogs(c, trials) != nil {
		t.Error("a measure that is none has ratios")
	}
}

// The record has the size of a workload's files, from the first trial that measured anything.
func TestScenarioOf(t *testing.T) {
	failed, one, session := readTrial("a", 1, 1, lab.GradeF, 0), readTrial("a", 2, 1, lab.GradeA, 1), readTrial("a", 2, 1, lab.GradeA, 1)
	failed.Result = nil
	session.Result.Plan.Steps, session.Result.Plan.Rows = []string{"POST /login", "GET /items"}, &loadplan.Rows{Rows: 4}
	if s := scenarioOf([]*lab.Trial{failed, session, one}); s == nil || *s != (lab.Scenario{Steps: 2, Rows: 4}) {
		t.Errorf("%+v", s)
	}
	if s := scenarioOf([]*lab.Trial{failed, one}); s != nil {
		t.Errorf("one request: %+v", s)
	}
}

// Trials that the machine spoiled leave an objective open, if they are many of those of its variant and
// level. What they say of one variant says nothing of another, and one that a sound trial missed is missed.
func TestObjectivesOfSpoiledTrials(t *testing.T) {
	machine := []lab.Reason{{Grade: lab.GradeF, Says: "the host took 9 %", Passing: true}}
	server := []lab.Reason{{Grade: lab.GradeF, Says: "9 of 9 requests failed"}}
	e, err := experiment.Read("x.yaml", strings.NewReader("version: 1\nname: x\nlevels: [{name: c1, connections: 1}]\n"+
		"variants:\n  a: {url: http://127.0.0.1:1/}\n  b: {url: http://127.0.0.1:2/}\n  c: {url: http://127.0.0.1:3/}\n  d: {url: http://127.0.0.1:4/}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := &lab.Record{Definition: lab.Definition{Experiment: e}, Preparation: lab.Preparation{Arms: []lab.Arm{{Name: "a"},
		{Name: "b", Baseline: "a"}, {Name: "c", Baseline: "a"}, {Name: "d", Baseline: "a"}}}}
	var trials []*lab.Trial
	for round := range 6 {
		add := func(arm string, why []lab.Reason, met bool) {
			x := readTrial(arm, round+1, 1, lab.GradeF, 100)
			x.Reasons, x.Objectives = why, []result.Outcome{{Expr: "errors<1%", Met: met}}
			if why == nil {
				x.Grade = lab.GradeA
			}
			trials = append(trials, x)
		}
		add("a", machine, round > 0)
		add("b", server, false)
		add("c", nil, true)
		if round == 5 {
			add("d", server, false)
		} else {
			add("d", machine, true)
		}
	}
	Compute(r, trials)
	want := []lab.ObjectiveCount{
		{Expr: "errors<1%", Arm: "a", Level: "c1", Met: 5, Trials: 6, Undecided: true},
		{Expr: "errors<1%", Arm: "b", Level: "c1", Met: 0, Trials: 6},
		{Expr: "errors<1%", Arm: "c", Level: "c1", Met: 6, Trials: 6},
		{Expr: "errors<1%", Arm: "d", Level: "c1", Met: 5, Trials: 6},
	}
	if !slices.Equal(r.Objectives, want) {
		t.Errorf("%+v", r.Objectives)
	}
	// What a trial does not decide itself is open for its reason, unless a sound trial missed it.
	open := result.Outcome{Expr: "errors<1%", Undecided: result.NoAnswers, Value: new(2e6), Over: true}
	trials[2].Objectives[0] = open // of c
	trials[1].Objectives[0] = open // of b
	if Compute(r, trials); r.Objectives[2].Open == nil || *r.Objectives[2].Open != open || !r.Objectives[2].Undecided ||
		r.Objectives[2].Met != 5 || r.Objectives[1].Open != nil || r.Objectives[1].Undecided || r.Objectives[0].Open != nil {
		t.Errorf("%+v", r.Objectives)
	}
}
