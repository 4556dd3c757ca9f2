package load

import (
	"bytes"

	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fcgi"
	"dyno/internal/engine/ring"
)

// A worker drives its connections from one thread, and shares nothing with the
// others while there is load. Each turn it waits, takes what has completed,
// sends what is due, and hands over what it counted.
type worker struct {
	plan     *Plan
	ring     ring.Ring
	kind     string // of the ring
	addrs    []ring.Addr
	speech   *speech
	newCodec func() proto.Codec
	deep     bool // a connection can have several exchanges under way
	framed   bool // bytes may come that are of no response
	gate     *gate
	id, of   int
	report   func(*metric.Snapshot) *metric.Snapshot // an empty one for a full one

	conns   []conn
	idle    fifo[uint32]  // connections that had room when last looked at, longest first
	retries fifo[arrival] // to be sent again, before all others
	timers  timers
	dialing dialing

	schedule Schedule
	sequence *sequence // of the window's requests
	warmup   *sequence // of those before it
	next     int64     // when the next request is due, after start; AtOnce
	left     int64     // requests still to begin in the window; below 0: any number

	now, began       int64 // began: the turn
	start, from, end int64 // of the load, and of the window; notYet before they are known
	limit            int64 // when the drain ends, and with it all
	over             bool  // the schedule is, or the window, or what was left
	heldUntil        int64 // when something may be sent again; notYet once it is broken off
	released         int64 // what that was before the last request: it could not be sent earlier
	outstanding      int   // exchanges under way
	up               int   // connections that are ready
	downSince        int64 // when the last of them went down
	outage           int64 // since when none could be opened; notYet: one could
	lastDone         int64
	rotate, handed   int64 // when the interval ends; where the last one did, after from

	count  *metric.Snapshot
	tally  *Tally
	share  *reshare // that it has; nil: the plan's
	routes []Route  // by request; the requests of one name share one
	route  []int
	errors failures
	ended  failures // connections that the peer ended, by what it said was wrong
	meter  meter
	pacing pacing
	rest   rest
	lag    int64 // open loop: the longest of the interval, sent later than it could be
	apart  bool  // closed loop: in this interval service time is not latency
	easing bool  // into the load, see ease
	ending Ending
	spun   int64           // waited without sleeping
	vain   bool            // the last turn did so
	notice map[string]bool // said once each
}

// notYet is an instant that has not come.
const notYet = ring.Never

// interval is how often a worker hands over what it counted, and patience how
// long it sleeps at most, so that it notices an interruption.
const (
	interval = int64(1e9)
	patience = int64(50e6)
)

// An arrival is a request that is due. With a fifth field it would no longer
// travel in registers (see proto.What), which costs a quarter of an exchange.
type arrival struct {
	due     int64
	request uint32
	counted bool  // due in the window
	past    uint8 // how often it was refused, and wasLost
}

func (w *worker) run() error {
	w.begin()
	for !w.finished() {
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
}

// begin is before the first turn.
func (w *worker) begin() {
	w.meter.prepare(w)
	w.now = w.ring.Now()
	w.start, w.from, w.end, w.limit, w.rotate = notYet, notYet, notYet, notYet, notYet
	w.downSince, w.outage = w.now, notYet
	w.rest.quickest = notYet
	w.dialing.begin(w)
	w.advance()
}

// keepTime does what is due by the clock and not by a completion.
func (w *worker) keepTime() {
	if stop := w.gate.stop.Load(); stop != 0 && !w.brokenOff() {
		w.breakOff(stop)
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
	if w.now >= w.from {
		w.meter.begin(w)
	}
	if w.now >= w.end {
		w.meter.end(w)
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
	w.start = start
	w.from = start + int64(w.plan.Warmup)
	if w.plan.Duration > 0 {
		w.end = w.from + int64(w.plan.Duration)
		w.limit = w.end + int64(w.plan.Drain)
	}
	w.rotate = w.from + interval
	w.lastDone = w.from
}

// grace is how long, after an interruption, answers to what is under way are taken: most
// are on their way, and whoever interrupts does not wait for a whole drain.
const grace = int64(50e6)

// brokenOff reports whether the run was interrupted: nothing more is sent.
func (w *worker) brokenOff() bool { return w.heldUntil == notYet }

// breakOff ends the window at the instant at which the run was interrupted.
func (w *worker) breakOff(at int64) {
	w.heldUntil = notYet
	if w.start != notYet {
		w.end = min(w.end, at)
		w.limit = min(w.limit, w.now+min(grace, int64(w.plan.Drain)))
	}
}

// idled is for how long there was nothing to do, asleep or spinning.
func (w *worker) idled() int64 { return w.ring.Idle() + w.spun }

// wake is when there will be something to do even if nothing completes.
func (w *worker) wake() int64 {
	if w.plan.Spin {
		return w.now
	}
	at := min(w.now+patience, w.timers.next(notYet), w.dialing.next, w.rotate)
	if w.start == notYet {
		if w.dialing.settled {
			at = min(at, w.now+startLead/4)
		}
		return at
	}
	if w.brokenOff() {
		return min(at, w.limit)
	}
	if w.idle.len > 0 && w.retries.len > 0 { // the last burst has left some
		at = min(at, max(w.now, w.heldUntil))
	} else if w.idle.len > 0 && !w.over {
		at = min(at, max(w.start+max(w.next, 0), w.heldUntil))
	}
	switch {
	case w.now < w.from:
		return min(at, w.from)
	case w.now < w.end:
		return min(at, w.end)
	}
	return min(at, w.limit)
}

// finished reports whether the run is over for this worker, and notes why.
func (w *worker) finished() bool {
	switch {
	case w.brokenOff():
		if w.now >= w.from && w.outstanding > 0 && w.now < w.limit {
			return false
		}
		w.ending = Interrupted
	case w.start == notYet:
		if w.gate.start.Load() != unreachable {
			return false
		}
		w.ending = Unreachable
	case w.over && w.outstanding == 0 && w.retries.len == 0 && (w.now >= w.end || w.left == 0):
		w.ending = ByDuration
		if w.left == 0 {
			w.ending = ByRequests
		}
	case w.now >= w.limit:
		w.ending = ByDuration
	case w.up == 0 && w.now-max(w.downSince, w.start) > int64(w.plan.Connecting):
		w.ending = Gone
	default:
		return false
	}
	return true
}

// advance moves on to the next arrival, if there is one.
func (w *worker) advance() {
	due, ok := w.schedule.Next()
	if !ok {
		w.over = true
		return
	}
	w.next = due
}

// due reports whether a request may be sent now.
func (w *worker) due() bool {
	if w.now < w.heldUntil || w.now >= w.limit {
		return false
	}
	if w.retries.len > 0 {
		return true
	}
	if w.over || w.now < w.start {
		return false
	}
	at := w.now
	if w.next != AtOnce {
		at = w.start + w.next
	}
	if at >= w.end {
		w.over = true
		return false
	}
	return at <= w.now
}

// take is the request that is due and that c is to send.
func (w *worker) take(c *conn) arrival {
	if w.retries.len > 0 {
		a := w.retries.head()
		w.retries.drop()
		w.resent()
		return a
	}
	var a arrival
	if w.next == AtOnce {
		a.due = c.dueSince(w.now)
	} else {
		a.due = w.start + w.next
		w.advance()
	}
	if a.counted = a.due >= w.from; a.counted {
		a.request = w.sequence.take()
		w.left--
		w.over = w.over || w.left == 0
		w.count.Sent++
		if w.now >= w.end {
			w.tally.SentAfter++
		}
	} else {
		a.request = w.warmup.take()
		w.tally.Warmup++
	}
	return a
}

// burst is to how many connections a turn sends besides those that have answered. There
// must be room in the ring for what completes meanwhile.
const burst = 1024

// issue sends every request that is due, while a connection has room for it, to so
// many at most: in a closed loop to the same connection until it is full, in an open
// loop to each in turn, and at once, for there the instant of sending is measured.
func (w *worker) issue(most int) {
	open := w.next != AtOnce
	for n := 0; n < most && w.idle.len > 0 && w.due(); {
		i := w.idle.head()
		c := &w.conns[i]
		if c.state != ready || c.codec.Room() == 0 {
			w.unlist(c)
			w.offer(i, c)
			continue
		}
		w.send(i, c, w.take(c))
		full := c.codec.Room() == 0
		if full || open {
			n++
			w.unlist(c)
			w.flush(i, c)
		} else if !w.due() {
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

// ease is issue at the beginning of a closed loop that begins with others: in small bursts,
// with rests between, so that threads that share a CPU with this one begin too. Else each
// would send to all its connections before the next has sent to its first, which takes as
// many ticks of the kernel's clock.
func (w *worker) ease() {
	w.issue(easeBurst)
	if w.start == notYet || w.now < w.start {
		return
	}
	if w.easing = w.idle.len > 0 && w.due(); w.easing {
		w.ring.Rest(w.ring.Now() + easeRest)
	}
}

// unlist takes the connection at the head of the idle from there.
func (w *worker) unlist(c *conn) {
	c.listed = false
	w.idle.drop()
}

// handOver gives away the interval's counts and begins the next.
func (w *worker) handOver() {
	w.count.From, w.count.To = w.handed, w.now-w.from
	w.handed, w.apart = w.count.To, false
	w.count.InFlight = int64(w.outstanding)
	w.meter.countWire(w)
	next := w.count.Interval + 1
	w.count = w.report(w.count)
	w.count.Interval = next
	w.rotate += interval
}

// finish counts what is left over and hands over the rest.
func (w *worker) finish() {
	w.meter.end(w)
	for i := range w.conns {
		for _, x := range w.conns[i].exchanges {
			if x.live {
				w.giveUp(x.arrival)
			}
		}
		if w.conns[i].codec != nil {
			w.conns[i].codec.Decode(nil, true) // lets go of what it may hold
			w.letGo(&w.conns[i])
		}
		if w.conns[i].served {
			w.tally.Served++
		}
		if w.left != 0 {
			w.found(&w.conns[i])
		}
	}
	for ; w.retries.len > 0; w.retries.drop() {
		w.giveUp(w.retries.head())
	}
	w.tally.Waiting = w.waiting()
	if w.plan.Target.FastCGI {
		sample, total := fcgi.Stderr(w.newCodec())
		w.tally.Stderr, w.tally.StderrBytes = bytes.Clone(sample), total
	}
	w.tally.Terms = w.settled()
	w.endOutage()
	if w.now >= w.from {
		w.handOver()
	}
}

// giveUp counts what has no answer at the end.
func (w *worker) giveUp(a arrival) {
	if a.counted {
		w.tally.Unfinished++
	} else {
		w.tally.WarmupLost++
	}
}

// waiting is how many requests were due in the window and never sent.
func (w *worker) waiting() (n int64) {
	from, till := w.from-w.start, min(w.end, w.now)-w.start
	if w.next == AtOnce || w.start == notYet || w.over || w.next >= till {
		return 0
	}
	if w.next >= from {
		n = 1
	}
	if n += w.schedule.Left(from, till); w.left >= 0 {
		n = min(n, w.left)
	}
	return n
}
