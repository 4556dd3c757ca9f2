package load

import (
	"bytes"

	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fcgi"
	"dyno/internal/engine/ring"
)

// A worker drives its connections from one thread, and shares nothing with the others while
// there is load. Each turn it waits for completions, handles them and sends what is due; once a
// second it gives away what it counted. It is the loop that connects four parts, each with one
// job: the window (when), the flow (what is due), the pool (connections) and the account (what
// is counted). They are embedded by value, for their fields are read with each request.
type worker struct {
	plan     *Plan
	ring     ring.Ring
	kind     string // of the ring
	addrs    []ring.Addr
	speech   *speech
	newCodec func() proto.Codec
	deep     bool // a connection can have several requests in flight
	framed   bool // bytes may come that are of no response
	gate     *gate
	id, of   int
	report   func(*metric.Snapshot) *metric.Snapshot // an empty one for a full one

	now, began int64 // began: the turn
	window
	flow
	pool
	account

	rest   rest
	easing bool   // into the load, see ease
	spun   int64  // waited without sleeping
	vain   bool   // the last turn did so
	ending Ending // "" while there is load
}

// sleepMost is how long a worker sleeps at most, so that it notices an interruption.
const sleepMost = int64(50e6)

func (w *worker) run() error {
	w.begin()
	for w.ending = w.endOfRun(); w.ending == ""; w.ending = w.endOfRun() {
		w.pause()
		if err := w.ring.Wait(w.wake()); err != nil {
			return err
		}
		w.turn()
	}
	w.finish()
	return nil
}

// turn is all that there is to do at one time.
func (w *worker) turn() {
	before := w.now
	w.now = w.ring.Now()
	w.began = w.now
	w.keepTime()
	c, ok := w.ring.Next()
	if !ok && w.vain {
		w.spun += w.now - before
	}
	w.vain = !ok && w.plan.Spin // else the time until the next turn begins goes into sending
	for ; ok; c, ok = w.ring.Next() {
		w.complete(c)
	}
	if w.easing {
		w.ease()
	} else {
		w.issue(burst)
	}
	if w.idle.len > 0 && w.now >= w.heldUntil {
		w.endWith(w.now, &w.window)
	}
}

// begin is before the first turn.
func (w *worker) begin() {
	w.meter.prepare(w.id == 0, w.speech.http3 != nil)
	w.now = w.ring.Now()
	w.window, w.rotate = unopenedWindow(), notYet
	w.downSince, w.outage = w.now, notYet
	w.rest.quickest = notYet
	w.dialing.begin(w)
	w.advance()
}

// keepTime does what is due by the clock and not by a completion.
func (w *worker) keepTime() {
	if stop := w.gate.stop.Load(); stop != 0 && !w.interrupted {
		w.interrupt(stop, w.now, int64(w.plan.Drain))
		w.heldUntil = notYet
	}
	if w.start == notYet {
		w.awaitStart()
	} else if s := w.gate.share.Load(); s != w.share {
		w.takeShare(s)
	}
	for t, ok := w.timers.pop(w.now); ok; t, ok = w.timers.pop(w.now) {
		w.expire(t)
	}
	w.rest.renew(w.now)
	w.dialing.step(w)
	if w.now >= w.from && !w.meter.begun {
		w.meter.begin(w.now, w.idled(), w.ring)
	}
	if w.now >= w.end && w.meter.begun && !w.meter.ended {
		w.meter.end(w.now, w.idled(), w.ring)
	}
	if w.now >= w.rotate {
		w.handOver()
	}
}

// awaitStart fixes the window once the gate is open.
func (w *worker) awaitStart() {
	start := w.gate.start.Load()
	if start == notYet || start == unreachable {
		return
	}
	w.window.open(start, w.plan)
	w.account.beginAt(w.from)
}

// idled is for how long there was nothing to do, asleep or spinning.
func (w *worker) idled() int64 { return w.ring.Idle() + w.spun }

// wake is when there will be something to do even if nothing completes.
func (w *worker) wake() int64 {
	if w.plan.Spin {
		return w.now
	}
	at := min(w.now+sleepMost, w.timers.next(notYet), w.dialing.next, w.rotate)
	if w.start == notYet {
		if w.dialing.settled {
			at = min(at, w.now+startLead/4)
		}
		return at
	}
	if w.interrupted {
		return min(at, w.limit)
	}
	if w.idle.len > 0 {
		at = min(at, w.sendableAt(w.now, &w.window))
	}
	return min(at, w.nextEdge(w.now))
}

// endOfRun is why the run is over for this worker, or "" if it is not.
func (w *worker) endOfRun() Ending {
	switch {
	case w.interrupted:
		if w.now >= w.from && w.inFlight > 0 && w.now < w.limit {
			return ""
		}
		return Interrupted
	case w.start == notYet:
		if w.gate.start.Load() == unreachable {
			return Unreachable
		}
	case w.inFlight == 0 && !w.pending() && (w.now >= w.end || w.left == 0):
		if w.left == 0 {
			return ByRequests
		}
		return ByDuration
	case w.now >= w.limit:
		return ByDuration
	case w.goneFor(w.now, w.start) > int64(w.plan.Connecting):
		return Gone
	}
	return ""
}

// burst is to how many connections a turn sends besides those that have answered. There
// must be room in the ring for what completes meanwhile.
const burst = 1024

// issue sends every request that is due, while a connection has room for it, to so
// many at most: in a closed workload to the same connection until it is full, in an open
// one to each in turn, and at once, for there the instant of sending is measured.
func (w *worker) issue(most int) {
	open := w.next != AtOnce
	for n := 0; n < most && w.idle.len > 0 && w.due(w.now, &w.window); {
		i := w.idle.head()
		c := &w.conns[i]
		if c.state != ready || c.codec.Room() == 0 {
			w.unlist(c)
			w.offer(i, c)
			continue
		}
		a := w.nextRequest(c.dueSince(w.now), &w.window)
		w.countSent(a, w.now >= w.end)
		w.send(i, c, a)
		full := c.codec.Room() == 0
		if full || open {
			n++
			w.unlist(c)
			w.flush(i, c)
		} else if !w.due(w.now, &w.window) {
			w.flush(i, c)
		}
		if open || full && w.idle.len > 0 {
			w.now = w.ring.Now()
		}
		if open || w.deep { // the rest of a body may have left no room until now
			w.offer(i, c)
		}
	}
}

// What a turn sends that eases into a load, and for how long it then rests.
const (
	easeBurst = 16
	easeRest  = int64(50e3)
)

// ease is issue at the beginning of a closed workload that begins with others: in small bursts,
// with rests between, so that threads that share a CPU with this one begin too. Else each
// would send to all its connections before the next has sent to its first, which takes as
// many ticks of the kernel's clock.
func (w *worker) ease() {
	w.issue(easeBurst)
	if w.start == notYet || w.now < w.start {
		return
	}
	if w.easing = w.idle.len > 0 && w.due(w.now, &w.window); w.easing {
		w.ring.Rest(w.ring.Now() + easeRest)
	}
}

// handOver gives away the interval's counters and begins the next.
func (w *worker) handOver() {
	w.endInterval(w.now, w.from, w.inFlight)
	w.meter.countWire(w.ring, w.count)
	next := w.count.Interval + 1
	w.beginInterval(w.report(w.count), next)
}

// finish counts what is left over and hands over the rest.
func (w *worker) finish() {
	if w.meter.begun && !w.meter.ended {
		w.meter.end(w.now, w.idled(), w.ring)
	}
	for i := range w.conns {
		c := &w.conns[i]
		for _, x := range c.exchanges {
			if x.live {
				w.countUnanswered(x.arrival)
			}
		}
		if c.codec != nil {
			c.codec.Decode(nil, true) // lets go of what it may hold
			w.letGo(c)
		}
		if c.served {
			w.tally.Served++
		}
		if w.left != 0 {
			w.found(c)
		}
	}
	for ; w.retries.len > 0; w.retries.drop() {
		w.countUnanswered(w.retries.head())
	}
	w.tally.Waiting = w.backlog(w.now, &w.window)
	if w.plan.Target.FastCGI {
		sample, total := fcgi.Stderr(w.newCodec())
		w.tally.Stderr, w.tally.StderrBytes = bytes.Clone(sample), total
	}
	w.tally.Terms = w.settled()
	w.endOutage()
	w.noteCeiling()
	if w.now >= w.from {
		w.handOver()
	}
}
