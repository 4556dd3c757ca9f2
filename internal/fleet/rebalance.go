package fleet

import (
	"slices"
	"time"

	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// Time between telling members their new shards and the instant from which they hold, and time
// after that for the members to confirm.
const (
	reshardLead    = time.Second
	reshardTimeout = time.Second
	reshardLeadMin = 100 * time.Millisecond // a new shard that comes later than this is refused
)

// A rebalancing is the state of Rebalance.
type rebalancing struct {
	rebalanceDue   bool                // a member was lost since the last rebalancing
	rebalanceAfter time.Time           // no rebalancing begins before
	rebalances     []result.Rebalanced // those that were made
}

// rebalanceShards splits the arrivals anew among the members that are left, from one instant of
// the schedule on, if members were lost since the last time.
func (r *fleetRun) rebalanceShards(now time.Time) {
	after := r.clock.readingAt(now.Add(reshardLead)) - r.start
	if r.onLoss != Rebalance || !r.rebalanceDue || !r.armed || r.stopped ||
		now.Before(r.rebalanceAfter) ||
		after >= int64(r.plan.Warmup+r.plan.Duration) {
		return
	}
	var left []*member
	var weights []int
	for _, m := range r.members {
		if !m.isDone() {
			left, weights = append(left, m), append(weights, m.splitWeight())
		}
	}
	if len(left) == 0 {
		return
	}
	r.rebalanceDue, r.rebalanceAfter = false, now.Add(reshardLead+reshardTimeout)
	window := time.Duration(after) - time.Duration(r.plan.Warmup)
	change := result.Rebalanced{After: max(window, 0).Seconds()}
	for i, part := range r.plan.SplitBy(scaleWeights(weights)) {
		m := left[i]
		m.resharded = false
		change.Agents = append(change.Agents, m.name)
		r.instructMember(m, wire.Instruction{Verb: wire.Reshard,
			NewShard: &wire.Shard{After: after, Part: part.Part, Weights: part.Weights}})
	}
	r.rebalances = append(r.rebalances, change)
	r.logProgress("the others share its load from %v on", max(window, 0).Round(time.Millisecond))
}

// loseWithoutShard gives up the members that did not confirm their new shard. Some arrivals would
// be nobody's, so the rest is rebalanced again.
func (r *fleetRun) loseWithoutShard(now time.Time) {
	if len(r.rebalances) == 0 || now.Before(r.rebalanceAfter) {
		return
	}
	last := r.rebalances[len(r.rebalances)-1].Agents
	for _, m := range r.members {
		if !m.resharded && !m.isDone() && slices.Contains(last, m.name) {
			m.giveUp(r, "it did not take over its share of what another one was to send")
		}
	}
}
