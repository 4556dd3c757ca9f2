package result

import (
	"dyno/internal/fact"
	"math"
)

// A Fleet describes the machines that made a load together.
type Fleet struct {
	Run         string   `json:"run"`                       // its name, in the agents' logs
	OnAgentLoss string   `json:"on_agent_loss"`             // what was to happen on a loss
	StartSpread *float64 `json:"start_spread_us,omitempty"` // from the first to the last agent's start
	OffsetBound float64  `json:"offset_bound_us"`           // of the clock whose bound is largest
	DriftBound  float64  `json:"drift_bound_us,omitempty"`  // of the drift whose bound is largest

	// Agent-seconds of the window: planned, and covered by reports.
	Planned float64 `json:"planned_agent_s"`
	Covered float64 `json:"covered_agent_s"`

	Rebalanced []Rebalanced `json:"rebalanced,omitempty"`

	AddsUp bool    `json:"adds_up"` // agents to the run, and each agent's seconds to its own total
	Agents []Agent `json:"agents"`  // in the order of the load's parts
}

// A Rebalanced is when the remaining agents divided the load again.
type Rebalanced struct {
	After  float64  `json:"after_s"` // the window's start
	Agents []string `json:"agents"`
}

// An Agent is one of the machines.
type Agent struct {
	Name        string  `json:"name"`
	Host        Host    `json:"host"`
	Weight      int     `json:"weight"` // of its share
	Connections int     `json:"connections"`
	Threads     int     `json:"threads"`
	OffsetBound float64 `json:"offset_bound_us"`  // largest possible error of its clock
	ClockOff    float64 `json:"wall_clock_off_s"` // ahead of ours; used in no number

	// How far its monotonic clock has moved ahead of ours since its offset was measured, or behind if
	// negative. It is the certain part, at the instant when that was largest; nil: the run was too
	// short.
	Drift *float64 `json:"drift_us,omitempty"`

	Late *float64 `json:"late_us,omitempty"` // from the common start until its last thread was running

	Requests Requests `json:"requests"`
	Covered  float64  `json:"covered_s"` // of the window
	Reports  int64    `json:"reports"`   // received, each counted once
	Repeated int64    `json:"repeated"`  // received again, and not counted
	Final    bool     `json:"final"`     // its numbers are its own final, not the sum of its reports

	AddsUp    *bool    `json:"adds_up,omitempty"`      // its reports to its final, if there are both
	Lost      string   `json:"lost,omitempty"`         // why it was lost
	LostAfter *float64 `json:"lost_after_s,omitempty"` // when, after the window's start
}

// Lost are the names of the agents that were lost while they loaded.
func (f *Fleet) Lost() (names []string) {
	if f == nil {
		return nil
	}
	for _, a := range f.Agents {
		if a.Lost != "" {
			names = append(names, a.Name)
		}
	}
	return names
}

// clockOff is the error of a wall clock from which on a reader is told, in seconds.
const clockOff = 1.0

// LooseBound is how precisely clocks must be known, in µs. With less precision the starts are not
// simultaneous.
const LooseBound = 5000.0

// driftTold is the certain drift of a clock from which on a reader is told, in µs: a hundredth of a
// second of an agent's time.
const driftTold = 10_000.0

// SetFleet adds to r, the merged result of a fleet, what its agents did, and judges that.
func (r *Result) SetFleet(f *Fleet) {
	r.Fleet = f
	f.AddsUp = f.sumsMatch(r)
	for _, a := range f.Agents {
		of := fact.Scope{Agent: a.Name}
		if a.Lost != "" {
			r.doubtFleet(of, fact.AgentLost{AfterS: orZero(a.LostAfter), Why: a.Lost})
		}
		if !a.Final {
			r.doubtFleet(of, fact.AgentPartial{Reports: a.Reports})
		}
		if a.AddsUp != nil && !*a.AddsUp {
			r.doubtFleet(of, fact.AgentDiffers{})
		}
		var clock []fact.Fact
		if math.Abs(a.ClockOff) > clockOff {
			clock = append(clock, fact.Fact{Severity: fact.Note, Scope: of,
				Args: fact.AgentClockOff{OffS: a.ClockOff}})
		}
		if d := orZero(a.Drift); math.Abs(d)-f.DriftBound > driftTold {
			clock = append(clock, fact.Fact{Severity: fact.Warning, Scope: of,
				Args: fact.AgentDrift{DriftUS: d}})
		}
		r.Warn(clock...)
	}
	for _, c := range f.Rebalanced {
		r.doubtFleet(fact.Scope{}, fact.Rebalanced{AfterS: c.After, Agents: c.Agents})
	}
	if f.OffsetBound > LooseBound {
		r.doubtFleet(fact.Scope{}, fact.ClocksLoose{BoundUS: f.OffsetBound})
	}
	if !f.AddsUp {
		r.doubtFleet(fact.Scope{}, fact.FleetDiffers{})
	}
}

// doubtFleet adds a reason of the verdict that is about the agents.
func (r *Result) doubtFleet(of fact.Scope, args fact.Args) {
	r.addDoubt(FleetWide, OtherLoad, fact.Fact{Severity: fact.Warning, Scope: of, Args: args})
}

// isOfFleet reports whether a fact is such a reason.
func isOfFleet(f fact.Fact) bool {
	switch f.Args.(type) {
	case fact.AgentLost, fact.AgentPartial, fact.AgentDiffers, fact.Rebalanced, fact.ClocksLoose,
		fact.FleetDiffers:
		return true
	}
	return false
}

// sumsMatch reports whether the agents' counts add up to the run's, and each agent's reports to its
// own counts.
func (f *Fleet) sumsMatch(r *Result) bool {
	var all Requests
	for _, a := range f.Agents {
		if a.AddsUp != nil && !*a.AddsUp {
			return false
		}
		all.AddOutcomes(a.Requests)
	}
	latencies := int64(0)
	if r.Latency != nil {
		latencies = r.Latency.Count
	}
	q := r.Requests
	return all.Sent == q.Sent && all.Completed == q.Completed && all.Errors == q.Errors &&
		all.Unfinished == q.Unfinished && latencies == q.Completed &&
		r.ErrorAnswers() == r.wrongAnswers()
}
