package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fleet/wire"
)

// A fleetRun is one run of a Controller. All of it belongs to the goroutine that called Run.
type fleetRun struct {
	*Controller
	id      string
	plan    loadplan.Plan // for all agents together
	onLoss  string        // Controller.OnLoss, never ""
	clock   clock
	start   int64 // of the load, by clock; valid once armed
	members []*member
	byName  map[string]*member

	messages     chan *nats.Msg // unbuffered: members are read in turn
	unsubscribed chan struct{}  // closed when the run stops listening

	runPhase
	heartbeatAt      time.Time // when the last heartbeat was sent
	clocksSyncedAt   int64     // when the last round of clock queries began, by clock
	instructionsSent int64
	together         *loadresult.Together // what all members measure
	rebalancing

	storedPlan *loadplan.Plan // plan as results store it; nil until the first result needs it
}

// A runPhase says how far a run has come and how it is to end.
type runPhase struct {
	connecting  bool      // the agents were told to open their connections
	armed       bool      // the agents were told when to begin
	stopped     bool      // the agents were told to stop
	stopOrder   wire.Stop // what they were told then
	endedByLoss bool      // the run ended because an agent was lost
	looseClocks error     // why the load did not begin: clocks are not known well enough
}

// listenToMembers subscribes to each member separately, so that one that floods cannot keep the
// others from being read. The function it returns unsubscribes.
func (r *fleetRun) listenToMembers() (leave func(), err error) {
	r.unsubscribed = make(chan struct{})
	leave = sync.OnceFunc(func() {
		close(r.unsubscribed)
		for _, m := range r.members {
			m.unsubscribe()
		}
	})
	for _, m := range r.members {
		m.sub, err = wire.Subscribe(r.Conn, wire.EventSubject(m.name, "*"), queuedMessagesMax,
			queuedBytesMax, func(msg *nats.Msg) {
				select {
				case r.messages <- msg:
				case <-r.unsubscribed:
				}
			})
		if err != nil {
			leave()
			return nil, fmt.Errorf("listening to the agents: %w", err)
		}
	}
	return leave, nil
}

// awaitMembers handles messages until each member has come as far as ready says, or the run is
// stopped meanwhile, or most has passed (0: no limit). When ctx ends it stops the members.
func (r *fleetRun) awaitMembers(ctx context.Context, most time.Duration, ready func(*member) bool) {
	before := r.stopped
	deadline := time.Now().Add(most)
	timer := time.NewTicker(deadlineInterval)
	defer timer.Stop()
	ended := ctx.Done()
	if before {
		ended = nil // they were told to stop already
	}
	for !r.allReached(ready) && (r.stopped == before) {
		select {
		case m := <-r.messages:
			r.receiveMessage(m)
		case now := <-timer.C:
			r.checkDeadlines(now)
			if most > 0 && now.After(deadline) {
				return
			}
		case <-ended:
			ended = nil
			r.stopMembers("the controller was interrupted", errors.Is(context.Cause(ctx),
				loadresult.ErrAborted))
		}
	}
}

func (r *fleetRun) allReached(ready func(*member) bool) bool {
	for _, m := range r.members {
		if !ready(m) {
			return false
		}
	}
	return true
}

// receiveMessage handles a message, or what a test makes of it.
func (r *fleetRun) receiveMessage(m *nats.Msg) {
	if r.alter == nil {
		r.handleMessage(m, time.Now())
		return
	}
	for _, m := range r.alter(m) {
		r.handleMessage(m, time.Now())
	}
}

// handleMessage handles a member's message. It drops messages of other runs, of agents that are
// no members, and of earlier processes of an agent.
func (r *fleetRun) handleMessage(msg *nats.Msg, now time.Time) {
	name, what, ok := wire.ParseSubject(msg.Subject)
	m := r.byName[name]
	if !ok || m == nil || m.distrusted {
		return
	}
	r.countDropped(m, len(msg.Data))
	if why := m.budget.countMessage(len(msg.Data), now); why != "" && m.hasFinal() {
		m.unsubscribe() // its final is complete
		return
	} else if why != "" {
		m.rejectReport(r, why)
		return
	}
	mine := func(of wire.RunRef) bool {
		if of.Run != r.id || of.Epoch != m.hello.Epoch {
			return false
		}
		m.heardAt = now
		return true
	}
	switch what {
	case wire.OrderAnswered:
		if a := (wire.Answer{}); wire.Decode(msg.Data, &a) == nil && mine(a.RunRef) && !r.connecting {
			m.answered, m.refused = true, wire.Readable(a.Refused)
		}
	case wire.ClockSynced:
		if s := (wire.ClockSync{}); wire.Decode(msg.Data, &s) == nil && mine(s.RunRef) {
			m.receiveClockAnswer(r, s, now)
		}
	case wire.Reported:
		if p := (wire.Report{}); wire.Decode(msg.Data, &p) == nil && mine(p.RunRef) {
			m.receiveReport(r, p, len(msg.Data))
		}
	case wire.ConnectionsOpen, wire.Armed, wire.Resharded, wire.Alive:
		if of := (wire.RunRef{}); wire.Decode(msg.Data, &of) == nil && mine(of) {
			m.connected = m.connected || what == wire.ConnectionsOpen
			m.armed = m.armed || what == wire.Armed
			m.resharded = m.resharded || what == wire.Resharded
			switch { // it goes on because it has missed the instruction
			case m.hasFinal():
			case m.lost != "":
				r.instructMember(m, wire.Instruction{Verb: wire.StopLoad, Stop: m.lossStop(m.lost)})
			case r.stopped:
				r.instructMember(m, wire.Instruction{Verb: wire.StopLoad, Stop: &r.stopOrder})
			}
		}
	}
}

// countDropped counts a member's messages that were dropped before the one of length bytes, and
// reports the first of them. Reports and finals among them are sent again.
func (r *fleetRun) countDropped(m *member, length int) {
	n := newDrops(m.sub, m.budget.dropped)
	if n > 0 && m.budget.dropped == 0 {
		r.logProgress("messages of %s were dropped: it sends more than this controller reads", m.name)
	}
	m.budget.countDropped(n, length)
}

// checkDeadlines sends heartbeats, gives up members whose time is over, and keeps the clocks'
// offsets known.
func (r *fleetRun) checkDeadlines(now time.Time) {
	if now.Sub(r.heartbeatAt) >= heartbeatInterval {
		r.heartbeatAt = now
		r.publishInstruction(wire.Instruction{RunRef: wire.RunRef{Run: r.id}, Agent: wire.Everyone,
			Verb: wire.Heartbeat})
		for _, m := range r.members {
			if m.distrusted { // nothing is read of it, so nobody knows whether it stopped
				r.instructMember(m, wire.Instruction{Verb: wire.StopLoad, Stop: m.lossStop(m.lost)})
			}
		}
	}
	for _, m := range r.members {
		switch {
		case m.isDone():
		case now.Sub(m.heardAt) > cmp.Or(r.lease, Lease):
			r.handleLoss(m, fmt.Sprintf("nothing was heard of it for %v", cmp.Or(r.lease, Lease)))
		case r.armed && !r.stopped:
			if why := m.whyOverdue(r.plan, r.start, r.clock.readingAt(now)); why != "" {
				r.handleLoss(m, why)
			}
		}
	}
	at, last := r.clock.readingAt(now), max(r.start, r.clocksSyncedAt)
	if r.armed && at-last >= int64(syncInterval) {
		r.clocksSyncedAt = at
		for _, m := range r.members {
			m.startClockSync(laterSyncs)
		}
	}
	r.syncClocks(now)
	r.loseWithoutShard(now)
	r.rebalanceShards(now)
}

// logProgress reports how far the run has come.
func (r *fleetRun) logProgress(format string, args ...any) {
	if r.Progress != nil {
		r.Progress(fmt.Sprintf(format, args...))
	}
}
