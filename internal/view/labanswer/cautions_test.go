package labanswer

import (
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
)

// What the gate judges is said if it passed, and only where its rule is known.
func TestPassedCautions(t *testing.T) {
	rule := &experiment.Experiment{Gate: &experiment.Gate{Metrics: []experiment.Metric{"p99"}, Margin: 0.05}}
	for name, c := range map[string]struct {
		gate *lab.GateOutcome
		of   *experiment.Experiment
		want string
	}{
		"passed":         {&lab.GateOutcome{Verdict: lab.Passed}, rule, "The gate passed all the same: it judges only p99 latency, with a margin of 5 %"},
		"a regression":   {&lab.GateOutcome{Verdict: lab.Regression}, rule, ""},
		"no gate":        {nil, rule, ""},
		"of stored runs": {&lab.GateOutcome{Verdict: lab.Passed}, nil, ""},
		"has no rule":    {&lab.GateOutcome{Verdict: lab.Passed}, &experiment.Experiment{}, ""},
	} {
		r := new(lab.Record)
		r.Gate, r.Experiment = c.gate, c.of
		var got string
		for _, caution := range passedCautions(r) {
			got += caution.Says
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
