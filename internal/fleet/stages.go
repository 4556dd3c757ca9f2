package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// How long things may take before an agent is given up.
const (
	namedHelloTimeout = 5 * time.Second        // until it says that it is there
	helloTimeout      = time.Second            // until all are taken to have done so
	orderTimeout      = 30 * time.Second       // until it accepts a plan or refuses
	clockSyncTimeout  = 15 * time.Second       // to learn about its clock
	startLead         = 500 * time.Millisecond // from telling the start to it, and more for slow ones
	finalGrace        = 2 * time.Second        // for what a lost one may still have to say
)

// runStages goes through the stages of a run. When it was stopped in one the rest are left
// out, and there is a result; an error is that nothing was sent.
func (r *fleetRun) runStages(ctx context.Context) error {
	if err := r.sendOrders(); err != nil {
		return err
	}
	r.awaitMembers(ctx, orderTimeout, (*member).hasAnswered)
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
		r.awaitMembers(ctx, 0, (*member).hasEnded)
	}
	if r.connecting { // what agents have still to say, and lost ones if they have come back
		r.awaitMembers(ctx, Lease+finalGrace, (*member).hasEnded)
		r.awaitFinals(ctx)
		r.awaitMembers(ctx, finalGrace, (*member).hasReportedAll)
	}
	return errors.Join(r.looseClocks, r.joinFailures())
}

// connectTimeout is how long it may take until all connections are open.
func (r *fleetRun) connectTimeout() time.Duration {
	d := 2*time.Duration(r.plan.Connecting) + orderTimeout
	if rate := r.plan.ConnectRate.PerSecond(); rate > 0 {
		d += time.Duration(float64(r.plan.Connections) / rate * 1e9)
	}
	return d
}

// sendOrders sends each member its part.
func (r *fleetRun) sendOrders() error {
	for _, m := range r.members {
		packed, err := load.Pack(m.part)
		if err != nil {
			return fmt.Errorf("packing the plan for %s: %w", m.name, err)
		}
		o := wire.Order{RunRef: m.runRef(r), Agent: m.name, Nonce: m.hello.Nonce,
			HelloHeardAt: r.clock.readingAt(m.helloAt), Version: load.Version, Geometry: wire.Geometry(),
			Plan: packed, Threads: r.TotalThreads, MayReshard: r.onLoss == Rebalance}
		sealed, from, err := o.Seal(r.Sign, m.hello.Key)
		if err != nil {
			return fmt.Errorf("the plan for %s: %w", m.name, err)
		}
		if len(sealed) > wire.BundleMax {
			return load.Flaw{Setting: "--fleet", Problem: fmt.Sprintf("the plan has %d bytes, and agents "+
				"take %d: its bodies are too large", len(sealed), wire.BundleMax)}
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
		m.heardAt = time.Now() // nobody could speak before
	}
	return nil
}

// joinRefusals are why the run cannot begin.
func (r *fleetRun) joinRefusals() error {
	var all []error
	for _, m := range r.members {
		if m.refused != "" {
			all = append(all, load.Flaw{Setting: "--fleet", Problem: m.name + " refuses: " + m.refused})
		} else if !m.answered && !r.stopped {
			all = append(all, newMissingAgent(m.name+" does not answer"))
		}
	}
	return errors.Join(all...)
}

// armMembers tells every member when to begin, by its own clock, and is how long that is from now.
// Whoever once took long to say what its clock shows may take long to hear of this, and so
// may the last of many.
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

// How many times the longest exchange there is more time to the start, and how much for each
// agent.
const (
	startLeadRoundTrips = 10
	startLeadPerAgent   = 2 * time.Millisecond
)

// worstClockBound is by how much the clock may be wrong that is known worst, in ns.
func (r *fleetRun) worstClockBound() (worst int64) {
	for _, m := range r.members {
		if m.offset != unknownOffset() && !m.isDone() {
			worst = max(worst, m.offset.bound)
		}
	}
	return worst
}

// checkClockBounds ends the run before it began if a clock is known so badly that agents would not
// begin together. One alone has nobody to begin with.
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

// loseUnready ends the run before it began, because of members that did not come so far.
func (r *fleetRun) loseUnready(far func(*member) bool, why string) {
	for _, m := range r.members {
		if !far(m) && !m.isDone() && !r.stopped {
			m.giveUp(r, why)
			r.stopMembers(m.name+" was lost: "+why, true)
		}
	}
}

// logStart tells what is known when the load begins.
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

// awaitFinals waits for those that are about to say what they measured, as long as they go on with
// it and it is not too long.
func (r *fleetRun) awaitFinals(ctx context.Context) {
	began := r.clock.currentReading()
	silent := func(m *member) bool {
		now := r.clock.currentReading()
		return m.hasFinal() || m.distrusted || !m.finalBegun || now-m.reportedAt > int64(Lease) ||
			now-began > m.finalTimeout()
	}
	r.awaitMembers(ctx, 0, silent)
}

// joinFailures are why nothing was sent, of which there is no result.
func (r *fleetRun) joinFailures() error {
	var all []error
	for _, m := range r.members {
		switch {
		case m.hasFinal() && m.final.Error != "":
			all = append(all, load.Flaw{Setting: "--fleet", Problem: m.name + ": " + m.final.Error})
		case !r.armed && m.lost != "":
			all = append(all, newMissingAgent(m.name+" was lost before the start: "+m.lost))
		}
	}
	return errors.Join(all...)
}
