package lab

import "testing"

// What a gate says is its items in one line; a file from before items has its reasons in one.
func TestGateItems(t *testing.T) {
	worse := []Comparison{{Metric: "cpu", Level: "c1", Variant: "b", Baseline: "a", Ratio: 1.3, Low: 1.2, High: 1.4}}
	of := "a regression: " + worse[0].Worsening()
	for want, c := range map[string]struct {
		g     GateOutcome
		items int
	}{
		"passed":                      {GateOutcome{Verdict: Passed}, 1},
		"passed: the trials were few": {GateOutcome{Verdict: Passed, Why: "the trials were few"}, 1},
		"inconclusive: x; y":          {GateOutcome{Verdict: Undecided, Why: "x; y", Open: []string{"x", "y"}}, 2},
		"inconclusive: x; y (old)":    {GateOutcome{Verdict: Undecided, Why: "x; y (old)"}, 1},
		of:                            {GateOutcome{Verdict: Regression, Missed: worse}, 1},
		of + "; besides: x; y": {GateOutcome{Verdict: Regression, Missed: worse, Why: "besides: x; y",
			Open: []string{"x", "y"}}, 3},
		of + "; besides: x; z (old)": {GateOutcome{Verdict: Regression, Missed: worse, Why: "besides: x; z (old)"}, 2},
	} {
		for range 2 { // it does not change what it has
			if got := c.g.Explain(); got != want || len(c.g.Items()) != c.items {
				t.Errorf("%q of %d items, not %q", got, len(c.g.Items()), want)
			}
		}
	}
}
