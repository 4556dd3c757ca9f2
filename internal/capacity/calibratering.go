package capacity

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
)

// The rings of which a machine has one that is faster.
const (
	epoll = "epoll"
	uring = "uring"
	auto  = "auto" // ring.Open's own choice
)

// measureClosedLoops measures one of each number of connections, on each ring that there is and
// that the system permits; of so few that there is nothing to choose, on that of auto.
func (c *Calibration) measureClosedLoops(plan loadplan.Plan, measure measurer) error {
	rings := slices.DeleteFunc([]string{epoll, uring}, func(kind string) bool {
		return !slices.Contains(ring.Kinds, kind)
	})
	for _, n := range calibrated {
		p := plan
		p.Connections, p.Rate = n, 0
		kinds := rings
		if n == 1 || len(rings) == 0 {
			kinds = []string{auto}
		}
		best, each, err := measureBothWays(p, kinds, measure)
		if err != nil {
			return err
		}
		c.Closed, c.Rings = append(c.Closed, best), append(c.Rings, each...)
	}
	return nil
}

// measureBothWays measures p twice on each ring, so that what changes meanwhile favours none.
// best is the try of the highest rate, for what disturbs only slows down, and each has for
// every ring the better one. A ring that the system refuses has none.
func measureBothWays(p loadplan.Plan, rings []string, measure measurer) (best Ceiling,
	each []Ceiling, err error) {
	order := slices.Clone(rings)
	slices.Reverse(order)
	refused := map[string]error{}
	for _, p.Ring = range slices.Concat(rings, order) {
		if refused[p.Ring] != nil {
			continue
		}
		r, err := measure(p, fmt.Sprintf("closed loop, connections: %d, ring: %s", p.Connections,
			p.Ring))
		if errors.Is(err, ring.ErrRefused) && len(refused) < len(rings)-1 {
			refused[p.Ring] = err
			continue
		}
		if err != nil {
			return best, nil, err
		}
		one := Ceiling{p.Connections, r.Rate.Completed, r.Generator.CPUPerRequest,
			r.Generator.BusyPercent, r.Latency.P50, r.Latency.P99, r.Generator.Ring,
			r.Generator.Disturbed()}
		if one.Rate > best.Rate {
			best = one
		}
		i := slices.IndexFunc(each, func(l Ceiling) bool { return l.Ring == one.Ring })
		if i < 0 {
			each = append(each, one)
		} else if one.isBetter(each[i]) {
			each[i] = one
		}
	}
	return best, each, nil
}

// isBetter reports whether of two tries l tells more of its ring. Answers that gather while the
// generator waits for its CPU are taken in together, and cost less than they do else. That
// apart, CPU time is what others on the machine disturb less than the rate.
func (l Ceiling) isBetter(other Ceiling) bool {
	if l.Disturbed != other.Disturbed {
		return !l.Disturbed
	}
	return l.CPU < other.CPU
}

const (
	// clearly is from which share of io_uring's CPU time per request down epoll's is less by
	// more than two tries differ by chance.
	clearly = 0.97
	// reach is how many times as many connections, or as few, as were measured a level speaks
	// for: a little more than half the way to the next.
	reach = 3.2
)

// Ring is what p.Ring is to be on the machine that was calibrated: epoll in place of auto where
// that clearly took less CPU time per request, at the level nearest to p's connections a thread.
// Nothing is known of many more connections than were measured, of those that carry several
// requests at a time or a few in all, of HTTP/3, and of any if c is nil.
func (c *Calibration) Ring(p loadplan.Plan) string {
	if c == nil || p.Ring != auto || p.HTTP == "3" || p.Reconnect > 0 || p.Depth() > 1 {
		return p.Ring
	}
	one, away := Ceiling{}, math.Log(reach)
	for _, l := range c.Closed {
		d := math.Abs(math.Log(connectionsPerThread(p.Connections, p.Threads) /
			connectionsPerThread(l.Connections, c.Threads)))
		if d < away {
			one, away = l, d
		}
	}
	if c.prefersEpoll(one.Connections) {
		return epoll
	}
	return p.Ring
}

// prefersEpoll reports whether epoll clearly took less CPU time per request than io_uring with so
// many connections.
func (c *Calibration) prefersEpoll(connections int) bool {
	cost := map[string]float64{}
	for _, l := range c.Rings {
		if l.Connections == connections && !l.Disturbed {
			cost[l.Ring] = l.CPU
		}
	}
	return cost[epoll] > 0 && cost[epoll] <= clearly*cost[uring]
}

// Disturbed reports whether other programs kept the generator from its CPU with so many
// connections, on any of the rings: then it is not known which is the better one.
func (c *Calibration) Disturbed(connections int) bool {
	return slices.ContainsFunc(c.Rings, func(l Ceiling) bool {
		return l.Connections == connections && l.Disturbed
	})
}

// Auto is the ring that auto takes for so many connections, of those that were measured with
// as many; "" if none was.
func (c *Calibration) Auto(connections int) (kind string) {
	kind = c.Ring(loadplan.Plan{Ring: auto, Connections: connections, Threads: c.Threads})
	if kind == auto {
		kind = ring.AutoKind(int(connectionsPerThread(connections, c.Threads)))
	}
	measured := ""
	for _, l := range c.Rings {
		if l.Connections == connections && measured != kind {
			measured = l.Ring
		}
	}
	return measured
}

// connectionsPerThread is how many of so many connections a thread has.
func connectionsPerThread(connections, threads int) float64 {
	return float64(connections) / float64(max(min(threads, connections), 1))
}
