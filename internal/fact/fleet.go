package fact

// The kinds below are of a fleet. The agent is that of the fact's scope.

// AgentLost says that an agent was lost while it loaded.
type AgentLost struct {
	AfterS float64 `json:"after_s"` // the window's start; negative: in the warm-up
	Why    string  `json:"why"`
}

// Kind is the kind's name.
func (AgentLost) Kind() Kind { return "agent-lost" }

// AgentPartial says that an agent never said what it measured in all.
type AgentPartial struct {
	Reports int64 `json:"reports"` // whose sum its part is
}

// Kind is the kind's name.
func (AgentPartial) Kind() Kind { return "agent-partial" }

// AgentDiffers says that an agent's reports are not what it measured in all.
type AgentDiffers struct{}

// Kind is the kind's name.
func (AgentDiffers) Kind() Kind { return "agent-differs" }

// AgentClockOff says how far an agent's wall clock is ahead.
type AgentClockOff struct {
	OffS float64 `json:"off_s"`
}

// Kind is the kind's name.
func (AgentClockOff) Kind() Kind { return "agent-clock-off" }

// AgentDrift says how far an agent's clock moved ahead in the run.
type AgentDrift struct {
	DriftUS float64 `json:"drift_us"`
}

// Kind is the kind's name.
func (AgentDrift) Kind() Kind { return "agent-drift" }

// Rebalanced says since when the remaining agents share all of the load.
type Rebalanced struct {
	AfterS float64  `json:"after_s"` // the window's start
	Agents []string `json:"agents"`
}

// Kind is the kind's name.
func (Rebalanced) Kind() Kind { return "rebalanced" }

// ClocksLoose says how precisely the agents' clocks are known, if that is not enough.
type ClocksLoose struct {
	BoundUS float64 `json:"bound_us"`
}

// Kind is the kind's name.
func (ClocksLoose) Kind() Kind { return "clocks-loose" }

// FleetDiffers says that the agents' numbers do not add up to the run's.
type FleetDiffers struct{}

// Kind is the kind's name.
func (FleetDiffers) Kind() Kind { return "fleet-differs" }
