package load

import (
	"slices"

	"dyno/internal/engine/dial"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// A dialing opens a worker's connections one after the other, at --connect-rate if there is one,
// each to the next of the target's addresses that are not lost (package dial). The load begins when
// every connection has ended its first attempts, with success or without.
type dialing struct {
	pace    loadplan.Schedule // of this worker's connections; nil: at once
	begun   int64
	dialed  int   // of the worker's connections
	next    int64 // when the next is to be dialed; flow.NotYet once all have been
	pending int   // first attempts that have not ended
	opened  int
	settled bool // all have ended

	fruitless int // connections with fruitlessMost failed attempts, when their last life ended
	addresses dial.Addresses
}

func (d *dialing) beginDialing(w *worker) {
	d.begun, d.pending = w.now, len(w.conns)
	d.scheduleDial()
	d.dialDue(w)
}

// Without --connect-rate a worker dials as fast as its connections open. Once openingMost are still
// opening, the server's accept queue may be full. The kernel retries a connect that was dropped
// there only after a second, so from then on the worker dials in batches.
const (
	dialMost       = 64 // in a turn, so that connections that are ready do not wait for long
	openingMost    = 256
	dialBatchDelay = int64(10e6) // between batches
)

// dialDue dials the connections that are due.
func (d *dialing) dialDue(w *worker) {
	for n := 0; n < dialMost && d.next <= w.now; n++ {
		i := d.dialed
		d.dialed++
		if d.scheduleDial(); d.dialed == len(w.conns) {
			d.next = flow.NotYet
		}
		w.dialConn(uint32(i))
	}
	opening := d.dialed - (len(w.conns) - d.pending)
	if d.pace == nil && d.next <= w.now && opening >= openingMost {
		d.next = w.now + dialBatchDelay
	}
}

// scheduleDial sets when the next connection is dialed.
func (d *dialing) scheduleDial() {
	if d.next = d.begun; d.pace != nil {
		due, _ := d.pace.Next()
		d.next += due
	}
}

// endFirstAttempt counts a connection whose first attempts have ended. With the last one the worker
// reports to the gate.
func (d *dialing) endFirstAttempt(w *worker, c *conn, opened bool) {
	if c.settled {
		return
	}
	c.settled = true
	if opened {
		d.opened++
	}
	if d.pending--; d.pending == 0 {
		d.settled = true
		w.gate.WorkerConnected(d.opened, w.now, w.of)
		w.openWindow()
	}
}

// takeOther reports whether a completion that is none of the connection's own call becomes one:
// another address has connected first.
func (w *worker) takeOther(i uint32, c *conn, done ring.Completion) bool {
	if done.Op != ring.Connected {
		return false
	}
	w.now = w.ring.Now()
	call, connected := w.dialing.addresses.Hear(i, c.Call, uint32(done.User>>32), done.Err, w.now)
	if call.Life != c.Life {
		w.continueWith(i, c, call)
	}
	return connected
}

// continueWith goes on with another call of a connection that is being dialed, or with the same.
func (w *worker) continueWith(i uint32, c *conn, call dial.Call) {
	c.Call = call
	w.setTimer(i, c, w.nextDeadline(c))
}

// handleDialFailure counts a failed attempt and dials again.
func (w *worker) handleDialFailure(i uint32, c *conn, phase loadresult.Phase, err error) {
	if w.at != nil {
		w.failAttempted(i, c, phase, err)
		w.spareConn(i, c)
		return
	}
	w.recordFailure(c, phase, err)
	w.beginOutage(w.now)
	w.dialing.endFirstAttempt(w, c, false)
	w.redialConn(i, c)
}

// After a failed attempt a connection is dialed again after a pause that doubles from redialFirst
// to redialMost, in ns, so that a server that refuses is not dialed as fast as the loop turns.
// After a life that completed a request it is dialed at once.
const (
	redialFree  = 1 // failed attempts without a pause
	redialFirst = int64(1e6)
	redialMost  = int64(500e6)
)

// fruitlessMost is how many lives of each connection in a row may end without an answer if only the
// number of requests ends the load. The pauses between them add up to 10 s.
const fruitlessMost = 29

// isUnserved reports whether the load would go on for hours: the server ends each connection, and
// answers nothing. What is in flight may still be answered; meanwhile nothing is dialed.
func (w *worker) isUnserved() bool {
	return w.dialing.fruitless == len(w.conns) && w.plan.Duration == 0 && w.plan.Requested > 0 &&
		!slices.ContainsFunc(w.conns, func(c conn) bool { return c.used > 0 && c.state != down })
}

// countAttempt counts a life that has ended.
func (w *worker) countAttempt(c *conn) {
	if c.used > 0 {
		if c.failedAttempts >= fruitlessMost {
			w.dialing.fruitless--
		}
		c.failedAttempts = 0
	} else if c.failedAttempts <= fruitlessMost {
		if c.failedAttempts++; c.failedAttempts == fruitlessMost {
			w.dialing.fruitless++
		}
	}
}

// redialConn begins the next life now or after a pause, if there is something left to send.
func (w *worker) redialConn(i uint32, c *conn) {
	if w.at != nil {
		w.spareConn(i, c)
		return
	}
	w.EndAtWindow(w.now, &w.Window) // sendDue does not check this when every connection is down
	if w.Interrupted || !w.HasPending() {
		return
	}
	if c.failedAttempts == 0 {
		w.dialConn(i)
		return
	}
	c.again = w.now
	if n := int(c.failedAttempts) - redialFree; n > 0 {
		c.again += min(redialFirst<<min(n-1, 20), redialMost)
	}
	w.setTimer(i, c, c.again) // not from here: a dial that fails at once would recur
}

// lostAddresses are the addresses that the workers lost.
func lostAddresses(workers []*worker, from int64) []loadresult.LostAddress {
	all, up := make([]*dial.Addresses, len(workers)), 0
	for i, w := range workers {
		all[i] = &w.dialing.addresses
		up += w.up
	}
	return dial.Lost(all, up, from)
}
