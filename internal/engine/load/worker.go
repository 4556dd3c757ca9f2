package load

import (
	"bytes"

	"dyno/internal/engine/batching"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/goodput"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/meter"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fcgi"
	"dyno/internal/engine/rendezvous"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/sampling"
	"dyno/internal/engine/streams"
	"dyno/internal/engine/transport"
	"dyno/internal/fact"
)

// A worker drives its connections from one thread, and shares nothing with other workers under
// load. Each turn it waits for completions, handles them and sends what is due. Once a second it
// publishes what it counted. It is the loop that connects four parts, each with one job: the window
// (when), the flow (what is due), the pool (connections) and the account (what is counted). They
// are embedded by value, because their fields are read with each request. With a scenario there are
// users too (users.go, steps.go), who send their steps in its place.
type worker struct {
	own     []loadplan.Request // those of the plan, if one has statuses of its own
	ring    ring.Ring
	kind    string // of the ring
	deep    bool   // a connection can have several requests in flight
	gate    *rendezvous.Gate
	id, of  int
	publish func(*metric.Counters) *metric.Counters // takes full counters and returns empty ones

	now, turnBegan int64 // ns on the ring's clock
	flow.Window
	flow.Flow
	server
	pool
	account
	users   *users // who go through the plan's scenario; nil: it has none
	samples sampling.Sampler
	watch   meter.Watch
	streams *streams.Watch // nil: answers are no streams
	limits  goodput.Limits // of a good request; none: none is counted

	outposts []*outpost // other origins that redirects may lead to
	at       *outpost   // the one in the place of the server and pool; nil: none is

	linger    batching.Linger
	rampingIn bool              // see rampIn
	ending    loadresult.Ending // "" while there is load
}

// sleepMost is how long a worker sleeps at most, so that it notices an interruption, and if it was
// stopped meanwhile (see standstill.go).
const sleepMost = int64(10e6)

// runLoop runs the load to its end. Its error is the ring's.
func (w *worker) runLoop() error {
	w.beginRun()
	for w.ending = w.endOfRun(); w.ending == ""; w.ending = w.endOfRun() {
		w.watch.Wake = w.nextWakeUp()
		w.letGather()
		if err := w.ring.Wait(w.watch.Wake); err != nil {
			return err
		}
		w.runTurn()
	}
	w.finishRun()
	return nil
}

// runTurn handles what has completed and what is due by the clock, and sends what is due.
func (w *worker) runTurn() {
	before := w.now
	w.now = w.ring.Now()
	if w.now-w.watch.Looked >= meter.LookEvery {
		w.lookForStandstill(before)
	}
	w.turnBegan = w.now
	w.linger.BeginTurn(w.now)
	if w.streams != nil {
		w.streams.BeginTurn(w.idleTime())
	}
	w.doTimedWork(before)
	c, ok := w.ring.Next()
	if !ok && w.watch.IdleTurn {
		w.watch.Spun += w.now - before
	}
	w.watch.IdleTurn = !ok && w.plan.Spin // else the time until the next turn would count as idle
	for ; ok; c, ok = w.ring.Next() {
		if w.outposts == nil || !w.handleAbroad(c) {
			w.handleCompletion(c)
		}
	}
	if w.users != nil && len(w.users.lent) > 0 {
		w.takeBackLent()
	}
	if w.rampingIn {
		w.rampIn()
	} else {
		w.sendDue(burst)
	}
	w.sendAbroad()
	if w.idle.Len > 0 && w.now >= w.HeldUntil {
		w.EndAtWindow(w.now, &w.Window)
	}
}

// beginRun sets what must be set before the first turn, and dials the first connections.
func (w *worker) beginRun() {
	w.meter.ReadOnce(w.id == 0, w.protocols.HTTP3 != nil)
	w.now = w.ring.Now()
	w.turnBegan = w.now
	w.watch.Begin(w.now)
	w.Window, w.rotate = flow.Unopened(), flow.NotYet
	w.downSince, w.outage = w.now, flow.NotYet
	w.dialing.beginDialing(w)
	w.AdvanceArrival()
}

// doTimedWork does what the clock makes due: interruption, start, timers, dialing, the window's
// edges and the end of the interval. A worker that learns of an interruption late has sent until
// its last turn, so its window ends there.
func (w *worker) doTimedWork(lastTurn int64) {
	if stop := w.gate.Stop.Load(); stop != 0 && !w.Interrupted {
		w.Interrupt(max(stop, lastTurn+1), w.now, int64(w.plan.Drain))
		w.HeldUntil = flow.NotYet
	}
	if w.Start == flow.NotYet {
		w.openWindow()
	} else if s := w.gate.Share.Load(); s != w.Share {
		w.changeShare(s)
	}
	if w.dialing.addresses.Name != nil {
		w.addrs = w.dialing.addresses.Renew(w.addrs)
	}
	w.runTimers()
	w.runOutpostTimers()
	if w.users != nil {
		w.wakeThinking()
		w.users.followRamp(w.now, w.Start)
	}
	w.dialing.dialDue(w)
	if w.now >= w.From && !w.meter.Begun {
		w.meter.BeginWindow(w.now, w.idleTime(), w.ring)
	}
	if w.now >= w.End && w.meter.Begun && !w.meter.Ended {
		w.meter.EndWindow(w.now, w.idleTime(), w.ring)
	}
	if w.now >= w.rotate {
		w.publishCounters()
	}
}

// runTimers gives connections up, and dials them, whose instants have come.
func (w *worker) runTimers() {
	for t, ok := w.timers.PopExpired(w.now); ok; t, ok = w.timers.PopExpired(w.now) {
		w.handleTimer(t)
	}
}

// openWindow fixes the window's instants once the gate knows the start of the load.
func (w *worker) openWindow() {
	start := w.gate.Start.Load()
	if start == flow.NotYet || start == rendezvous.Unreachable {
		return
	}
	w.Window.OpenAt(start, w.plan)
	w.account.beginAt(w.From)
}

// idleTime is how many ns since the run began there was nothing to do, sleeping or spinning.
func (w *worker) idleTime() int64 { return w.ring.IdleTime() + w.watch.Spun }

// nextWakeUp is when the worker has something to do even if nothing completes. With --spin that is
// now, so the rings need no mode of their own for it. Turns that then find nothing count as idle.
func (w *worker) nextWakeUp() int64 {
	if w.plan.Spin {
		return w.now
	}
	at := min(w.now+sleepMost, w.timers.Earliest(flow.NotYet), w.dialing.next, w.rotate)
	if w.users != nil {
		at = min(at, w.users.thinking.Earliest(flow.NotYet))
	}
	for _, o := range w.outposts {
		at = min(at, o.wakeUp())
	}
	if w.Start == flow.NotYet {
		if w.dialing.settled {
			at = min(at, w.now+rendezvous.StartLead/4)
		}
		return at
	}
	if w.Interrupted {
		return min(at, w.Limit)
	}
	if w.users != nil {
		at = min(at, w.users.nextChange(w.Start))
	}
	if w.idle.Len > 0 && (w.Retries.Len > 0 || w.users.canBegin()) {
		at = min(at, w.SendableAt(w.now, &w.Window))
	}
	return min(at, w.NextEdge(w.now))
}

// endOfRun is why the run is over for this worker, or "" if it is not.
func (w *worker) endOfRun() loadresult.Ending {
	switch {
	case w.Interrupted:
		if w.now >= w.From && w.inFlight > 0 && w.now < w.Limit {
			return ""
		}
		return loadresult.Interrupted
	case w.Start == flow.NotYet:
		if w.gate.Start.Load() == rendezvous.Unreachable {
			return loadresult.Unreachable
		}
	case w.inFlight == 0 && !w.HasPending() && (w.now >= w.End || w.Left == 0):
		if w.users != nil && w.users.stopped {
			return loadresult.Stopped
		} else if w.Left == 0 {
			return loadresult.ByRequests
		}
		return loadresult.ByDuration
	case w.now >= w.Limit:
		return loadresult.ByDuration
	case w.goneFor(w.now, w.Start) > int64(w.plan.Connecting):
		return loadresult.Gone
	case w.inFlight == 0 && w.isUnserved():
		return loadresult.Unserved
	}
	return ""
}

// burst is to how many connections a turn sends, besides those that have answered: 100,000 that
// become ready together would fill io_uring's queue.
const burst = 1024

// sendDue sends the requests that are due while connections have room, to that many connections at
// most. A closed workload fills a connection before it goes on to the next. An open one takes them
// in turn and flushes each request at once, because the instant of sending is measured there.
func (w *worker) sendDue(most int) {
	open := !w.IsClosed()
	for n := 0; n < most && w.idle.Len > 0 && w.beginDue(); {
		i := w.idle.First()
		c := &w.conns[i]
		if c.state != ready || c.codec.Room() == 0 {
			w.dropIdle(c)
			w.listIfRoom(i, c)
			continue
		}
		a := w.nextDue(c)
		w.countSent(a, w.now, &w.Window)
		w.sendRequest(i, c, a)
		full := c.codec.Room() == 0
		if full || open {
			n++
			w.dropIdle(c)
			w.flushOutput(i, c)
		} else if !w.beginDue() {
			w.flushOutput(i, c)
		}
		if open || full && w.idle.Len > 0 {
			w.now = w.ring.Now()
		}
		if open || w.deep { // until now the rest of a body may have left no room
			w.listIfRoom(i, c)
		}
	}
}

// To how many connections a turn of the ramp-in sends, and how many ns it then sleeps.
const (
	rampInBurst = 16
	rampInDelay = int64(50e3)
)

// rampIn is sendDue at the beginning of a closed workload that begins with others: in small bursts
// with sleeps between, so that threads that share a CPU with this one begin too. With three agents
// and nginx on two CPUs, the starts lay 3.3 to 5.0 ms apart, and 5.7 to 7.7 without the ramp-in.
func (w *worker) rampIn() {
	w.sendDue(rampInBurst)
	if w.Start == flow.NotYet || w.now < w.Start {
		return
	}
	if w.rampingIn = w.idle.Len > 0 && w.beginDue(); w.rampingIn {
		w.ring.Gather(w.ring.Now()+rampInDelay, ring.AnyNumber)
	}
}

// letGather lets answers gather while all connections are ready: else a handshake would wait.
func (w *worker) letGather() {
	if w.linger.For == 0 || w.rampingIn || w.up < len(w.conns) {
		return
	}
	until := min(w.turnBegan+w.linger.For, w.watch.Wake)
	if until > w.ring.Now() && w.ring.Gather(until, w.linger.Enough(w.inFlight, w.totals.Room > 1)) {
		w.linger.Begin()
	}
}

// publishCounters publishes the counters of the interval and begins the next one.
func (w *worker) publishCounters() {
	w.endInterval(w.now, w.From, w.inFlight)
	w.meter.CountQUICBytes(w.ring, w.counters)
	next := w.counters.Interval + 1
	w.beginInterval(w.publish(w.counters), next)
	w.prepareCounters()
}

// prepareCounters has the interval's counters count what the plan has.
func (w *worker) prepareCounters() {
	if loadresult.PrepareCounters(w.plan, w.counters); w.streams != nil {
		w.streams.Counters = w.counters.Stream
	}
}

// finishRun counts unanswered requests, and publishes the last interval.
func (w *worker) finishRun() {
	w.watch.Wake = flow.NotYet
	w.lookForStandstill(w.now)
	if w.meter.Begun && !w.meter.Ended {
		w.meter.EndWindow(w.now, w.idleTime(), w.ring)
	}
	w.endConns()
	w.dialing.addresses.CountInto(&w.totals.AddressTotals)
	if w.users != nil {
		w.finishScenario() // a step that is lent may lead to another origin
	}
	if w.finishOutposts(); w.streams != nil {
		w.totals.Rain = w.streams.Rain(w.From)
	}
	for ; w.Retries.Len > 0; w.Retries.DropHead() {
		if a := w.Retries.First(); w.users == nil || a.Past > 0 { // else a step that was never sent
			w.countUnanswered(&exchange{Arrival: a}, false)
		}
	}
	if w.ending == loadresult.Gone || w.ending == loadresult.Unserved {
		w.totals.Waiting, w.totals.Waited = w.TakeWaiting(w.now, &w.Window)
	}
	w.totals.Waiting += w.Backlog(w.now, &w.Window)
	if w.plan.Target.FastCGI {
		sample, total := fcgi.Stderr(w.newCodec(nil))
		w.totals.Stderr, w.totals.StderrBytes = bytes.Clone(sample), total
	}
	w.totals.Terms = transport.Settled(w.plan, func() proto.Codec { return w.newCodec(nil) })
	if w.WasHeld() && w.plan.Cap == 0 {
		w.notices[fact.OwnerAllows{Rate: w.plan.OwnerLimit.PerSecond()}] = true
	}
	if w.now >= w.From {
		w.publishCounters()
	}
}

// endConns counts what was in flight on the connections, and frees their codecs.
func (w *worker) endConns() {
	for i := range w.conns {
		c := &w.conns[i]
		w.endConnRequests(c)
		if c.codec != nil {
			c.codec.Decode(nil, true) // the codec frees its buffers
			w.releaseCodec(c)
		}
		w.dialing.addresses.Carried(c.Call, c.used, c.state == ready)
		if c.served && w.at == nil {
			w.totals.Served++
		}
	}
	if w.at == nil {
		for _, o := range w.outposts {
			w.enter(o)
			w.endConns()
			w.leave()
		}
	}
}
