package cli

import (
	"io"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
)

// The exit code is the gate's verdict, which is inconclusive if its trials cannot be relied on. Such
// trials do not decide an objective. It is missed all the same in trials that are unreliable because
// the server failed.
func TestExperimentCode(t *testing.T) {
	fine := []lab.TrialSummary{{Slot: lab.Slot{Round: 1}, Grade: lab.GradeA}}
	failing := []lab.TrialSummary{{Slot: lab.Slot{Round: 1}, Grade: lab.GradeF,
		Reasons: []lab.Reason{{Grade: lab.GradeF, Says: "9 of 9 requests failed"}}}}
	spoiled := []lab.TrialSummary{{Slot: lab.Slot{Round: 1}, Grade: lab.GradeF,
		Reasons: []lab.Reason{{Grade: lab.GradeF, Says: "the host took 9 %", Passing: true}}}}
	met, missed := []lab.ObjectiveCount{{Expr: "p99<1s", Met: 1, Trials: 1}}, []lab.ObjectiveCount{{Expr: "p99<1s", Trials: 1}}
	metSpoiled := []lab.ObjectiveCount{{Expr: "p99<1s", Met: 1, Trials: 1, Undecided: true}}
	missedSpoiled := []lab.ObjectiveCount{{Expr: "p99<1s", Arm: "a", Level: "c1", Trials: 1, Undecided: true}}
	open := []lab.ObjectiveCount{{Expr: "p99<5s", Arm: "a", Level: "c1", Trials: 1, Undecided: true,
		Open: &result.Outcome{Expr: "p99<5s", Unit: "us", Value: new(2e6), Over: true, Undecided: result.NoAnswers}}}
	for name, c := range map[string]struct {
		gate       string
		objectives []lab.ObjectiveCount
		trials     []lab.TrialSummary
		want       int
		why        string
	}{
		"nothing to decide":          {"", nil, fine, exitOK, ""},
		"nothing to decide, spoiled": {"", nil, spoiled, exitOK, ""},
		"passed":                     {lab.Passed, nil, fine, exitOK, ""},
		"a regression":               {lab.Regression, nil, fine, exitMissed, "gate: a regression"},
		"undecided":                  {lab.Undecided, nil, fine, exitUntrusted, "gate: inconclusive"},
		"met":                        {"", met, fine, exitOK, ""},
		"missed":                     {"", missed, fine, exitMissed, "objective missed: p99<1s"},
		"missed by a server's fault": {"", missed, failing, exitMissed, "objective missed: p99<1s"},
		"met, but spoiled":           {"", metSpoiled, spoiled, exitUntrusted, "objectives: neither met nor missed"},
		"missed, but spoiled":        {"", missedSpoiled, spoiled, exitUntrusted, "p99<1s of a at c1: the machine spoiled too many of the trials"},
		"undecided in a trial":       {"", open, fine, exitUntrusted, "p99<5s of a at c1: in a trial p99 is over 2.00 s, and nobody knows"},
		"a gate before an objective": {lab.Undecided, missed, fine, exitUntrusted, "gate: "},
	} {
		r := &lab.Record{Findings: lab.Findings{Objectives: c.objectives, Trials: c.trials}}
		if c.gate != "" {
			r.Gate = &lab.GateOutcome{Verdict: c.gate}
		}
		code, err := experimentCode(r)
		why := ""
		if err != nil {
			why = err.Error()
		}
		if code != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: code %d, not %d: %q, not %q", name, code, c.want, why, c.why)
		}
	}
}

// A gate has one verdict, for the exit code and in each report. That the baseline differs from itself
// in a measure that the gate does not judge changes none of them. If the gate passed all the same,
// the reports say what it judges.
func TestGateHasOneVerdict(t *testing.T) {
	compared := func(metric, variant string, ratio float64, v stats.Verdict) lab.Comparison {
		return lab.Comparison{Metric: metric, Level: "c10", Baseline: "old", Variant: variant, Ratio: ratio,
			Low: ratio - 0.005, High: ratio + 0.005, Verdict: v, Margin: 0.02, Better: -1, Confidence: 0.96, Trials: 6,
			Control: strings.HasSuffix(variant, "(A/A)")}
	}
	all := []lab.Comparison{compared("cpu", "new", 1.4, stats.Different), compared("p99", "old (A/A)", 1.1, stats.Different)}
	const why = "The gate passed all the same: it judges only CPU per request, with a margin of 5 %"
	for verdict, c := range map[string]struct {
		code        int
		junit, pull string
		passed      bool
	}{
		lab.Passed:     {exitOK, "", "**Gate:** passed\n", true},
		lab.Regression: {exitMissed, "<failure ", "**Gate:** a regression", false},
		lab.Undecided:  {exitUntrusted, "<error ", "**Gate:** inconclusive", false},
	} {
		e := &experiment.Experiment{Levels: []experiment.Level{{Name: "c10", Connections: 10}},
			Gate: &experiment.Gate{Metrics: []experiment.Metric{"cpu"}, Margin: 0.05}}
		r := &lab.Record{Progress: lab.Progress{Name: "vs-old-new", State: lab.Complete}, Definition: lab.Definition{Experiment: e},
			Findings: lab.Findings{Verdicts: all, Gate: &lab.GateOutcome{Verdict: verdict}}}
		for _, name := range []string{"old", "old (A/A)", "new"} {
			r.Arms = append(r.Arms, lab.Arm{Name: name, Baseline: "old", Control: name == "old (A/A)"})
			r.Trials = append(r.Trials, lab.TrialSummary{Slot: lab.Slot{Arm: name, Level: "c10", Round: 1}, Grade: lab.GradeA})
		}
		code, err := experimentCode(r)
		if code != c.code || (err == nil) != (code == exitOK) {
			t.Errorf("%s: code %d, not %d: %v", verdict, code, c.code, err)
		}
		a := labanswer.Of(r)
		if a.Unreliable == "" {
			t.Fatal("the baseline differs from itself, and the answer is to be relied on")
		}
		texts := map[string]string{}
		for name, write := range map[string]func(io.Writer) error{
			"junit":  func(w io.Writer) error { return labreport.ExperimentJUnit(w, r) },
			"pull":   func(w io.Writer) error { return labreport.PullRequest(w, r, "") },
			"report": func(w io.Writer) error { return labreport.ExperimentMarkdown(w, r) },
			"text":   func(w io.Writer) error { return labreport.Experiment(w, r, format.Style{Width: 100}) },
			"vs":     func(w io.Writer) error { return labreport.Versus(w, r, a, a.Next, format.Style{Width: 100}) },
		} {
			var b strings.Builder
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			texts[name] = b.String()
		}
		problem := strings.Contains(texts["junit"], "<failure ") || strings.Contains(texts["junit"], "<error ")
		if !strings.Contains(texts["junit"], c.junit) || problem != (c.junit != "") || !strings.Contains(texts["pull"], c.pull) {
			t.Errorf("%s: %s\n%s", verdict, texts["junit"], texts["pull"])
		}
		for _, name := range []string{"pull", "report", "text", "vs"} {
			if says := strings.Contains(strings.Join(strings.Fields(texts[name]), " "), why); says != c.passed {
				t.Errorf("%s: %s says that it passed all the same: %v\n%s", verdict, name, says, texts[name])
			}
		}
	}
}
