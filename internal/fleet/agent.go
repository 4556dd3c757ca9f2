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
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fleet/policy"
	"dyno/internal/fleet/wire"
	"dyno/internal/remote"
)

// An Agent puts a machine at a fleet's service. It carries out plans that Verify accepts and
// Policy allows, one at a time, and obeys only instructions that Verify accepts.
type Agent struct {
	Conn   *nats.Conn
	Name   string // a wire.ValidName that no other agent on the bus has
	Weight int    // of its part of the plan, relative to other agents; 0: one for each core
	Policy *policy.Policy
	Verify func(text, signature []byte) error // fails unless signature is the controller's
	Sign   func(text []byte) ([]byte,
		error) // by its own key; nil: it has none
	Lookup     policy.Lookup              // nil: the system's
	Log        func(string)               // gets each line of what it does; nil: none
	WatchOnly  bool                       // it carries out no plan; see package watch
	ChooseRing func(loadplan.Plan) string // the I/O ring for a plan here; nil: the plan's

	// Load makes a load, in a process of its own: whatever a plan holds, that process can be killed,
	// and the agent goes on. nil: this process makes it.
	Load func(ctx context.Context, p loadplan.Plan, meet load.Barrier, shares <-chan load.Share,
		each func(loadresult.Interval)) (*loadresult.Result, error)

	version string        // in place of loadplan.Version, in tests
	skew    time.Duration // by which its clocks are off, in tests
	lease   time.Duration // in place of Lease, in tests that are not about time; 0: Lease
}

// An agentService is an Agent that serves. All of it belongs to the goroutine of its loop; other
// goroutines hand functions to the loop by loopCalls.
type agentService struct {
	*Agent
	epoch        string
	key          nkeys.KeyPair // that orders are sealed to; made anew for each process
	publicKey    string
	proof        []byte // its signature by Agent.Sign; nil: the agent has no key of its own
	nonces       wire.Nonces
	clock        clock
	loopCalls    chan func() // functions for the loop to call
	loopEnded    chan struct{}
	goroutines   sync.WaitGroup
	pendingOrder orderInPieces
	job          *job
	heartbeatAt  time.Time

	ignored wire.LimitedLog
}

// Serve carries out a controller's orders until ctx ends. A load in progress ends then too. The
// error says why the agent cannot take part.
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

// makeKeys makes the keys of this process, and signs the public one with the agent's own.
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

// runLoop handles messages, calls and timers in turn until ctx ends, and then waits for the
// goroutines it has started. What was measured until then is still reported, within finalGrace.
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

// callInLoop has the loop call f, unless the loop has ended.
func (s *agentService) callInLoop(f func()) {
	select {
	case s.loopCalls <- f:
	case <-s.loopEnded:
	}
}

// callInLoopAndWait is callInLoop, and returns when f has returned or the loop has ended.
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

// handleCommand decodes a command and carries it out.
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

// decodeCommand calls f with a decoded message.
func decodeCommand[M any](m *nats.Msg, f func(M)) error {
	var message M
	if err := wire.Decode(m.Data, &message); err != nil {
		return err
	}
	f(message)
	return nil
}

// hasRun reports whether a message belongs to this process's run. Such a message need not be the
// controller's, because it is not signed, so it does not count as a sign of life.
func (s *agentService) hasRun(of wire.RunRef) bool {
	return s.job != nil && of == s.job.runRef(s)
}

// publishEvent sends an event to the controller. If it cannot be sent now it is lost; reports are
// sent again.
func (s *agentService) publishEvent(what string, m any) {
	s.Conn.Publish(wire.EventSubject(s.Name, what), wire.Encode(m))
}

// logLine tells the machine's owner what is going on.
func (s *agentService) logLine(format string, args ...any) {
	if s.Log != nil {
		s.Log(fmt.Sprintf(format, args...))
	}
}

// logIgnored tells the owner what was not done, and why.
func (s *agentService) logIgnored(what string, why error, now time.Time) {
	s.ignored.Print(what, why, now)
}

// reportKeepTime is how long an agent keeps reports for a silent controller, and pieces of an
// order for the missing ones.
const reportKeepTime = time.Minute

// checkTimers sends heartbeats, repeats reports that were not acknowledged, stops a load whose
// controller is silent, and drops what is too old.
func (s *agentService) checkTimers(now time.Time) {
	j := s.job
	if now.Sub(s.pendingOrder.lastPieceAt) > reportKeepTime {
		s.pendingOrder = orderInPieces{} // the others will not come
	}
	if j == nil {
		s.sendHeartbeat(s.pendingOrder.of, now)
		return
	}
	silence := now.Sub(j.heardAt)
	switch {
	case !j.isOver() && j.ctx.Err() == nil && silence > cmp.Or(s.lease, Lease):
		s.logLine("nothing was heard of the controller for %v: stopped", cmp.Or(s.lease, Lease))
		s.stopJob("nothing was heard of the controller", remote.ErrNobodyWaits)
	case j.isOver() && (silence > reportKeepTime || !j.isAwaited()):
		s.job = nil
		return
	}
	s.sendHeartbeat(j.runRef(s), now)
	if s.Conn.IsConnected() {
		s.publishReports(j.spool.dueReports(now))
	}
}

// sendHeartbeat sends a heartbeat if the agent has a run and the last heartbeat is old enough.
func (s *agentService) sendHeartbeat(of wire.RunRef, now time.Time) {
	if of.Run != "" && now.Sub(s.heartbeatAt) >= heartbeatInterval {
		s.heartbeatAt = now
		s.publishEvent(wire.Alive, of)
	}
}
