package labreport

import (
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/stats"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/reporttest"
)

// pair is an experiment of two servers, of which node needs more CPU. The machine spoiled all trials
// but three.
func pair() *lab.Record {
	r := eight()
	r.Name, r.Dir, r.Experiment.Description = "vs-go-node", "/runs/report", "GET /, 50 connections"
	r.Experiment.Levels = r.Experiment.Levels[:1]
	r.Arms = []lab.Arm{{Name: "go"}, {Name: "go (A/A)", Baseline: "go", Control: true}, {Name: "node", Baseline: "go"}}
	r.Trials, r.Cells, r.Verdicts = nil, nil, nil
	for round := range 6 {
		for _, arm := range r.Arms {
			t := lab.TrialSummary{Grade: lab.GradeF, Slot: lab.Slot{Arm: arm.Name, Level: "c100", Round: round + 1}, Reasons: []lab.Reason{
				{Grade: lab.GradeF, Passing: true, Says: []string{"other programs used 25 % of the machine's CPUs",
					"other programs used 62 % of the machine's CPUs"}[round%2]}}}
			if round == 5 {
				t.Grade, t.Reasons = lab.GradeA, nil
			}
			r.Trials = append(r.Trials, t)
		}
	}
	for i, metric := range []string{"cpu", "throughput", "p99"} {
		m, _ := lab.MeasureNamed(metric)
		c := lab.Comparison{Metric: metric, Level: "c100", Baseline: "go", Variant: "node", Margin: 0.02, Better: m.Better, Ratio: 1.7,
			Low: 1.42, High: 2.15, Verdict: stats.Different, Confidence: 0.97, Trials: 6, GradeF: 5, PValues: lab.PValues{P: 0.03, PAdjusted: 0.03}}
		if i > 0 {
			c.Verdict, c.Floor, c.Disturbed = stats.Inconclusive, 0.66, 2
		}
		r.Verdicts = append(r.Verdicts, c)
	}
	return r
}

// What dyno vs prints of two servers whose trials must not be relied on: the first sentence, each
// verdict and the last line say so, and what the machine did is said once.
func TestUnreliablePair(t *testing.T) {
	r := pair()
	a := labanswer.Of(r)
	text := reporttest.Text(t, func(b *strings.Builder) error {
		if err := Experiment(b, r, format.Style{Width: 100}); err != nil {
			return err
		}
		return Standings(b, "go", labanswer.Standings(r, a), a.Unreliable, format.Style{})
	})
	golden(t, "unreliable.text", []byte(text))
	if n := strings.Count(text, "other programs"); n != 1 {
		t.Errorf("it says %d times what the machine did:\n%s", n, text)
	}
}

// Two comparisons are both, and one is none that others are judged with.
func TestAllOf(t *testing.T) {
	for counted, want := range map[string]string{"2 comparisons": "both comparisons together", "3 comparisons": "all 3 comparisons together",
		"2 comparisons of settings": "both comparisons of settings together", "1 of interactions": "1 of interactions"} {
		if got := allOf(counted); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
