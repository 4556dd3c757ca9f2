package labreport

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/say"
	"dyno/internal/server"
	"dyno/internal/view/format"
)

// A trial is counted once for each kind of doubt, of however many of its parts it is.
func TestDoubtsAreCountedByTrial(t *testing.T) {
	late := func(part int, us float64) lab.Reason {
		f := fact.Fact{Scope: fact.Scope{Parts: []int{part}, OfParts: 2}, Args: fact.SendLag{P99US: us}}
		return lab.Reason{Says: "generator: " + say.Sentence(f), Fact: &f}
	}
	r := &lab.Record{Findings: lab.Findings{Trials: []lab.TrialSummary{
		{Grade: lab.GradeB, Reasons: []lab.Reason{late(1, 1100), late(2, 1200)}},
		{Grade: lab.GradeB, Reasons: []lab.Reason{late(2, 1300), {Says: "hot"}}},
	}}}
	rows := gradePart(r).Table
	if len(rows) != 3 || rows[1][0] != "2" || !strings.HasPrefix(rows[1][1], "generator: generator 1 (of 2) sent 1 % of the "+
		"requests more than 1.1 ms late") || rows[2][0] != "1" {
		t.Errorf("%v", rows)
	}
}

// ofAgents is an experiment whose load agents made, to which the laboratory gave no CPUs.
func ofAgents() *lab.Record {
	return &lab.Record{Definition: lab.Definition{Experiment: new(experiment.Experiment)},
		Setup: lab.Setup{Fleet: &lab.Fleet{Agents: []string{"a"}},
			CPUs: server.Split{Generator: []int{0}, Server: []int{1}}}}
}

// Only this machine's generator has CPUs that the laboratory chose.
func TestCPUsOfFleet(t *testing.T) {
	r := ofAgents()
	if strings.Contains(cpusText(r), fmt.Sprint(r.CPUs.Generator)) || !strings.Contains(cpusText(r), fmt.Sprint(r.CPUs.Server)) {
		t.Error(cpusText(r))
	}
	r.Fleet = nil
	if !strings.Contains(cpusText(r), fmt.Sprint(r.CPUs.Generator)) || !strings.Contains(cpusText(r), fmt.Sprint(r.CPUs.Server)) {
		t.Error(cpusText(r))
	}
}

// The generator was ok if it had no doubt about itself in any trial. Another program than dyno does
// not check itself, and what an older dyno doubted is not known.
func TestGeneratorIsOK(t *testing.T) {
	own := experiment.Mapping[experiment.Definition]{{Name: "a"}, {Name: "b"}}
	foreign := experiment.Mapping[experiment.Definition]{{Name: "a"},
		{Name: "b", Value: experiment.Definition{Generator: new(experiment.Generator)}}}
	because := func(args fact.Args) []lab.TrialSummary {
		return []lab.TrialSummary{{}, {Reasons: []lab.Reason{{Fact: &fact.Fact{Args: args}}}}}
	}
	for name, tc := range map[string]struct {
		trials   []lab.TrialSummary
		verdicts []lab.Comparison
		variants experiment.Mapping[experiment.Definition]
		ok       bool
	}{
		"no doubt":                  {because(fact.MachineShare{}), nil, own, true},
		"no trials":                 {nil, nil, own, false},
		"a trial that failed":       {[]lab.TrialSummary{{Failure: new(lab.Failure)}}, nil, own, false},
		"a doubt about itself":      {because(fact.SendLag{P99US: 1100}), nil, own, false},
		"one of an older dyno":      {[]lab.TrialSummary{{Reasons: []lab.Reason{{Says: "hot"}}}}, nil, own, false},
		"a comparison of its limit": {because(fact.MachineShare{}), []lab.Comparison{{ClientBound: true}}, own, false},
		"another program":           {because(fact.MachineShare{}), nil, foreign, false},
	} {
		r := &lab.Record{Definition: lab.Definition{Experiment: &experiment.Experiment{Variants: tc.variants}},
			Findings: lab.Findings{Trials: tc.trials, Verdicts: tc.verdicts}}
		said := strings.Contains(briefScope(format.Style{}, r), "the generator was ok in each")
		if said != tc.ok {
			t.Errorf("%s: %s", name, briefScope(format.Style{}, r))
		}
	}
}
