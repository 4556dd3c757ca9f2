package fleet

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/policy"
	"dyno/internal/fleet/wire"
)

// An Agent lends a machine to a fleet: it carries out the plans that Verify accepts and
// Policy allows, one at a time, and is told what to do by what Verify accepts only.
type Agent struct {
	Conn       *nats.Conn
	Name       string // a wire.ValidName that nobody else on the bus has
	Weight     int    // of its share, beside those of other agents; 0: one for each core
	Policy     *policy.Policy
	Verify     func(text, signature []byte) error
	Sign       func(text []byte) ([]byte, error) // by its own key; nil: nobody knows that
	Lookup     policy.Lookup                     // nil: the system's
	Log        func(string)                      // what it does, a line each; nil: nobody listens
	WatchOnly  bool                              // it carries out no plan; see package watch
	ChooseRing func(load.Plan) string            // that a plan is to have here; nil: its own

	version string        // that it says it has, in tests
	skew    time.Duration // how far its clocks are off, in tests
	lease   time.Duration // in place of Lease, in tests of what is not the clock's; 0: Lease
}

// A agentService is an agent at work. All but what is said to do belongs to the goroutine of
// its loop.
type agentService struct {
	*Agent
	epoch        string
	key          nkeys.KeyPair // that orders are sealed to
	publicKey    string
	proof        []byte // that the key is this agent's; nil: nobody could check it
	nonces       wire.Nonces
	clock        clock
	loopCalls    chan func() // by the loop, said by others
	loopEnded    chan struct{}
	goroutines   sync.WaitGroup
	pendingOrder orderInPieces
	job          *job
	heartbeatAt  time.Time

	ignored wire.LimitedLog
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
	s := &agentService{Agent: a, epoch: newRandomID(), clock: newClock(a.skew),
		loopCalls: make(chan func()),
		loopEnded: make(chan struct{}), ignored: wire.LimitedLog{Log: a.Log}}
	if err := s.makeKeys(); err != nil {
		return fmt.Errorf("making the agent's key: %w", err)
	}
	defer s.key.Wipe()
	heard := make(chan *nats.Msg)
	for _, name := range []string{a.Name, wire.Everyone} {
		sub, err := wire.Subscribe(a.Conn, wire.CommandsPattern(name), queuedMessagesMax,
			queuedPlanBytesMax, func(m *nats.Msg) {
				select {
				case heard <- m:
				case <-s.loopEnded:
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
	s.runLoop(ctx, heard)
	return nil
}

// makeKeys makes the keys of this life, and says with the agent's own which it has.
func (s *agentService) makeKeys() (err error) {
	s.nonces = wire.Nonces{Key: []byte(newRandomID()), Void: s.clock.currentReading()}
	if s.key, err = nkeys.CreateCurveKeys(); err != nil {
		return err
	}
	if s.publicKey, err = s.key.PublicKey(); err == nil && s.Sign != nil {
		s.proof, err = s.Sign(wire.Hello{Epoch: s.epoch, Key: s.publicKey}.KeyClaim(s.Name))
	}
	return err
}

// runLoop does one thing after the other until ctx ends, and waits for what it began. What was
// measured until then is still said, if that does not take long.
func (s *agentService) runLoop(ctx context.Context, heard <-chan *nats.Msg) {
	defer s.goroutines.Wait()
	defer close(s.loopEnded)
	timer := time.NewTicker(deadlineInterval)
	defer timer.Stop()
	ended, enough := ctx.Done(), (<-chan time.Time)(nil)
	for ended != nil || s.job != nil {
		select {
		case m := <-heard:
			s.handleCommand(m, time.Now())
		case f := <-s.loopCalls:
			f()
		case now := <-timer.C:
			s.checkTimers(now)
		case <-ended:
			ended, enough = nil, time.After(finalGrace)
			if s.job != nil {
				s.stopJob("the agent was stopped", context.Canceled)
			}
		case <-enough:
			return
		}
	}
}

// callInLoop has the loop do f, unless it is over.
func (s *agentService) callInLoop(f func()) {
	select {
	case s.loopCalls <- f:
	case <-s.loopEnded:
	}
}

// callInLoopAndWait is later, and waits until it is done, unless the loop is over.
func (s *agentService) callInLoopAndWait(f func()) {
	done := make(chan struct{})
	s.callInLoop(func() {
		f()
		close(done)
	})
	select {
	case <-done:
	case <-s.loopEnded:
	}
}

// handleCommand does what a message says.
func (s *agentService) handleCommand(m *nats.Msg, now time.Time) {
	_, verb, ok := wire.ParseSubject(m.Subject)
	if !ok {
		return
	}
	var err error
	switch verb {
	case wire.WhoIsThere:
		err = decodeCommand(m, func(q wire.DiscoveryQuery) { s.sendHello(q.QueryID, now) })
	case wire.DeliverPlan:
		err = decodeCommand(m, s.receivePlanPiece)
	case wire.SyncClock:
		err = decodeCommand(m, func(q wire.ClockSync) {
			if s.hasRun(q.RunRef) {
				s.answerClockQuery(q, now)
			}
		})
	case wire.Acknowledge:
		err = decodeCommand(m, func(a wire.Ack) {
			if s.hasRun(a.RunRef) {
				s.job.spool.acknowledgeUpTo(a.Seq, now)
				s.publishReports(s.job.spool.dueReports(now))
			}
		})
	case wire.OpenConnections, wire.Arm, wire.Heartbeat, wire.Reshard, wire.StopLoad:
		err = s.handleInstruction(m.Data, verb, now)
	}
	if err != nil {
		s.logIgnored("ignored: "+m.Subject, err, now)
	}
}

// decodeCommand calls f with what a message says, if that can be understood.
func decodeCommand[M any](m *nats.Msg, f func(M)) error {
	var message M
	if err := wire.Decode(m.Data, &message); err != nil {
		return err
	}
	f(message)
	return nil
}

// hasRun reports whether a message is of the run that the agent has, in this life. As anybody
// on the bus may have said it, it does not show that the controller is there.
func (s *agentService) hasRun(of wire.RunRef) bool {
	return s.job != nil && of == s.job.runRef(s)
}

// publishEvent tells the controller. What cannot be said now is lost or, if it is a report, said
// again.
func (s *agentService) publishEvent(what string, m any) {
	s.Conn.Publish(wire.EventSubject(s.Name, what), wire.Encode(m))
}

// logLine says to whoever owns the machine what is going on.
func (s *agentService) logLine(format string, args ...any) {
	if s.Log != nil {
		s.Log(fmt.Sprintf(format, args...))
	}
}

// logIgnored says what is not done, and why.
func (s *agentService) logIgnored(what string, why error, now time.Time) {
	s.ignored.Print(what, why, now)
}

// reportKeepTime is how long an agent keeps reports for a controller that it does not hear, and
// pieces of an order for the rest of it.
const reportKeepTime = time.Minute

// checkTimers does what is due by the clock: it says that the agent is there, says again
// what was not acknowledged, and stops what nobody watches over.
func (s *agentService) checkTimers(now time.Time) {
	j := s.job
	if now.Sub(s.pendingOrder.lastPieceAt) > reportKeepTime {
		s.pendingOrder = orderInPieces{} // the rest will not come
	}
	if j == nil {
		s.sendHeartbeat(s.pendingOrder.of, now)
		return
	}
	silence := now.Sub(j.heardAt)
	switch {
	case !j.isOver() && silence > cmp.Or(s.lease, Lease):
		s.logLine("nothing was heard of the controller for %v: stopped", cmp.Or(s.lease, Lease))
		s.stopJob("nothing was heard of the controller", context.Canceled)
	case j.isOver() && (silence > reportKeepTime || j.stage == stageFinished &&
		len(j.spool.unacked) == 0):
		s.job = nil
		return
	}
	s.sendHeartbeat(j.runRef(s), now)
	if s.Conn.IsConnected() {
		s.publishReports(j.spool.dueReports(now))
	}
}

// sendHeartbeat says from time to time that the agent is there, if it has to do with a run.
func (s *agentService) sendHeartbeat(of wire.RunRef, now time.Time) {
	if of.Run != "" && now.Sub(s.heartbeatAt) >= heartbeatInterval {
		s.heartbeatAt = now
		s.publishEvent(wire.Alive, of)
	}
}
