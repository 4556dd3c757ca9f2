package judge

import (
	"dyno/internal/lab"
	"math"
	"slices"
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
