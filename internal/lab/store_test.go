package lab

import (
	"strings"
	"testing"

	"dyno/internal/result"
)

// A trial is read whole, and from its folder only.
func TestOpenTrial(t *testing.T) {
	s, err := CreateFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	slot := Slot{Round: 1, Arm: "a b", Level: "c1"}
	want := &Trial{Format: TrialFormat, ID: slot.FileID(1), Attempt: 1, Slot: slot, Grade: GradeA,
		Result: &result.Result{Rate: result.Rate{Completed: 7}}}
	if err := s.StoreTrial(want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTrial(s.Dir, want.ID)
	if err != nil || got.Arm != "a b" || got.Result.Rate.Completed != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, id := range []string{"", "..", "../experiment", "/etc/passwd", "x/y", "r009-none"} {
		if _, err := ReadTrial(s.Dir, id); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("trial %q: %v", id, err)
		}
	}
}
