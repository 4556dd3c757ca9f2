package lab

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dyno/internal/result"
)

// readTrial is a trial with a throughput.
func readTrial(arm string, round, attempt int, g Grade, rate float64) *Trial {
	return &Trial{Format: TrialFormat, ID: Slot{Round: round, Arm: arm, Level: "c1"}.id(attempt),
		Attempt: attempt, Slot: Slot{Round: round, Arm: arm, Level: "c1"}, Grade: g,
		Result: &result.Result{Rate: result.Rate{Completed: rate}}}
}

// A reader of a folder counts the trials that the verdicts rest on: of two attempts the better,
// pairs of one attempt, and none of a gate's second batch.
func TestCountedAndLogs(t *testing.T) {
	failed := readTrial("b", 3, 1, GradeF, 0)
	failed.Failure, failed.Result = &Failure{Phase: "start"}, nil
	trials := []*Trial{
		readTrial("a", 1, 1, GradeF, 100), readTrial("b", 1, 1, GradeA, 50),
		readTrial("a", 1, 2, GradeB, 200), readTrial("b", 1, 2, GradeA, 300),
		readTrial("a", 2, 1, GradeA, 100), readTrial("b", 2, 1, GradeA, 200),
		readTrial("a", 3, 1, GradeA, 100), failed,
		readTrial("a", Confirming, 1, GradeA, 1), readTrial("b", Confirming, 1, GradeA, 1),
	}
	var counted []float64
	for _, x := range Counted(trials, "b", "c1") {
		counted = append(counted, x.Result.Rate.Completed)
	}
	if want := []float64{50, 200}; !slices.Equal(counted, want) {
		t.Errorf("counted %v, not %v", counted, want)
	}
	c := Comparison{Metric: "throughput", Level: "c1", Baseline: "a", Variant: "b"}
	var ratios []float64
	for _, x := range c.Logs(trials) {
		ratios = append(ratios, math.Round(1e6*math.Exp(x))/1e6)
	}
	if want := []float64{1.5, 2}; !slices.Equal(ratios, want) {
		t.Errorf("ratios %v, not %v", ratios, want)
	}
	if c.Metric = "beauty"; c.Logs(trials) != nil {
		t.Error("a measure that is none has ratios")
	}
}

// A trial is read whole, and from its folder only.
func TestOpenTrial(t *testing.T) {
	s, err := create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := readTrial("a b", 1, 1, GradeA, 7)
	if err := s.keep(want); err != nil {
		t.Fatal(err)
	}
	got, err := OpenTrial(s.dir, want.ID)
	if err != nil || got.Arm != "a b" || got.Result.Rate.Completed != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, id := range []string{"", "..", "../experiment", "/etc/passwd", "x/y", "r009-none"} {
		if _, err := OpenTrial(s.dir, id); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("trial %q: %v", id, err)
		}
	}
}
