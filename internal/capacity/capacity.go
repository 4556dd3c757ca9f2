// Package capacity finds how much a server can take: the highest rate, or the most connections or
// users, at which it still meets an objective (Find), how its throughput grows with the load
// (Sweep), and, so that neither mistakes the generator for the server, what the
// generator itself can do on this machine (Calibrate).
//
//	axis.go            what is searched: a rate, or a number of connections or users
//	band.go            the interval of a law, by drawing rounds again
//	bound.go           the bounds of a percentile
//	busy.go            what a search ran short of: connections, or time
//	calibrate.go       the generator's own limit: dyno calibrate
//	calibratering.go   which ring is faster here
//	capacity.go        what a search is told and says: Settings, Search, Probe
//	decode.go          reads a stored search or sweep
//	find.go            the search: dyno find
//	howlong.go         how long a search takes
//	probe.go           one run of a search: passed, failed or undecided; does its backlog grow?
//	sweep.go           one run at each of several rates or numbers of connections
//	trend.go           is latency still growing at a probe's end?
//	usl.go             fits the universal scalability law to a sweep
//
// All of it is decisions over runs that somebody else makes: a result.Runner. So the
// tests search a simulated queue in virtual time, whose true capacity is known in
// closed form.
//
// A search errs on the side of less. A rate is met if the upper bound of what was
// measured meets the objective, not if the measured value happens to; what cannot
// be decided is measured longer, and again; and what was found is confirmed by a
// longer run of its own, because of several probes near the limit the one that
// passes is likely to have been lucky.
//
// Note: a search is not a ramp. A rate that rises during a run has at each instant
// the queue that the rates before left behind, which below the limit is too short
// and above it takes time to grow: a ramp finds a limit that is too high.
package capacity

import (
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/result"
)

// Settings are how a search goes about it. The zero value has the defaults.
type Settings struct {
	Probe   time.Duration // measured in a probe: 0 is 10 s, and 8 s the least for good bounds
	Confirm time.Duration // measured to confirm: 0 is three times Probe
	Axis    Axis          // what is searched: "" is Rates
	Start   float64       // to try first: 0 is a fifth of a closed loop's rate, or 10 of the others
	Within  float64       // of the bracket, high/low: 0 is 1.05

	// Step is the factor of the first change of the load, until a level is met and one is not. The
	// next changes are its square and so on, up to 2. 0 is 2; less is faster where Start is near the
	// limit.
	Step float64
}

// DefaultProbe is how long a probe measures, unless Settings say so.
const DefaultProbe = 10 * time.Second

// DefaultWarmup is how long to load before measuring for so long: a fifth.
func DefaultWarmup(measured time.Duration) loadplan.Seconds {
	return loadplan.Seconds(measured / 5)
}

// withDefaults is s with nothing left open but Start.
func (s Settings) withDefaults() Settings {
	if s.Probe == 0 {
		s.Probe = DefaultProbe
	}
	if s.Confirm == 0 {
		s.Confirm = 3 * s.Probe
	}
	if s.Axis == "" {
		s.Axis = Rates
	}
	if s.Within == 0 {
		s.Within = 1.05
	}
	if s.Step == 0 {
		s.Step = largestStep
	}
	return s
}

// Format is what every search says of itself.
const Format = "dyno.find/1"

// A Search is what was found, and from what.
type Search struct {
	Format     string        `json:"format"`
	Dyno       string        `json:"dyno"` // version that measured
	Plan       loadplan.Plan `json:"plan"` // of a probe that is not extended, but for rate and seed
	Host       result.Host   `json:"host"`
	Objectives []string      `json:"objectives"`

	// Certified is the highest rate, a second, that met the objectives and did so
	// again in a longer run. Low and High are the bracket: met at Low, not at High.
	Certified *float64 `json:"certified_per_s,omitempty"`
	Low       *float64 `json:"low_per_s,omitempty"`
	High      *float64 `json:"high_per_s,omitempty"`

	// Axis is what was searched if it is no rate, and Count the same of it.
	Axis  Axis   `json:"axis,omitempty"`
	Count *Count `json:"count,omitempty"`

	Closed *float64 `json:"closed_loop_per_s,omitempty"` // what a closed loop reached
	Probes []Probe  `json:"probes"`                      // in their order

	End      End         `json:"end"`
	Reason   string      `json:"reason"`             // of End: Facts in words
	Facts    []fact.Fact `json:"facts,omitempty"`    // how it ended, and behind that why
	Warnings []string    `json:"warnings,omitempty"` // of the run that confirmed
}

// A Count is what a search for a number of connections or users found; 0 is not known.
type Count struct {
	Certified int `json:"certified,omitempty"`
	Low       int `json:"low,omitempty"`
	High      int `json:"high,omitempty"`
}

// Of is the axis that was searched.
func (s *Search) Of() Axis {
	if s.Axis == "" {
		return Rates
	}
	return s.Axis
}

// Bracket is the level that is certified, and those that are met and not met; 0 is not known.
func (s *Search) Bracket() (certified, low, high float64) {
	if s.Count != nil {
		return float64(s.Count.Certified), float64(s.Count.Low), float64(s.Count.High)
	}
	value := func(v *float64) float64 {
		if v == nil {
			return 0
		}
		return *v
	}
	return value(s.Certified), value(s.Low), value(s.High)
}

// Counts is what the rates count: requests or iterations.
func (s *Search) Counts() string { return counted(&s.Plan) }

// Unit is that of its levels: requests/s, iterations/s, connections or users.
func (s *Search) Unit() string {
	if s.Of() == Rates {
		return s.Counts() + "/s"
	}
	return string(s.Axis)
}

// counted is what the rate of a plan counts.
func counted(p *loadplan.Plan) string {
	if p.CountsIterations() {
		return "iterations"
	}
	return "requests"
}

// An End is how a search ended.
type End string

// The ends of a search.
const (
	Found        End = "found"        // Certified is the server's limit
	Missed       End = "missed"       // not even a low rate meets the objectives
	ClientBound  End = "client-bound" // Certified, if there is one, is at least met: the limit is ours
	Inconclusive End = "inconclusive" // neither
	Unreachable  End = "unreachable"  // nothing was ever answered
	Interrupted  End = "interrupted"
)

// A Purpose is what a probe was for.
type Purpose string

// The purposes of probes.
const (
	Trial   Purpose = "search"
	Longer  Purpose = "extended" // the last could not be decided: twice as long
	Again   Purpose = "repeated" // nor could that
	Confirm Purpose = "confirm"
)

// An Outcome is how a probe stands to the objectives.
type Outcome string

// The outcomes of probes.
const (
	Passed    Outcome = "pass"
	Failed    Outcome = "fail"
	Undecided Outcome = "undecided"
	OurLimit  Outcome = "client-bound" // it says nothing of the server
	Gone      Outcome = "gone"         // nothing could be reached
	Cut       Outcome = "interrupted"
)

// A Probe is one run at one level. Its rates are of requests or, with a scenario, of iterations
// (loadplan.Plan.CountsIterations).
type Probe struct {
	Purpose   Purpose   `json:"purpose"`
	Rate      float64   `json:"rate_per_s,omitempty"` // offered
	Sent      float64   `json:"sent_per_s"`
	Completed float64   `json:"completed_per_s"`
	Measured  float64   `json:"measured_s"`
	Judged    []Judged  `json:"judged"`
	Outcome   Outcome   `json:"outcome"`
	Why       string    `json:"why,omitempty"` // Facts in words
	Verdict   string    `json:"verdict"`       // the generator's, on itself
	Reasons   []string  `json:"reasons"`
	Started   time.Time `json:"started"`

	// Facts are why the outcome is as it is, where Judged does not say it. An older dyno had none.
	Facts []fact.Fact `json:"facts,omitempty"`

	Checks []result.CheckCount `json:"checks,omitempty"` // of responses, as the result has them

	Connections int `json:"connections,omitempty"` // in place of Rate, if that is the axis
	Users       int `json:"users,omitempty"`       // likewise
}

// setLevel sets the level.
func (p *Probe) setLevel(a Axis, level float64) {
	switch a {
	case Rates:
		p.Rate = level
	case Connections:
		p.Connections = int(level)
	default:
		p.Users = int(level)
	}
}

// Level is the level, on its axis.
func (p *Probe) Level() (Axis, float64) {
	switch {
	case p.Connections > 0:
		return Connections, float64(p.Connections)
	case p.Users > 0:
		return Users, float64(p.Users)
	}
	return Rates, p.Rate
}

// Judged is how a probe stands to one objective. Low and High are bounds of what
// the value might as well have been, each at 95 %; a bound that the requests were
// too few for is absent, as are both of what has none.
type Judged struct {
	result.Outcome
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	Seconds int      `json:"seconds,omitempty"` // that were resampled; none: too few
	Verdict Outcome  `json:"verdict"`

	lacks fact.Args // what the value does not cover: Note says it
	good  bool      // the objective is about the share of good requests
}
