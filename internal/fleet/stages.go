package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// How long things may take before an agent is given up.
const (
	namedHelloTimeout = 5 * time.Second        // to answer Discover, if the agent was named
	helloTimeout      = time.Second            // to answer Discover, if all agents are meant
	orderTimeout      = 30 * time.Second       // to accept its part of the plan or refuse it
	clockSyncTimeout  = 15 * time.Second       // to measure the offset of its clock
	startLead         = 500 * time.Millisecond // between telling the start and the start, at least
	finalGrace        = 2 * time.Second        // for the last messages of agents that were lost
)

// runStages goes through the stages of a run. If the run is stopped in one stage, the others are
// left out, and there is a result. An error means that nothing was sent.
func (r *fleetRun) runStages(ctx context.Context) error {
	if err := r.sendOrders(); err != nil {
		return err
	}
	r.awaitMembers(ctx, cmp.Or(r.lease, orderTimeout), (*member).hasAnswered)
	if err := r.joinRefusals(); err != nil {
		r.stopMembers("another agent refused", false)
		r.Conn.Flush()
		return err
	}
	if !r.stopped {
		r.instructMembers((*member).isMember, func(*member) wire.Instruction {
			return wire.Instruction{Verb: wire.OpenConnections}
		})
		r.connecting = true
		r.awaitMembers(ctx, r.connectTimeout(), (*member).hasConnected)
		r.loseUnready((*member).hasConnected, "its connections were not open in time")
	}
	if !r.stopped {
		for _, m := range r.members {
			m.startClockSync(startSyncs)
		}
		r.syncClocks(time.Now())
		r.awaitMembers(ctx, clockSyncTimeout+time.Duration(len(r.members))*syncTimePerAgent,
			(*member).hasKnownClock)
		r.loseUnready((*member).hasKnownClock, "its clock could not be learned")
		r.checkClockBounds()
	}
	if !r.stopped {
		r.awaitMembers(ctx, r.armMembers()*4/5, (*member).isArmed)
		r.loseUnready((*member).isArmed, "it did not hear of the start")
	}
	if !r.stopped {
		r.logStart()
		r.armed = true
		r.awaitMembers(ctx, 0, (*member).isDone)
	}
	if r.connecting { // for finals, also of lost agents that are back
		r.awaitMembers(ctx, Lease+finalGrace, (*member).isDone)
		r.awaitFinals(ctx)
		r.awaitMembers(ctx, finalGrace, (*member).hasReportedAll)
	}
	return errors.Join(r.looseClocks, r.joinFailures())
}

// connectTimeout returns how long it may take until all connections are open.
func (r *fleetRun) connectTimeout() time.Duration {
	d := 2*time.Duration(r.plan.Connecting) + orderTimeout
	if rate := r.plan.ConnectRate.PerSecond(); rate > 0 {
		d += time.Duration(float64(r.plan.Connections) / rate * 1e9)
	}
	return d
}

// sendOrders sends each member its part, sealed and in pieces.
func (r *fleetRun) sendOrders() error {
	for _, m := range r.members {
		packed, err := loadplan.Pack(m.part)
		if err != nil {
			return fmt.Errorf("packing the plan for %s: %w", m.name, err)
		}
		o := wire.Order{RunRef: m.runRef(r), Agent: m.name, Nonce: m.hello.Nonce,
			HelloHeardAt: r.clock.readingAt(m.helloAt), Version: loadplan.Version, Geometry: wire.Geometry(),
			Plan: packed, Threads: r.TotalThreads, MayReshard: r.onLoss == Rebalance}
		sealed, from, err := o.Seal(r.Sign, m.hello.Key)
		if err != nil {
			return fmt.Errorf("the plan for %s: %w", m.name, err)
		}
		if len(sealed) > wire.BundleMax {
			return loadplan.Flaw{Setting: "--fleet",
				Problem: fmt.Sprintf("the plan has %d bytes, and agents "+
					"take %d: its bodies or its data are too large", len(sealed), wire.BundleMax)}
		}
		pieces := wire.SplitPieces(sealed, wire.PieceMax)
		for i, data := range pieces {
			piece := wire.Piece{RunRef: o.RunRef, From: from, Index: i, Count: len(pieces), Data: data}
			if err := r.publishCommand(m.name, wire.DeliverPlan, piece); err != nil {
				return fmt.Errorf("sending the plan to %s: %w", m.name, err)
			}
		}
	}
	r.logProgress("agents asked: %d", len(r.members))
	for _, m := range r.members {
		m.heardAt = time.Now() // its silence begins now
	}
	return nil
}

// joinRefusals returns why the run cannot begin: agents that refused or did not answer.
func (r *fleetRun) joinRefusals() error {
	var all []error
	for _, m := range r.members {
		if m.refused != "" {
			all = append(all, loadplan.Flaw{Setting: "--fleet", Problem: m.name + " refuses: " + m.refused})
		} else if !m.answered && !r.stopped {
			all = append(all, newMissingAgent(m.name+" does not answer"))
		}
	}
	return errors.Join(all...)
}

// armMembers tells each member when to begin, by its own clock, and returns how long that is from
// now. The time allows for the slowest round trip seen so far, and for telling many agents.
func (r *fleetRun) armMembers() time.Duration {
	slowest := int64(0)
	for _, m := range r.members {
		slowest = max(slowest, m.slowestAnswer)
	}
	wait := startLead + startLeadRoundTrips*time.Duration(slowest) +
		startLeadPerAgent*time.Duration(len(r.members))
	r.start = r.clock.readingAt(time.Now().Add(wait))
	r.instructMembers((*member).isConnected, func(m *member) wire.Instruction {
		return wire.Instruction{Verb: wire.Arm, Start: m.offset.toAgent(r.start)}
	})
	return wait
}

// What is added to startLead: so many times the slowest round trip, and so much for each agent.
const (
	startLeadRoundTrips = 10
	startLeadPerAgent   = 2 * time.Millisecond
)

// worstClockBound returns the largest error bound of the members' clock offsets, in ns.
func (r *fleetRun) worstClockBound() (worst int64) {
	for _, m := range r.members {
		if m.offset != unknownOffset() && !m.isDone() {
			worst = max(worst, m.offset.bound)
		}
	}
	return worst
}

// checkClockBounds stops the run before the load if a clock's offset is known so badly that the
// agents would not begin together. A single agent needs no common start.
func (r *fleetRun) checkClockBounds() {
	var loose []string
	for _, m := range r.members {
		if m.offset != unknownOffset() && float64(m.offset.bound) > 1e3*result.LooseBound && !m.isDone() {
			loose = append(loose, fmt.Sprintf("%s's to %v", m.name,
				time.Duration(m.offset.bound).Round(10*time.Microsecond)))
		}
	}
	if r.LooseStart || r.stopped || len(loose) == 0 || len(r.members) == 1 {
		return
	}
	r.looseClocks = newMissingAgent(fmt.Sprintf(
		"the agents' clocks must be known to %v, and the quickest of %d "+
			"answers tells %s: the way there is slow, or a machine too busy; --loose-start begins all "+
			"the same", time.Duration(1e3*result.LooseBound), startSyncs, strings.Join(loose, ", ")))
	r.stopMembers("clocks are not known well enough", true)
}

// loseUnready gives up each member that has not come as far as ready says, and stops the run
// before the load.
func (r *fleetRun) loseUnready(ready func(*member) bool, why string) {
	for _, m := range r.members {
		if !ready(m) && !m.isDone() && !r.stopped {
			m.giveUp(r, why)
			r.stopMembers(m.name+" was lost: "+why, true)
		}
	}
}

// logStart reports how many agents begin, and how well their clocks are known.
func (r *fleetRun) logStart() {
	n := 0
	for _, m := range r.members {
		if !m.isDone() {
			n++
		}
	}
	if n > 0 {
		r.logProgress("agents that begin together: %d; clocks known to %v", n,
			time.Duration(r.worstClockBound()).Round(time.Microsecond))
	}
}

// awaitFinals waits for the finals that have begun to arrive, as long as they make progress and
// take no longer than finalTimeout.
func (r *fleetRun) awaitFinals(ctx context.Context) {
	began := r.clock.currentReading()
	silent := func(m *member) bool {
		now := r.clock.currentReading()
		return m.hasFinal() || m.distrusted || !m.finalBegun || now-m.reportedAt > int64(Lease) ||
			now-began > int64(finalTimeout)
	}
	r.awaitMembers(ctx, 0, silent)
}

// joinFailures returns why there is no result: loads that failed, and agents lost before the
// start.
func (r *fleetRun) joinFailures() error {
	var all []error
	for _, m := range r.members {
		switch {
		case m.hasFinal() && m.final.Error != "":
			all = append(all, loadplan.Flaw{Setting: "--fleet", Problem: m.name + ": " + m.final.Error})
		case !r.armed && m.lost != "":
			all = append(all, newMissingAgent(m.name+" was lost before the start: "+m.lost))
		}
	}
	return errors.Join(all...)
}
