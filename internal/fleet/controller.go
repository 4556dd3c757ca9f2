package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// What is to happen when an agent is lost while it loads.
const (
	Abort     = "abort"     // the run ends: a measure must not change while one measures
	Continue  = "continue"  // the others go on with their own shares
	Rebalance = "rebalance" // the others take over what it should have sent, from an instant on
)

// OnLoss are the things that can happen then, the usual one first.
var OnLoss = []string{Abort, Continue, Rebalance}

// A Controller has agents make a load together.
type Controller struct {
	Conn         *nats.Conn
	Names        []string // of the agents to use; none: all that are there at the first run
	Sign         func(text []byte) ([]byte, error)
	OnLoss       string       // "": Abort
	TotalThreads bool         // a plan's threads are for all agents together, and not each its cores
	LooseStart   bool         // a load may begin though a clock is known less well than it should
	Progress     func(string) // how far a run has come, a line each; nil: nobody listens

	// VerifyAgent fails unless the signature is by the key of the agent of that name, which who owns
	// the bus has not told. nil: nobody knows the agents but by what the bus says.
	VerifyAgent func(agent string, text, signature []byte) error

	alter func(m *nats.Msg) []*nats.Msg // what becomes of a message on its way, in tests
	lease time.Duration                 // in place of Lease, in tests; 0: Lease
}

// How long things may take before an agent is given up.
const (
	namedHelloTimeout = 5 * time.Second        // until it says that it is there
	helloTimeout      = time.Second            // until all are taken to have done so
	orderTimeout      = 30 * time.Second       // until it accepts a plan or refuses
	clockSyncTimeout  = 15 * time.Second       // to learn about its clock
	startLead         = 500 * time.Millisecond // from telling the start to it, and more for slow ones
	finalGrace        = 2 * time.Second        // for what a lost one may still have to say
)

// Run is load.Run on all agents. An agent that refuses its part, or is not there, is an
// error that is a load.Flaw, and nothing was sent. The result says how the agents fared.
// When one is lost the result is partial, and says that too.
func (c *Controller) Run(ctx context.Context, p load.Plan, each func(load.Interval)) (
	*result.Result, error) {
	p.TLS.KeyLogFile = "" // of this machine; the agents have none
	if err := errors.Join(p.Check(), c.checkFleetPlan(p)); err != nil {
		return nil, err
	}
	r := &fleetRun{Controller: c, id: newRandomID(), plan: p, clock: newClock(0), onLoss: c.OnLoss,
		messages: make(chan *nats.Msg), scratch: metric.NewHistogram(metric.Fine)}
	if r.onLoss == "" {
		r.onLoss = Abort
	}
	if err := r.gatherMembers(ctx); err != nil || len(r.members) == 0 {
		return r.emptyResult(err)
	}
	leave, err := r.listenToMembers()
	if err != nil {
		return nil, err
	}
	defer leave()
	shown := r.startLiveView(each)
	err = r.runStages(ctx)
	shown()
	if err != nil || !r.connecting {
		return r.emptyResult(err)
	}
	return r.mergeResults()
}

// checkFleetPlan are the flaws of a plan that only a fleet finds.
func (c *Controller) checkFleetPlan(p load.Plan) error {
	var all []error
	flaw := func(bad bool, setting, problem string) {
		if bad {
			all = append(all, load.Flaw{Setting: setting, Problem: problem})
		}
	}
	flaw(p.Target.Unix != "", "--fleet", "a unix socket is of one machine")
	flaw(c.OnLoss == Rebalance && (!p.Open() || p.Requested > 0), "--on-agent-loss",
		Rebalance+" is for a rate, -R or --stage, over a time")
	flaw(p.TLS.CAFile+p.TLS.CertFile+p.TLS.KeyFile != "", "--cacert, --cert, --key",
		"are files of this machine, and plans for agents carry none; "+
			"have the agents' systems trust the server, or give --insecure")
	return errors.Join(all...)
}

// emptyResult is the end of a run that no agent was asked for.
func (r *fleetRun) emptyResult(err error) (*result.Result, error) {
	if err != nil {
		return nil, err
	}
	return result.From(&load.Result{Plan: r.plan, Started: time.Now(), Ended: load.Interrupted},
		load.Version)
}

// gatherMembers finds the agents and cuts the plan. It finds none if ctx ends before.
func (r *fleetRun) gatherMembers(ctx context.Context) error {
	var err error
	if r.members, err = r.chooseMembers(ctx); err != nil || len(r.members) == 0 {
		return err
	}
	return r.splitPlan()
}

// ChooseAgents finds out whether the agents are there and can take part. If so they are those of
// all runs that follow.
func (c *Controller) ChooseAgents(ctx context.Context) error {
	_, err := c.chooseMembers(ctx)
	return err
}

// chooseMembers finds the agents. It finds none if ctx ends before.
func (c *Controller) chooseMembers(ctx context.Context) (members []*member, err error) {
	wait := namedHelloTimeout
	if len(c.Names) == 0 {
		wait = helloTimeout
	}
	found, err := Discover(ctx, c.Conn, c.Names, wait)
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	var faults []error
	no := func(format string, args ...any) {
		faults = append(faults, load.Flaw{Setting: "--fleet", Problem: fmt.Sprintf(format, args...)})
	}
	named := func(name string) bool { return len(c.Names) == 0 || slices.Contains(c.Names, name) }
	for i, a := range found {
		switch {
		case !named(a.Name) || a.Watches && len(c.Names) == 0:
		case i > 0 && found[i-1].Name == a.Name:
			no("two agents are called %s; give one another --name", a.Name)
		case a.Watches:
			no("%s only watches", a.Name)
		case a.Version != load.Version:
			no("%s has dyno %s, and this is %s: both must be the same", a.Name,
				wire.Readable(a.Version), load.Version)
		case a.Geometry != wire.Geometry():
			no("%s has histograms of %s, and here are those of %s: they cannot be added up", a.Name,
				wire.Readable(a.Geometry), wire.Geometry())
		default:
			if err := c.checkAgentKey(a); err != nil {
				no("%s: %v; it is told nothing", a.Name, err)
			}
			members = append(members, newMember(a))
		}
	}
	for _, name := range c.Names {
		there := func(a FoundAgent) bool { return a.Name == name }
		if !slices.ContainsFunc(found, there) {
			faults = append(faults, newMissingAgent(name+" does not answer; dyno fleet ls shows who is there"))
		}
	}
	if len(faults) == 0 && len(members) == 0 {
		no("no agent is there; start one with dyno agent, where the load is to come from")
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	c.Names = nil
	for _, m := range members { // runs that are compared are made by the same machines
		c.Names = append(c.Names, m.name)
	}
	return members, nil
}

// checkAgentKey fails unless an agent has shown that the key is its own that its plan is sealed to.
func (c *Controller) checkAgentKey(a FoundAgent) error {
	if c.VerifyAgent == nil {
		return nil
	}
	if err := c.VerifyAgent(a.Name, a.KeyClaim(a.Name), a.Proof); err != nil {
		return fmt.Errorf("somebody else may be in its place: %w", err)
	}
	return nil
}

// A MissingAgent is the load.Flaw that an agent is not there: it does not answer, or was lost
// before the load began, or its clock could not be learned as it should.
type MissingAgent struct{ load.Flaw }

// Unwrap is the flaw.
func (m MissingAgent) Unwrap() error { return m.Flaw }

func newMissingAgent(problem string) error {
	return MissingAgent{load.Flaw{Setting: "--fleet", Problem: problem}}
}

// splitPlan gives every member its part of the plan.
func (r *fleetRun) splitPlan() error {
	var weights []int
	for _, m := range r.members {
		weights = append(weights, m.splitWeight())
	}
	var none, few []string
	for i, part := range r.plan.SplitBy(scaleWeights(weights)) {
		part.CPUs = r.plan.CPUs // of each machine
		m := r.members[i]
		m.part = part
		switch {
		case part.Connections == 0:
			none = append(none, m.name)
		case r.plan.Requested > 0 && part.Requested < int64(part.Connections): // 0 would be no limit
			few = append(few, m.name)
		}
	}
	if len(none) > 0 {
		return load.Flaw{Setting: "--connections", Problem: fmt.Sprintf("of %d none is left for %s; "+
			"give more, or use fewer agents", r.plan.Connections, strings.Join(none, ", "))}
	}
	if len(few) > 0 {
		return load.Flaw{Setting: "--requests", Problem: fmt.Sprintf("of %d fewer than its connections "+
			"are left for %s; give more, or fewer --connections", r.plan.Requested,
			strings.Join(few, ", "))}
	}
	return nil
}

// scaleWeights are weights that are not too fine for a round of arrivals.
func scaleWeights(weights []int) []int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	for i := range weights {
		if sum > load.MaxWeight {
			weights[i] = max(weights[i]*(load.MaxWeight/2)/sum, 1)
		}
	}
	return weights
}

// logProgress says how far the run has come.
func (r *fleetRun) logProgress(format string, args ...any) {
	if r.Progress != nil {
		r.Progress(fmt.Sprintf(format, args...))
	}
}

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
		r.awaitMembers(ctx, clockSyncTimeout+time.Duration(len(r.members))*syncTimePerAgent, (*member).hasKnownClock)
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
	wait := startLead + startLeadRoundTrips*time.Duration(slowest) + startLeadPerAgent*time.Duration(len(r.members))
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
	r.looseClocks = newMissingAgent(fmt.Sprintf("the agents' clocks must be known to %v, and the quickest of %d "+
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
