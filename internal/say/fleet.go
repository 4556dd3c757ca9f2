package say

import (
	"fmt"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// fleetSentence is Sentence for the agents of a fleet; "" of another kind.
func fleetSentence(f fact.Fact) string {
	agent := "agent " + f.Scope.Agent
	switch a := f.Args.(type) {
	case fact.AgentLost:
		return agent + lostText(a)
	case fact.AgentPartial:
		return fmt.Sprintf("%s sent no result at its end: its part is the sum of its %s", agent,
			digits.Plural(int64(a.Reports), "report"))
	case fact.AgentDiffers:
		return agent + "'s reports do not add up to what it measured in all"
	case fact.AgentClockOff:
		return fmt.Sprintf("%s's wall clock is %.0f s off; no number here depends on it", agent, a.OffS)
	case fact.AgentDrift:
		return fmt.Sprintf("%s's clock drifted by %.0f ms in the run: its last seconds began so much "+
			"earlier or later than the others'", agent, a.DriftUS/1000)
	case fact.Rebalanced:
		return fmt.Sprintf("after the loss of an agent the load was too low until %.1f s; since then %s "+
			"make all of it", a.AfterS, strings.Join(a.Agents, ", "))
	case fact.ClocksLoose:
		return fmt.Sprintf("the agents' clocks may be up to %.1f ms off: one agent's second begins so "+
			"much earlier or later than another's", a.BoundUS/1000)
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
