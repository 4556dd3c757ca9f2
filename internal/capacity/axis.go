package capacity

import (
	"math"

	"dyno/internal/engine/loadplan"
)

// An Axis is what a search or a sweep varies.
type Axis string

// The axes.
const (
	Rates       Axis = "rate"        // of an open loop, a second
	Connections Axis = "connections" // of a closed loop; of streams as many run at once
	Users       Axis = "users"       // of a closed loop
)

// Axes are those of a search.
var Axes = []string{string(Rates), string(Connections), string(Users)}

// planAt is the plan at a level. Each user has a connection, unless the plan says how many there
// are: one that has none of its own has no users yet.
func (a Axis) planAt(p loadplan.Plan, level float64) loadplan.Plan {
	if a == Rates {
		p.Rate = loadplan.RatePerSecond(level)
		return p
	}
	p.Rate, p.Arrival = 0, ""
	switch n := int(level); {
	case a == Connections:
		p.Connections = n
	case p.Scenario == nil: // a request is all that a user does
		p.Users, p.Connections = 0, connectionsFor(n, &p)
	default:
		if p.Users = n; p.Connections == 0 {
			p.Connections = connectionsFor(n, &p)
		}
	}
	p.Threads = max(min(p.Threads, p.Connections), 1)
	p.FitThreads()
	return p
}

// connectionsFor is how many connections so many users need.
func connectionsFor(users int, p *loadplan.Plan) int {
	return max((users+p.Depth()-1)/p.Depth(), 1)
}

// A scale is the levels of an axis: rates, or multiples of each.
type scale struct {
	Axis
	each float64
}

// scaleOf is that of a search with a plan. Where several requests are in flight on a connection,
// each of a user that has nothing else to do, only whole connections of users can be tried.
func (a Axis) scaleOf(p *loadplan.Plan) scale {
	if a == Users && p.Scenario == nil {
		return scale{a, float64(p.Depth())}
	}
	return scale{a, 1}
}

// round is the nearest level to one, of at most four digits: people can read it.
func (s scale) round(level float64) float64 {
	if s.Axis == Rates {
		return roundRate(level).PerSecond()
	}
	return math.Round(level/s.each) * s.each
}

// above is the level that is so many times as high as one, or the next.
func (s scale) above(level, times float64) float64 {
	if s.Axis == Rates {
		return loadplan.Rate(times * float64(loadplan.RatePerSecond(level))).PerSecond()
	}
	return max(s.round(level*times), level+s.each)
}

// below is the level that is so many times as low as one, or the last before it.
func (s scale) below(level, times float64) float64 {
	if s.Axis == Rates {
		return loadplan.Rate(float64(loadplan.RatePerSecond(level)) / times).PerSecond()
	}
	return min(math.Floor(level/times/s.each)*s.each, level-s.each)
}

// least is the lowest level.
func (s scale) least() float64 {
	if s.Axis == Rates {
		return loadplan.Rate(1).PerSecond()
	}
	return s.each
}

// most is the highest level.
func (s scale) most() float64 {
	switch s.Axis {
	case Connections:
		return loadplan.MaxConnections
	case Users:
		return loadplan.MaxUsers
	}
	return loadplan.MaxRate
}
