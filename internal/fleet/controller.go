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
	Conn   *nats.Conn
	Names  []string // of the agents to use; none: all that are there at the first run
	Sign   func(text []byte) ([]byte, error)
	OnLoss string       // "": Abort
	Total  bool         // a plan's threads are for all agents together, and not each its cores
	Loose  bool         // a load may begin though a clock is known less well than it should
	Tell   func(string) // how far a run has come, a line each; nil: nobody listens

	// Vouch fails unless the signature is by the key of the agent of that name, which who owns
	// the bus has not told. nil: nobody knows the agents but by what the bus says.
	Vouch func(agent string, text, signature []byte) error

	alter func(m *nats.Msg) []*nats.Msg // what becomes of a message on its way, in tests
	lease time.Duration                 // in place of Lease, in tests; 0: Lease
}

// How long things may take before an agent is given up.
const (
	asking   = 5 * time.Second        // until it says that it is there
	settling = time.Second            // until all are taken to have done so
	deciding = 30 * time.Second       // until it accepts a plan or refuses
	timing   = 15 * time.Second       // to learn about its clock
	lead     = 500 * time.Millisecond // from telling the start to it, and more for slow ones
	closing  = 2 * time.Second        // for what a lost one may still have to say
)

// Run is load.Run on all agents. An agent that refuses its part, or is not there, is an
// error that is a load.Flaw, and nothing was sent. The result says how the agents fared.
// When one is lost the result is partial, and says that too.
func (c *Controller) Run(ctx context.Context, p load.Plan, each func(load.Interval)) (
	*result.Result, error) {
	p.TLS.KeyLogFile = "" // of this machine; the agents have none
	if err := errors.Join(p.Check(), c.beyond(p)); err != nil {
		return nil, err
	}
	r := &running{Controller: c, id: newID(), plan: p, clock: newClock(0), on: c.OnLoss,
		heard: make(chan *nats.Msg), scratch: metric.NewHistogram(metric.Fine)}
	if r.on == "" {
		r.on = Abort
	}
	if err := r.gather(ctx); err != nil || len(r.members) == 0 {
		return r.nothing(err)
	}
	leave, err := r.listen()
	if err != nil {
		return nil, err
	}
	defer leave()
	shown := r.show(each)
	err = r.carryOut(ctx)
	shown()
	if err != nil || !r.opened {
		return r.nothing(err)
	}
	return r.conclude()
}

// beyond are the flaws of a plan that only a fleet finds.
func (c *Controller) beyond(p load.Plan) error {
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

// nothing is the end of a run that no agent was asked for.
func (r *running) nothing(err error) (*result.Result, error) {
	if err != nil {
		return nil, err
	}
	return result.From(&load.Result{Plan: r.plan, Started: time.Now(), Ended: load.Interrupted},
		load.Version)
}

// gather finds the agents and cuts the plan. It finds none if ctx ends before.
func (r *running) gather(ctx context.Context) error {
	var err error
	if r.members, err = r.choose(ctx); err != nil || len(r.members) == 0 {
		return err
	}
	return r.cut()
}

// Gather finds out whether the agents are there and can take part. If so they are those of
// all runs that follow.
func (c *Controller) Gather(ctx context.Context) error {
	_, err := c.choose(ctx)
	return err
}

// choose finds the agents. It finds none if ctx ends before.
func (c *Controller) choose(ctx context.Context) (members []*member, err error) {
	wait := asking
	if len(c.Names) == 0 {
		wait = settling
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
			if err := c.vouch(a); err != nil {
				no("%s: %v; it is told nothing", a.Name, err)
			}
			members = append(members, newMember(a))
		}
	}
	for _, name := range c.Names {
		there := func(a Answerer) bool { return a.Name == name }
		if !slices.ContainsFunc(found, there) {
			faults = append(faults, missing(name+" does not answer; dyno fleet ls shows who is there"))
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

// vouch fails unless an agent has shown that the key is its own that its plan is sealed to.
func (c *Controller) vouch(a Answerer) error {
	if c.Vouch == nil {
		return nil
	}
	if err := c.Vouch(a.Name, a.KeyClaim(a.Name), a.Proof); err != nil {
		return fmt.Errorf("somebody else may be in its place: %w", err)
	}
	return nil
}

// A Missing is the load.Flaw that an agent is not there: it does not answer, or was lost
// before the load began, or its clock could not be learned as it should.
type Missing struct{ load.Flaw }

// Unwrap is the flaw.
func (m Missing) Unwrap() error { return m.Flaw }

func missing(problem string) error {
	return Missing{load.Flaw{Setting: "--fleet", Problem: problem}}
}

// cut gives every member its part of the plan.
func (r *running) cut() error {
	var weights []int
	for _, m := range r.members {
		weights = append(weights, m.weight())
	}
	var none, few []string
	for i, part := range r.plan.SplitBy(scaled(weights)) {
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

// scaled are weights that are not too fine for a round of arrivals.
func scaled(weights []int) []int {
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

// tell says how far the run has come.
func (r *running) tell(format string, args ...any) {
	if r.Tell != nil {
		r.Tell(fmt.Sprintf(format, args...))
	}
}

// carryOut goes through the stages of a run. When it was stopped in one the rest are left
// out, and there is a result; an error is that nothing was sent.
func (r *running) carryOut(ctx context.Context) error {
	if err := r.order(); err != nil {
		return err
	}
	r.await(ctx, deciding, (*member).hasAnswered)
	if err := r.refusals(); err != nil {
		r.halt("another agent refused", false)
		r.Conn.Flush()
		return err
	}
	if !r.stopped {
		r.command((*member).any, func(*member) wire.Instruction {
			return wire.Instruction{Verb: wire.OpenConnections}
		})
		r.opened = true
		r.await(ctx, r.connecting(), (*member).hasOpened)
		r.giveUp((*member).hasOpened, "its connections were not open in time")
	}
	if !r.stopped {
		for _, m := range r.members {
			m.sound(exchanges)
		}
		r.sound(time.Now())
		r.await(ctx, timing+time.Duration(len(r.members))*exchangeTime, (*member).isKnown)
		r.giveUp((*member).isKnown, "its clock could not be learned")
		r.tighten()
	}
	if !r.stopped {
		r.await(ctx, r.arm()*4/5, (*member).isArmed)
		r.giveUp((*member).isArmed, "it did not hear of the start")
	}
	if !r.stopped {
		r.begun()
		r.armed = true
		r.await(ctx, 0, (*member).isDone)
	}
	if r.opened { // what agents have still to say, and lost ones if they have come back
		r.await(ctx, Lease+closing, (*member).isDone)
		r.awaitRest(ctx)
		r.await(ctx, closing, (*member).isOver)
	}
	return errors.Join(r.loose, r.failures())
}

// awaitRest waits for those that are about to say what they measured, as long as they go on with
// it and it is not too long.
func (r *running) awaitRest(ctx context.Context) {
	began := r.clock.now()
	silent := func(m *member) bool {
		now := r.clock.now()
		return m.over() || m.distrusted || !m.rest || now-m.reported > int64(Lease) ||
			now-began > m.tellTime()
	}
	r.await(ctx, 0, silent)
}

// connecting is how long it may take until all connections are open.
func (r *running) connecting() time.Duration {
	d := 2*time.Duration(r.plan.Connecting) + deciding
	if rate := r.plan.ConnectRate.PerSecond(); rate > 0 {
		d += time.Duration(float64(r.plan.Connections) / rate * 1e9)
	}
	return d
}

// order sends each member its part.
func (r *running) order() error {
	for _, m := range r.members {
		packed, err := load.Pack(m.part)
		if err != nil {
			return fmt.Errorf("packing the plan for %s: %w", m.name, err)
		}
		o := wire.Order{RunRef: m.of(r), Agent: m.name, Nonce: m.hello.Nonce,
			HelloHeardAt: r.clock.of(m.greeted), Version: load.Version, Geometry: wire.Geometry(),
			Plan: packed, Threads: r.Total, MayReshard: r.on == Rebalance}
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
			if err := r.say(m.name, wire.DeliverPlan, piece); err != nil {
				return fmt.Errorf("sending the plan to %s: %w", m.name, err)
			}
		}
	}
	r.tell("agents asked: %d", len(r.members))
	for _, m := range r.members {
		m.heard = time.Now() // nobody could speak before
	}
	return nil
}

// refusals are why the run cannot begin.
func (r *running) refusals() error {
	var all []error
	for _, m := range r.members {
		if m.refused != "" {
			all = append(all, load.Flaw{Setting: "--fleet", Problem: m.name + " refuses: " + m.refused})
		} else if !m.answered && !r.stopped {
			all = append(all, missing(m.name+" does not answer"))
		}
	}
	return errors.Join(all...)
}

// arm tells every member when to begin, by its own clock, and is how long that is from now.
// Whoever once took long to say what its clock shows may take long to hear of this, and so
// may the last of many.
func (r *running) arm() time.Duration {
	slowest := int64(0)
	for _, m := range r.members {
		slowest = max(slowest, m.slowest)
	}
	wait := lead + leadMore*time.Duration(slowest) + leadEach*time.Duration(len(r.members))
	r.start = r.clock.of(time.Now().Add(wait))
	r.command((*member).hasBegun, func(m *member) wire.Instruction {
		return wire.Instruction{Verb: wire.Arm, Start: m.offset.theirs(r.start)}
	})
	return wait
}

// How many times the longest exchange there is more time to the start, and how much for each
// agent.
const (
	leadMore = 10
	leadEach = 2 * time.Millisecond
)

// bound is by how much the clock may be wrong that is known worst, in ns.
func (r *running) bound() (worst int64) {
	for _, m := range r.members {
		if m.offset != unknown() && !m.done() {
			worst = max(worst, m.offset.bound)
		}
	}
	return worst
}

// tighten ends the run before it began if a clock is known so badly that agents would not
// begin together. One alone has nobody to begin with.
func (r *running) tighten() {
	var loose []string
	for _, m := range r.members {
		if m.offset != unknown() && float64(m.offset.bound) > 1e3*result.LooseBound && !m.done() {
			loose = append(loose, fmt.Sprintf("%s's to %v", m.name,
				time.Duration(m.offset.bound).Round(10*time.Microsecond)))
		}
	}
	if r.Loose || r.stopped || len(loose) == 0 || len(r.members) == 1 {
		return
	}
	r.loose = missing(fmt.Sprintf("the agents' clocks must be known to %v, and the quickest of %d "+
		"answers tells %s: the way there is slow, or a machine too busy; --loose-start begins all "+
		"the same", time.Duration(1e3*result.LooseBound), exchanges, strings.Join(loose, ", ")))
	r.halt("clocks are not known well enough", true)
}

// giveUp ends the run before it began, because of members that did not come so far.
func (r *running) giveUp(far func(*member) bool, why string) {
	for _, m := range r.members {
		if !far(m) && !m.done() && !r.stopped {
			m.lose(r, why)
			r.halt(m.name+" was lost: "+why, true)
		}
	}
}

// failures are why nothing was sent, of which there is no result.
func (r *running) failures() error {
	var all []error
	for _, m := range r.members {
		switch {
		case m.over() && m.final.Error != "":
			all = append(all, load.Flaw{Setting: "--fleet", Problem: m.name + ": " + m.final.Error})
		case !r.armed && m.lost != "":
			all = append(all, missing(m.name+" was lost before the start: "+m.lost))
		}
	}
	return errors.Join(all...)
}

// begun tells what is known when the load begins.
func (r *running) begun() {
	n := 0
	for _, m := range r.members {
		if !m.done() {
			n++
		}
	}
	if n > 0 {
		r.tell("agents that begin together: %d; clocks known to %v", n,
			time.Duration(r.bound()).Round(time.Microsecond))
	}
}
