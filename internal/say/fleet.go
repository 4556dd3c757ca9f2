package say

import (
	"fmt"
	"strings"

	"dyno/internal/fact"
)

// fleetSentence is Sentence for the agents of a fleet; "" of another kind.
func fleetSentence(f fact.Fact) string {
	agent := "agent " + f.Scope.Agent
	switch a := f.Args.(type) {
	case fact.AgentLost:
		return agent + lostText(a)
	case fact.AgentPartial:
		return fmt.Sprintf("%s never said what it measured in all: its part is the sum of its %d "+
			"reports", agent, a.Reports)
	case fact.AgentDiffers:
		return agent + "'s reports are not what it measured in all"
	case fact.AgentClockOff:
		return fmt.Sprintf("%s's wall clock is %.0f s off; no number here depends on it", agent, a.OffS)
	case fact.AgentDrift:
		return fmt.Sprintf("%s's clock drifted by %.0f ms in the run: so much earlier or later were "+
			"its last seconds than the others'", agent, a.DriftUS/1000)
	case fact.Rebalanced:
		return fmt.Sprintf("%s share all of the load since %.1f s; from a loss until then it was less "+
			"than asked for", strings.Join(a.Agents, ", "), a.AfterS)
	case fact.ClocksLoose:
		return fmt.Sprintf("the agents' clocks are known to %.1f ms only: their seconds are not the "+
			"same", a.BoundUS/1000)
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
