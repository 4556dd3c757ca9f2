package report

import (
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/server"
)

// A trial is counted once for each kind of doubt, of however many of its parts it is.
func TestDoubtsAreCountedByTrial(t *testing.T) {
	r := &lab.Record{Trials: []lab.TrialSummary{
		{Grade: lab.GradeB, Reasons: []lab.Reason{{Says: "generator: part 1: late"}, {Says: "generator: part 2: late"}}},
		{Grade: lab.GradeB, Reasons: []lab.Reason{{Says: "generator: part 2: late"}, {Says: "hot"}}},
	}}
	rows := gradeSection(r).table
	if len(rows) != 3 || rows[1][0] != "2" || rows[1][1] != "generator: part 1: late" || rows[2][0] != "1" {
		t.Errorf("%v", rows)
	}
}

// Only this machine's generator has CPUs that the laboratory chose.
func TestCPUsOfFleet(t *testing.T) {
	r := &lab.Record{Experiment: new(experiment.Experiment), CPUs: server.Split{Generator: []int{0}, Server: []int{1}}}
	if s := strings.Join(methodSection(r).text, " "); !strings.Contains(s, "CPUs: generator [0], server [1].") {
		t.Error(s)
	}
	r.Fleet = &lab.Fleet{Agents: []string{"a"}}
	s := strings.Join(methodSection(r).text, " ")
	if strings.Contains(s, "generator [0]") || !strings.Contains(s, "CPUs: server [1]; the agents were given none") {
		t.Error(s)
	}
}
