package judge

import (
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
)

// Where the machine was busy, a server that was only slow is not accused, and one that left
// connections without an answer is, but not for a single trial.
func TestSpoiledOfABusyMachine(t *testing.T) {
	slow := lab.Reason{Grade: lab.GradeF, Says: "78 % were sent in time", Server: true}
	starved := lab.Reason{Grade: lab.GradeF, Says: "12 of 16 connections", Server: true, Starved: 12, Asked: 16}
	busy := lab.Reason{Grade: lab.GradeF, Says: "other programs", Passing: true}
	for name, c := range map[string]struct {
		trials  int
		reasons []lab.Reason
		want    int
	}{
		"slow":                         {6, []lab.Reason{slow}, 1},
		"slow, once":                   {1, []lab.Reason{slow}, 1},
		"slow on a busy machine":       {6, []lab.Reason{slow, busy}, 0},
		"starved on a busy machine":    {6, []lab.Reason{starved, busy}, 1},
		"starved once, on a busy one":  {1, []lab.Reason{starved, busy}, 0},
		"starved once, on a quiet one": {1, []lab.Reason{starved}, 1},
	} {
		r := new(lab.Record)
		r.Arms = []lab.Arm{{Name: "a"}}
		for round := range c.trials {
			r.Trials = append(r.Trials, lab.TrialSummary{Slot: lab.Slot{Arm: "a", Round: round + 1}, Attempt: 1,
				Grade: lab.GradeF, Reasons: c.reasons})
		}
		if all := SpoiledFacts(r); len(all) != c.want {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// A server is compared with the others at its level, of which its own control is none.
func TestSpoiledBesideOthers(t *testing.T) {
	slow := lab.Reason{Grade: lab.GradeF, Says: "78 % were sent in time", Server: true}
	r := new(lab.Record)
	r.Arms = []lab.Arm{{Name: "a"}, {Name: "a (A/A)", Control: true, Baseline: "a"},
		{Name: "b"}, {Name: "b (A/A)", Control: true, Baseline: "b"}}
	for round := range 6 {
		for arm, reasons := range map[string][]lab.Reason{"a": {slow}, "a (A/A)": {slow}, "b": nil, "b (A/A)": nil} {
			s := lab.TrialSummary{Slot: lab.Slot{Arm: arm, Level: "c1", Round: round + 1}, Attempt: 1, Grade: lab.GradeA}
			if s.Reasons = reasons; reasons != nil {
				s.Grade = lab.GradeF
			}
			r.Trials = append(r.Trials, s)
		}
	}
	all := SpoiledFacts(r)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	if a, is := all[0].Args.(fact.ServerSpoiled); !is || a.Trials != 6 || a.Others != 0 || a.OtherTrials != 12 {
		t.Errorf("%+v", all[0].Args)
	}
}
