package judge

import (
	"slices"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
)

// What cannot be compared was refused, is missing, or failed in each of its trials. What --quick leaves out does not count.
func TestCoverage(t *testing.T) {
	failure := &lab.Failure{Phase: "start", Reason: "ended with\nstatus 3"}
	trial := func(arm string, f *lab.Failure) lab.TrialSummary {
		return lab.TrialSummary{Slot: lab.Slot{Arm: arm}, Failure: f}
	}
	r := &lab.Record{Findings: lab.Findings{Trials: []lab.TrialSummary{
		trial("base", nil), trial("good", nil), trial("good", failure), trial("broken", failure), trial("broken", failure)}}}
	r.Arms = []lab.Arm{{Name: "base"}, {Name: "base (A/A)", Control: true, Baseline: "base"}, {Name: "good", Baseline: "base"},
		{Name: "odd", Baseline: "base", Unfit: "not alike", Remedy: "allow it"}, {Name: "absent", Missing: []string{"no nginx"}},
		{Name: "broken", Baseline: "base"}, {Name: "later", LeftOut: true, Missing: []string{"left out by --quick"}}}
	r.State = lab.Complete
	c := CoverageOf(r)
	if c.String() != "2 of 5 variants can be compared" || !slices.Equal(c.NotTested, []string{"odd", "absent"}) ||
		!slices.Equal(c.Failed, []string{"broken"}) {
		t.Errorf("%v, %+v", c, c)
	}
	const want = `3 of 5 variants cannot be compared: "odd" is not tested: not alike; allow it; "absent" is not available here (no nginx); ` +
		`"broken" failed in each of its 2 trials (start: ended with | status 3)`
	if got := Unloaded(r); got != want {
		t.Errorf("%q", got)
	}
	if LeavesNothing(r) {
		t.Error("nothing is left")
	}
}

// Variants of factors are compared with one another. One that failed is not.
func TestCoverageOfFactors(t *testing.T) {
	r := new(lab.Record)
	r.State = lab.Complete
	r.Experiment = &experiment.Experiment{
		Factors: experiment.Mapping[[]string]{{Name: "log", Value: []string{"on", "off"}}, {Name: "workers", Value: []string{"1", "2"}}},
		Variants: experiment.Mapping[experiment.Definition]{{Name: "n",
			Value: experiment.Definition{URL: "http://127.0.0.1/{{log}}/{{workers}}"}}}}
	for _, v := range experiment.Expand(r.Experiment) {
		r.Arms = append(r.Arms, lab.Arm{Name: v.Name})
		r.Trials = append(r.Trials, lab.TrialSummary{Slot: lab.Slot{Arm: v.Name}})
	}
	if got := CoverageOf(r).String(); got != "4 of 4 variants can be compared" {
		t.Error(got)
	}
	r.Trials[3].Failure = &lab.Failure{Phase: "start", Reason: "no"}
	if c := CoverageOf(r); c.String() != "3 of 4 variants can be compared" || !slices.Equal(c.Failed, []string{"n log=off workers=2"}) {
		t.Errorf("%v, %q", c, c.Failed)
	}
}
