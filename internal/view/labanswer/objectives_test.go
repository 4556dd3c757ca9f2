package labanswer

import (
	"slices"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/view/answer"
)

// An objective that a trial left open is a doubt, with its reason.
func TestOpenObjectives(t *testing.T) {
	r := &lab.Record{}
	r.Objectives = []lab.ObjectiveCount{{Expr: "p99<5s", Arm: "a", Level: "c1", Trials: 2, Met: 1, Undecided: true,
		Open: &result.Outcome{Expr: "p99<5s", Unit: "us", Value: new(2e6), Over: true, Undecided: result.NoAnswers}},
		{Expr: "p50<5s", Arm: "a", Level: "c1", Trials: 2, Undecided: true}} // the machine's spoiling has a caution of its own
	all := objectiveCautions(r)
	if len(all) != 1 || all[0].Severity != answer.Doubt || !slices.Equal(all[0].Reasons, []string{
		"p99<5s of a: in a trial p99 is over 2.00 s, and nobody knows by how much"}) {
		t.Errorf("%+v", all)
	}
}
