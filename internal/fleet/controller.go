package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// What happens when an agent is lost during the load.
const (
	Abort     = "abort"     // the run ends: the load must not change while it is measured
	Continue  = "continue"  // the others go on with their own shards
	Rebalance = "rebalance" // the others take over the lost agent's shard from an instant on
)

// OnLoss lists the values of Controller.OnLoss, the default first.
var OnLoss = []string{Abort, Continue, Rebalance}

// A Controller runs plans on agents.
type Controller struct {
	Conn         *nats.Conn
	Names        []string // of the agents to use; none: all that answer at the first run
	Sign         func(text []byte) ([]byte, error)
	OnLoss       string       // Abort, Continue or Rebalance; "": Abort
	TotalThreads bool         // the plan's threads are for all agents; else each uses its cores
	LooseStart   bool         // begin even if a clock's offset is known less well than it should be
	Progress     func(string) // called with each line of progress; nil: not reported

	// VerifyAgent fails unless signature is of text by the key of the agent with that name. The
	// key must not come over the bus. nil: agents are whoever the bus says they are.
	VerifyAgent func(agent string, text, signature []byte) error

	alter func(m *nats.Msg) []*nats.Msg // what becomes of an incoming message, in tests
	lease time.Duration                 // in place of Lease and orderTimeout, in tests; 0: these
}

// Run is load.Run on all agents. It calls each with every second of the whole fleet. If an agent
// is missing or refuses its part, the error is a loadplan.Flaw and nothing was sent. If an agent is
// lost during the load, the result is partial and says so.
func (c *Controller) Run(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (
	*result.Result, error) {
	p.TLS.KeyLogFile = "" // a file of this machine
	if err := errors.Join(p.Check(), c.checkFleetPlan(p)); err != nil {
		return nil, err
	}
	r := &fleetRun{Controller: c, id: newRandomID(), plan: p, clock: newClock(0), onLoss: c.OnLoss,
		messages: make(chan *nats.Msg)}
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
	r.indexMembers()
	r.together = loadresult.NewTogether(len(r.members), each)
	err = r.runStages(ctx)
	r.releaseMembers()
	r.together.Close()
	if err != nil || !r.connecting {
		return r.emptyResult(err)
	}
	return r.joinResults()
}

// checkFleetPlan returns the flaws of a plan that matter for a fleet only.
func (c *Controller) checkFleetPlan(p loadplan.Plan) error {
	var all []error
	flaw := func(bad bool, setting, problem string) {
		if bad {
			all = append(all, loadplan.Flaw{Setting: setting, Problem: problem})
		}
	}
	flaw(p.Target.Unix != "", "--fleet", "a unix socket is of one machine")
	flaw(c.OnLoss == Rebalance && (!p.Open() || p.Requested > 0), "--on-agent-loss",
		Rebalance+" is for a rate, {Rate} or {Stages}, over a time")
	flaw(p.TLS.CAFile+p.TLS.CertFile+p.TLS.KeyFile != "", "CAFile, CertFile, KeyFile",
		"are files of this machine, and plans for agents carry none; "+
			"have the agents' systems trust the server, or give {Insecure}")
	return errors.Join(all...)
}

// emptyResult returns err, or else the result of a run that was interrupted before any agent was
// told of it.
func (r *fleetRun) emptyResult(err error) (*result.Result, error) {
	if err != nil {
		return nil, err
	}
	return result.From(&loadresult.Result{Plan: r.plan, Started: time.Now(),
		Ended: loadresult.Interrupted},
		loadplan.Version)
}

// ChooseAgents checks that the agents are on the bus and can take part, and keeps their names for
// all runs that follow.
func (c *Controller) ChooseAgents(ctx context.Context) error {
	_, err := c.chooseMembers(ctx)
	return err
}

// gatherMembers finds the agents and splits the plan. It finds none if ctx ends first.
func (r *fleetRun) gatherMembers(ctx context.Context) error {
	var err error
	if r.members, err = r.chooseMembers(ctx); err != nil || len(r.members) == 0 {
		return err
	}
	return r.splitPlan()
}

// indexMembers sets the members' places.
func (r *fleetRun) indexMembers() {
	r.byName = map[string]*member{}
	for i, m := range r.members {
		m.index, r.byName[m.name] = i, m
	}
}

// chooseMembers finds the agents and checks that they can take part. It finds none if ctx ends
// first.
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
		faults = append(faults, loadplan.Flaw{Setting: "--fleet", Problem: fmt.Sprintf(format, args...)})
	}
	named := func(name string) bool { return len(c.Names) == 0 || slices.Contains(c.Names, name) }
	for i, a := range found {
		switch {
		case !named(a.Name) || a.Watches && len(c.Names) == 0:
		case i > 0 && found[i-1].Name == a.Name:
			no("two agents are called %s; give one another --name", a.Name)
		case a.Watches:
			no("%s only watches", a.Name)
		case a.Version != loadplan.Version:
			no("%s has dyno %s, and this is %s: both must be the same", a.Name,
				wire.Readable(a.Version), loadplan.Version)
		case a.Geometry != wire.Geometry():
			no("%s has another build of dyno %s: its plans and results are of %s, and here they are of %s; "+
				"both must be the same", a.Name, loadplan.Version, wire.Readable(a.Geometry),
				wire.Geometry())
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
			faults = append(faults, newMissingAgent(name+
				" does not answer; dyno fleet ls shows who is there"))
		}
	}
	if len(faults) == 0 && len(members) == 0 {
		no("no agent is there; start one with dyno agent, where the load is to come from")
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	c.Names = nil
	for _, m := range members { // later runs use the same machines, to be comparable
		c.Names = append(c.Names, m.name)
	}
	return members, nil
}

// checkAgentKey fails unless the agent has signed the key that its plan would be sealed to.
// Otherwise the owner of the bus could put its own key there and read the plan.
func (c *Controller) checkAgentKey(a FoundAgent) error {
	if c.VerifyAgent == nil {
		return nil
	}
	if err := c.VerifyAgent(a.Name, a.KeyClaim(a.Name), a.Proof); err != nil {
		return fmt.Errorf("somebody else may be in its place: %w", err)
	}
	return nil
}

// A MissingAgent is the loadplan.Flaw that an agent cannot take part: it does not answer, it was
// lost before the load began, or the offset of its clock could not be measured well enough.
type MissingAgent struct{ loadplan.Flaw }

// Unwrap returns the flaw.
func (m MissingAgent) Unwrap() error { return m.Flaw }

func newMissingAgent(problem string) error {
	return MissingAgent{loadplan.Flaw{Setting: "--fleet", Problem: problem}}
}
