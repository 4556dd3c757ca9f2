package fleet

import (
	"slices"
	"time"

	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// How long there is from telling members their new shares to when they have them, and from
// then on for them to say that they had heard of it in time.
const (
	shareLead  = time.Second
	settleTime = time.Second
	shareLate  = 100 * time.Millisecond // before it, that is too late
)

// rebalance has the members that are left share the arrivals anew, all from one instant of
// the schedule on, if there were losses since it last did.
func (r *running) rebalance(now time.Time) {
	after := r.clock.of(now.Add(shareLead)) - r.start
	if r.on != Rebalance || !r.owed || !r.armed || r.stopped || now.Before(r.balanced) ||
		after >= int64(r.plan.Warmup+r.plan.Duration) {
		return
	}
	var left []*member
	var weights []int
	for _, m := range r.members {
		if !m.done() {
			left, weights = append(left, m), append(weights, m.weight())
		}
	}
	if len(left) == 0 {
		return
	}
	r.owed, r.balanced = false, now.Add(shareLead+settleTime)
	window := time.Duration(after) - time.Duration(r.plan.Warmup)
	change := result.Rebalanced{After: max(window, 0).Seconds()}
	for i, part := range r.plan.SplitBy(scaled(weights)) {
		m := left[i]
		m.shared = false
		change.Agents = append(change.Agents, m.name)
		r.instruct(m, wire.Instruction{Verb: wire.Reshard,
			NewShard: &wire.Shard{After: after, Part: part.Part, Weights: part.Weights}})
	}
	r.changes = append(r.changes, change)
	r.tell("the others share its load from %v on", max(window, 0).Round(time.Millisecond))
}

// unshared are members that did not say that they have their new share. They are given up,
// for some of the arrivals are nobody's, and the rest share anew.
func (r *running) unshared(now time.Time) {
	if len(r.changes) == 0 || now.Before(r.balanced) {
		return
	}
	last := r.changes[len(r.changes)-1].Agents
	for _, m := range r.members {
		if !m.shared && !m.done() && slices.Contains(last, m.name) {
			m.lose(r, "it did not take over its share of what another one was to send")
		}
	}
}
