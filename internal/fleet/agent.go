package fleet

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/policy"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// An Agent lends a machine to a fleet: it carries out the plans that Verify accepts and
// Policy allows, one at a time, and is told what to do by what Verify accepts only.
type Agent struct {
	Conn   *nats.Conn
	Name   string // a wire.ValidName that nobody else on the bus has
	Weight int    // of its share, beside those of other agents; 0: one for each core
	Policy *policy.Policy
	Verify func(text, signature []byte) error
	Sign   func(text []byte) ([]byte, error) // by its own key; nil: nobody knows that
	Lookup policy.Lookup                     // nil: the system's
	Tell   func(string)                      // what it does, a line each; nil: nobody listens
	Watch  bool                              // it never loads: it is where something is to be watched
	Ring   func(load.Plan) string            // that a plan is to have here; nil: its own

	version string        // that it says it has, in tests
	skew    time.Duration // how far its clocks are off, in tests
	lease   time.Duration // in place of Lease, in tests of what is not the clock's; 0: Lease
}

// A service is an agent at work. All but what is said to do belongs to the goroutine of
// its loop.
type service struct {
	*Agent
	epoch   string
	key     nkeys.KeyPair // that orders are sealed to
	public  string
	proof   []byte // that the key is this agent's; nil: nobody could check it
	nonces  wire.Nonces
	clock   clock
	do      chan func() // by the loop, said by others
	over    chan struct{}
	workers sync.WaitGroup
	parcel  parcel
	job     *job
	beaten  time.Time

	complaints wire.LimitedLog
}

// Serve carries out what a controller orders until ctx ends; then a load that is under
// way ends too. The error is that it cannot take part.
func (a *Agent) Serve(ctx context.Context) error {
	switch {
	case !wire.ValidName(a.Name) || a.Name == wire.Everyone:
		return fmt.Errorf("%q cannot be the name of an agent: letters, digits, - and _, and not %s",
			a.Name, wire.Everyone)
	case a.Verify == nil:
		return fmt.Errorf("agent %s has no key to verify plans with", a.Name)
	}
	s := &service{Agent: a, epoch: newID(), clock: newClock(a.skew), do: make(chan func()),
		over: make(chan struct{}), complaints: wire.LimitedLog{Log: a.Tell}}
	if err := s.makeKey(); err != nil {
		return fmt.Errorf("making the agent's key: %w", err)
	}
	defer s.key.Wipe()
	heard := make(chan *nats.Msg)
	for _, name := range []string{a.Name, wire.Everyone} {
		sub, err := wire.Subscribe(a.Conn, wire.CommandsPattern(name), waitMost, planWait, func(m *nats.Msg) {
			select {
			case heard <- m:
			case <-s.over:
			}
		})
		if err != nil {
			return fmt.Errorf("listening to the controller: %w", err)
		}
		defer sub.Unsubscribe()
	}
	if err := a.Conn.Flush(); err != nil {
		return fmt.Errorf("listening to the controller: %w", err)
	}
	s.loop(ctx, heard)
	return nil
}

// makeKey makes the keys of this life, and says with the agent's own which it has.
func (s *service) makeKey() (err error) {
	s.nonces = wire.Nonces{Key: []byte(newID()), Void: s.clock.now()}
	if s.key, err = nkeys.CreateCurveKeys(); err != nil {
		return err
	}
	if s.public, err = s.key.PublicKey(); err == nil && s.Sign != nil {
		s.proof, err = s.Sign(wire.Hello{Epoch: s.epoch, Key: s.public}.KeyClaim(s.Name))
	}
	return err
}

// loop does one thing after the other until ctx ends, and waits for what it began. What was
// measured until then is still said, if that does not take long.
func (s *service) loop(ctx context.Context, heard <-chan *nats.Msg) {
	defer s.workers.Wait()
	defer close(s.over)
	timer := time.NewTicker(pulse)
	defer timer.Stop()
	ended, enough := ctx.Done(), (<-chan time.Time)(nil)
	for ended != nil || s.job != nil {
		select {
		case m := <-heard:
			s.command(m, time.Now())
		case f := <-s.do:
			f()
		case now := <-timer.C:
			s.keepTime(now)
		case <-ended:
			ended, enough = nil, time.After(closing)
			if s.job != nil {
				s.end("the agent was stopped", context.Canceled)
			}
		case <-enough:
			return
		}
	}
}

// later has the loop do f, unless it is over.
func (s *service) later(f func()) {
	select {
	case s.do <- f:
	case <-s.over:
	}
}

// sync is later, and waits until it is done, unless the loop is over.
func (s *service) sync(f func()) {
	done := make(chan struct{})
	s.later(func() {
		f()
		close(done)
	})
	select {
	case <-done:
	case <-s.over:
	}
}

// tell says to whoever owns the machine what is going on.
func (s *service) tell(format string, args ...any) {
	if s.Tell != nil {
		s.Tell(fmt.Sprintf(format, args...))
	}
}

// say tells the controller. What cannot be said now is lost or, if it is a report, said
// again.
func (s *service) say(what string, m any) {
	s.Conn.Publish(wire.EventSubject(s.Name, what), wire.Encode(m))
}

// command does what a message says.
func (s *service) command(m *nats.Msg, now time.Time) {
	_, verb, ok := wire.ParseSubject(m.Subject)
	if !ok {
		return
	}
	var err error
	switch verb {
	case wire.WhoIsThere:
		err = read(m, func(q wire.DiscoveryQuery) { s.hello(q.QueryID, now) })
	case wire.DeliverPlan:
		err = read(m, s.carry)
	case wire.SyncClock:
		err = read(m, func(q wire.ClockSync) {
			if s.has(q.RunRef) {
				s.exchange(q, now)
			}
		})
	case wire.Acknowledge:
		err = read(m, func(a wire.Ack) {
			if s.has(a.RunRef) {
				s.job.spool.acknowledged(a.Seq, now)
				s.publish(s.job.spool.due(now))
			}
		})
	case wire.OpenConnections, wire.Arm, wire.Heartbeat, wire.Reshard, wire.StopLoad:
		err = s.instruct(m.Data, verb, now)
	}
	if err != nil {
		s.complain("ignored: "+m.Subject, err, now)
	}
}

// read calls f with what a message says, if that can be understood.
func read[M any](m *nats.Msg, f func(M)) error {
	var message M
	if err := wire.Decode(m.Data, &message); err != nil {
		return err
	}
	f(message)
	return nil
}

// has reports whether a message is of the run that the agent has, in this life. As anybody
// on the bus may have said it, it does not show that the controller is there.
func (s *service) has(of wire.RunRef) bool {
	return s.job != nil && of == s.job.of(s)
}

// hello says that the agent is there.
func (s *service) hello(asked string, now time.Time) {
	h := wire.Hello{QueryID: asked, Epoch: s.epoch, Version: s.dyno(), Geometry: wire.Geometry(),
		Weight: s.weight(), Threads: load.Threads(), Host: result.ThisHost(), Watches: s.Watch,
		Policy: s.inWords(), Key: s.public, Proof: s.proof, Nonce: s.nonces.Issue(s.clock.of(now)),
		Clock: s.clock.wall()}
	if s.job != nil && !s.job.over() {
		h.Busy = s.job.Run
	}
	s.say(wire.Present, h)
}

func (s *service) dyno() string {
	if s.version != "" {
		return s.version
	}
	return load.Version
}

func (s *service) weight() int {
	if s.Weight > 0 {
		return min(s.Weight, load.MaxWeight)
	}
	return load.Threads()
}

// policy is what its owner allows, where the bus is now.
func (s *service) policy() *policy.Policy {
	p := s.Policy
	if p == nil {
		p = policy.Default()
	}
	return p.WithLocalBus(s.Conn.ConnectedAddr())
}

// wordsMost is how many bytes of its policy an agent says to all: a file may have a million.
const wordsMost = 4 << 10

// inWords is the policy in a line.
func (s *service) inWords() string {
	words := s.policy().String()
	return strings.ToValidUTF8(words[:min(len(words), wordsMost)], "")
}

// exchange answers what the agent's clock shows.
func (s *service) exchange(q wire.ClockSync, now time.Time) {
	q.Epoch, q.ReceivedAt = s.epoch, s.clock.of(now)
	q.RepliedAt = s.clock.now()
	s.say(wire.ClockSynced, q)
}

// keepTime does what is due by the clock: it says that the agent is there, says again
// what was not acknowledged, and stops what nobody watches over.
func (s *service) keepTime(now time.Time) {
	j := s.job
	if now.Sub(s.parcel.come) > patience {
		s.parcel = parcel{} // the rest will not come
	}
	if j == nil {
		s.beat(s.parcel.of, now)
		return
	}
	silence := now.Sub(j.heard)
	switch {
	case !j.over() && silence > cmp.Or(s.lease, Lease):
		s.tell("nothing was heard of the controller for %v: stopped", cmp.Or(s.lease, Lease))
		s.end("nothing was heard of the controller", context.Canceled)
	case j.over() && (silence > patience || j.stage == through && len(j.spool.waiting) == 0):
		s.job = nil
		return
	}
	s.beat(j.of(s), now)
	if s.Conn.IsConnected() {
		s.publish(j.spool.due(now))
	}
}

// publish says reports.
func (s *service) publish(texts [][]byte) {
	for _, text := range texts {
		s.Conn.Publish(wire.EventSubject(s.Name, wire.Reported), text)
	}
}

// beat says from time to time that the agent is there, if it has to do with a run.
func (s *service) beat(of wire.RunRef, now time.Time) {
	if of.Run != "" && now.Sub(s.beaten) >= heartbeat {
		s.beaten = now
		s.say(wire.Alive, of)
	}
}

// patience is how long an agent keeps reports for a controller that it does not hear, and
// pieces of an order for the rest of it.
const patience = time.Minute
