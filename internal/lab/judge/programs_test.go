package judge

import (
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
)

// Versions are told apart by what the files are, wherever they lie: `go run` has another folder
// for each trial.
func TestProgramsOfTrials(t *testing.T) {
	of := func(arm, path, sum string) *lab.Trial {
		return &lab.Trial{Slot: lab.Slot{Arm: arm}, Programs: []lab.Program{{Process: "app", Path: path, SHA256: sum}}}
	}
	all := programsRun([]*lab.Trial{of("a", "/tmp/1/app", "1"), of("b", "/tmp/2/app", "2"),
		of("a", "/tmp/3/app", "1"), {Slot: lab.Slot{Arm: "c"}}, of("a", "/tmp/4/app", "")})
	if len(all) != 3 || all[0].Trials != 2 || all[1].Arm != "b" || changedPrograms(all) != nil {
		t.Errorf("%+v, changed %+v", all, changedPrograms(all))
	}
	all = programsRun([]*lab.Trial{of("a", "/1/app", "1"), of("a", "/2/app", "2"), of("a", "/1/app (deleted)", "3")})
	if got := changedPrograms(all); len(got) != 1 || got[0].Args != (fact.ProgramChanged{Program: "app"}) ||
		got[0].Scope.Variant != "a" {
		t.Errorf("%+v", got)
	}
}
