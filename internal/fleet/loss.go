package fleet

import (
	"fmt"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fleet/wire"
)

// handleLoss gives up a member, and stops the run if OnLoss says so, as it does by default: the
// load must not change while it is measured.
func (r *fleetRun) handleLoss(m *member, why string) {
	m.giveUp(r, why)
	switch {
	case r.stopped:
	case !r.armed:
		r.stopMembers(m.name+" was lost before the start", true)
	case r.onLoss == Abort:
		r.logProgress("%s was lost: the run ends", m.name)
		r.endedByLoss = true
		r.stopMembers(m.name+" was lost", true)
	default:
		r.logProgress("%s was lost: the others go on", m.name)
	}
}

// giveUp counts the agent as lost and tells it to stop: others may take over its shard.
func (m *member) giveUp(r *fleetRun, why string) {
	r.instructMember(m, wire.Instruction{Verb: wire.StopLoad, Stop: m.lossStop(why)})
	r.rebalanceDue = true
	m.markLost(r, why)
	r.together.End(m.index)
}

// lossStop returns the reason that an agent is told when it was given up.
func (m *member) lossStop(why string) *wire.Stop {
	return &wire.Stop{Why: "it was given up: " + why}
}

// markLost notes that the agent is lost, and when.
func (m *member) markLost(r *fleetRun, why string) {
	m.lost = why
	if r.armed {
		m.lostAt = max(time.Duration(r.clock.currentReading()-r.start)-time.Duration(r.plan.Warmup), 0)
	}
}

// endEarly handles an agent whose load ended before it should. The agent is lost, and under Abort
// the run ends.
func (m *member) endEarly(r *fleetRun, why string) {
	if m.lost == "" {
		m.giveUp(r, why)
	}
	if r.onLoss == Abort && !r.stopped {
		r.endedByLoss = true
		r.stopMembers(m.name+" stopped: "+why, true)
	}
}

// rejectReport handles a report that cannot be true. The agent is distrusted, and its load counts
// as ended early.
func (m *member) rejectReport(r *fleetRun, why string) {
	m.distrustMember(r, why)
	if r.armed {
		m.endEarly(r, why)
	} else if !r.stopped {
		r.stopMembers(m.name+" was lost before the start: "+why, true)
	}
}

// rejectFinal handles a final that cannot be true. If the load should be over by then, the other
// agents' loads are not affected.
func (m *member) rejectFinal(r *fleetRun, why string) {
	end := r.start + int64(r.plan.Warmup+r.plan.Duration)
	if !r.armed || r.plan.Duration > 0 && r.clock.currentReading() < end {
		m.rejectReport(r, why)
		return
	}
	m.distrustMember(r, why)
}

// distrustMember discards what the agent has sent of its final, and reads nothing more of it.
func (m *member) distrustMember(r *fleetRun, why string) {
	m.distrusted, m.finalData, m.final = true, nil, nil
	m.unsubscribe()
	if m.lost == "" {
		m.giveUp(r, why)
	}
}

// releaseMembers tells the members of which no final came that the run is over, so that they can
// take another at once. Those that do not hear it are busy until the controller was silent for
// Lease.
func (r *fleetRun) releaseMembers() {
	for _, m := range r.members {
		if r.connecting && !m.hasFinal() {
			r.instructMember(m, wire.Instruction{Verb: wire.StopLoad,
				Stop: &wire.Stop{Why: "the run is over", RunOver: true}})
		}
	}
}

// unsubscribe stops listening to the agent.
func (m *member) unsubscribe() {
	if m.sub != nil {
		m.sub.Unsubscribe()
	}
}

// finalSlack is how long an agent may report nothing, on top of its longest timeout. It is also
// how much longer than planned an agent may take to send its final.
const finalSlack = 10 * time.Second

// whyOverdue returns why an agent is given up though it sends heartbeats: it reports nothing, or
// does not finish. It returns "" if the agent is in time. start and now are of the controller's
// clock, in ns.
func (m *member) whyOverdue(p loadplan.Plan, start, now int64) string {
	window := start + int64(p.Warmup)
	end := window + int64(p.Duration)
	slow := int64(max(p.Timeout, p.Connecting)) + int64(finalSlack)
	silent := now - max(m.reportedAt, window)
	seconds := func(ns int64) float64 { return time.Duration(ns).Seconds() }
	switch {
	case p.Duration == 0 || now < end:
		if silent > slow {
			return fmt.Sprintf("it beats, but has reported nothing for %.0f s", seconds(silent))
		}
		if telling := now - m.finalBegunAt; m.finalBegun && telling > slow+int64(finalTimeout) {
			return fmt.Sprintf("it beats, but has not told in %.0f s what it measured", seconds(telling))
		}
	case m.finalBegun && silent <= int64(finalSlack) &&
		now <= end+int64(p.Drain)+slow+int64(finalTimeout):
		// the rest of it is on its way
	case now > end+int64(p.Drain)+slow:
		return fmt.Sprintf("it beats, but has not finished %.0f s after its end", seconds(now-end))
	}
	return ""
}

// finalTimeout is how long an agent may take to send its final: finalSlack, and the time of the
// longest final on a line of 256 kbit/s, the slowest that TestSlowLine tries.
const finalTimeout = finalSlack + wire.FinalMax*8/256_000*time.Second
