package fleet

import (
	"fmt"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/wire"
)

// handleLoss gives up a member, and the run if that is what is to be done then.
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

// giveUp gives the agent up, and tells it, if it hears: it must not go on with a load that
// is others' now.
func (m *member) giveUp(r *fleetRun, why string) {
	r.instructMember(m, wire.Instruction{Verb: wire.StopLoad, Stop: m.lossStop(why)})
	r.rebalanceDue = true
	m.markLost(r, why)
	r.mergeInterval(m.index, nil)
}

// lossStop ends the load of an agent that was.
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

// endEarly is when an agent stopped by itself before it was through.
func (m *member) endEarly(r *fleetRun, why string) {
	if m.lost == "" {
		m.giveUp(r, why)
	}
	if r.onLoss == Abort && !r.stopped {
		r.endedByLoss = true
		r.stopMembers(m.name+" stopped: "+why, true)
	}
}

// rejectReport is when something that an agent says cannot be.
func (m *member) rejectReport(r *fleetRun, why string) {
	m.distrustMember(r, why)
	if r.armed {
		m.endEarly(r, why)
	} else if !r.stopped {
		r.stopMembers(m.name+" was lost before the start: "+why, true)
	}
}

// rejectFinal is unbelieved of one whose final cannot be. Its load is over, by its own word: if
// that was not before it should be, the load of the others goes on as it is.
func (m *member) rejectFinal(r *fleetRun, why string) {
	end := r.start + int64(r.plan.Warmup+r.plan.Duration)
	if !r.armed || r.plan.Duration > 0 && r.clock.currentReading() < end {
		m.rejectReport(r, why)
		return
	}
	m.distrustMember(r, why)
}

// distrustMember gives up an agent of which something cannot be. Nothing more that it says is
// heard.
func (m *member) distrustMember(r *fleetRun, why string) {
	m.distrusted, m.finalData, m.final = true, nil, nil
	m.unsubscribe()
	if m.lost == "" {
		m.giveUp(r, why)
	}
}

// unsubscribe no longer listens to an agent.
func (m *member) unsubscribe() {
	if m.sub != nil {
		m.sub.Unsubscribe()
	}
}

// finalSlack is for how long an agent may report nothing, besides its longest timeout, and
// how much longer than it should it may take to say what it measured in all.
const finalSlack = 10 * time.Second

// whyOverdue is why an agent is given up that is heard, and does not come to an end; "" if it
// is not. While there is load there is a report each second.
func (m *member) whyOverdue(p load.Plan, start, now int64) string {
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
		if telling := now - m.finalBegunAt; m.finalBegun && telling > slow+m.finalTimeout() {
			return fmt.Sprintf("it beats, but has not told in %.0f s what it measured", seconds(telling))
		}
	case m.finalBegun && silent <= int64(finalSlack) &&
		now <= end+int64(p.Drain)+slow+m.finalTimeout():
		// the rest of it is on its way
	case now > end+int64(p.Drain)+slow:
		return fmt.Sprintf("it beats, but has not finished %.0f s after its end", seconds(now-end))
	}
	return ""
}

// finalTimePerSecond is how long an agent may take to tell of a second that it has measured, in
// its final. That is a hundredth of the time that it took, and enough for some hundred bytes on a
// slow line: 100 kbit/s.
const finalTimePerSecond = 10 * time.Millisecond

// finalTimeout is how long its final may take, in ns.
func (m *member) finalTimeout() int64 {
	return int64(finalSlack) + m.reported.received*int64(finalTimePerSecond)
}
