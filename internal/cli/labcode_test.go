package cli

import (
	"strings"
	"testing"

	"dyno/internal/lab"
)

// Trials that cannot be relied on decide neither a gate nor an objective. An objective is missed all
// the same in trials that are unreliable because the server failed.
func TestExperimentCode(t *testing.T) {
	fine := []lab.TrialSummary{{Slot: lab.Slot{Round: 1}, Grade: lab.GradeA}}
	failing := []lab.TrialSummary{{Slot: lab.Slot{Round: 1}, Grade: lab.GradeF,
		Reasons: []lab.Reason{{Grade: lab.GradeF, Says: "9 of 9 requests failed"}}}}
	spoiled := []lab.TrialSummary{{Slot: lab.Slot{Round: 1}, Grade: lab.GradeF,
		Reasons: []lab.Reason{{Grade: lab.GradeF, Says: "the host took 9 %", Passing: true}}}}
	met, missed := []lab.ObjectiveCount{{Expr: "p99<1s", Met: 1, Trials: 1}}, []lab.ObjectiveCount{{Expr: "p99<1s", Trials: 1}}
	metSpoiled := []lab.ObjectiveCount{{Expr: "p99<1s", Met: 1, Trials: 1, Undecided: true}}
	missedSpoiled := []lab.ObjectiveCount{{Expr: "p99<1s", Trials: 1, Undecided: true}}
	for name, c := range map[string]struct {
		gate       string
		unreliable string // what the answer says
		objectives []lab.ObjectiveCount
		trials     []lab.TrialSummary
		want       int
		why        string
	}{
		"nothing to decide":           {"", "", nil, fine, exitOK, ""},
		"nothing to decide, spoiled":  {"", "do not", nil, spoiled, exitOK, ""},
		"passed":                      {lab.Passed, "", nil, fine, exitOK, ""},
		"a regression":                {lab.Regression, "", nil, fine, exitMissed, "gate: a regression"},
		"undecided":                   {lab.Undecided, "", nil, fine, exitUntrusted, "gate: inconclusive"},
		"passed, but unreliable":      {lab.Passed, "do not", nil, fine, exitUntrusted, "gate: inconclusive: do not"},
		"a regression not to rely on": {lab.Regression, "do not", nil, fine, exitUntrusted, "gate: inconclusive: do not"},
		"met":                         {"", "", met, fine, exitOK, ""},
		"missed":                      {"", "", missed, fine, exitMissed, "objective missed: p99<1s"},
		"missed by a server's fault":  {"", "", missed, failing, exitMissed, "objective missed: p99<1s"},
		"met, but spoiled":            {"", "", metSpoiled, spoiled, exitUntrusted, "objectives: neither met nor missed"},
		"missed, but spoiled":         {"", "", missedSpoiled, spoiled, exitUntrusted, "the machine spoiled 1 of 1 trials"},
		"a gate before an objective":  {lab.Undecided, "", missed, fine, exitUntrusted, "gate: "},
	} {
		r := &lab.Record{Findings: lab.Findings{Objectives: c.objectives, Trials: c.trials}}
		if c.gate != "" {
			r.Gate = &lab.GateOutcome{Verdict: c.gate}
		}
		code, err := experimentCode(r, c.unreliable)
		why := ""
		if err != nil {
			why = err.Error()
		}
		if code != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: code %d, not %d: %q, not %q", name, code, c.want, why, c.why)
		}
	}
}
