package say

import (
	"fmt"
	"math"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// fleetSentence is Sentence for the agents of a fleet; "" of another kind.
func fleetSentence(f fact.Fact) string {
	agent := fmt.Sprintf("agent %q", f.Scope.Agent)
	switch a := f.Args.(type) {
	case fact.AgentLost:
		return agent + lostText(a)
	case fact.AgentPartial:
		return fmt.Sprintf("%s sent no result at the end: its numbers are the sum of its %s", agent,
			digits.Plural(int64(a.Reports), "report"))
	case fact.AgentDiffers:
		return "the reports of " + agent + " do not add up to its result"
	case fact.AgentClockOff:
		way := "ahead"
		if a.OffS < 0 {
			way = "behind"
		}
		return fmt.Sprintf("the wall clock of %s is %.0f s %s; no number here depends on it", agent,
			math.Abs(a.OffS), way)
	case fact.AgentDrift:
		return fmt.Sprintf("the clock of %[1]s drifted by %[2]s ms in the run: the last of its "+
			"per-second figures are up to %[2]s ms earlier or later than the other agents'", agent,
			fmt.Sprintf("%.0f", math.Abs(a.DriftUS)/1000))
	case fact.Rebalanced:
		return fmt.Sprintf("after the loss of an agent the load was too low until %.1f s into the "+
			"window; from then on %s made all of it", a.AfterS, quoted(a.Agents))
	case fact.ClocksLoose:
		return fmt.Sprintf("the agents' clocks may differ by up to %s ms: one agent's "+
			"per-second figures may be up to %[1]s ms earlier than another's",
			fmt.Sprintf("%.1f", a.BoundUS/1000))
	case fact.FleetDiffers:
		return "the agents' numbers do not add up to the run's: a fault of dyno"
	}
	return ""
}

// lostText says when an agent was lost, and why.
func lostText(a fact.AgentLost) string {
	if a.AfterS < 0 {
		return " was lost in the warm-up: " + a.Why
	}
	return fmt.Sprintf(" was lost %.1f s after the window's start: %s", a.AfterS, a.Why)
}
