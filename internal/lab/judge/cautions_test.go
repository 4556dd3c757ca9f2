package judge

import (
	"dyno/internal/lab"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
	"dyno/internal/server"
)

// Whose generators are on other machines, shares no CPUs with them.
func TestCautionOfSharedCPUs(t *testing.T) {
	for _, fleet := range []*lab.Fleet{nil, {Agents: []string{"a"}}} {
		r := &lab.Record{Definition: lab.Definition{Experiment: new(experiment.Experiment)},
			Setup: lab.Setup{Fleet: fleet, CPUs: server.Split{Reason: "one core"}}}
		said := strings.Contains(strings.Join(Cautions(cautionsOf(r, nil)), " "), "the generator and the servers share CPUs: one core")
		if said != (fleet == nil) {
			t.Errorf("fleet %v: said %v", fleet, said)
		}
	}
}
