package load

import (
	"fmt"
	"slices"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// A dialing opens a worker's connections one after the other, at --connect-rate if there is one,
// each to the next of the target's addresses. The load begins when every connection has ended its
// first attempts, with success or without.
type dialing struct {
	pace    loadplan.Schedule // of this worker's connections; nil: at once
	begun   int64
	dialed  int   // of the worker's connections
	next    int64 // when the next is to be dialed; flow.NotYet once all have been
	pending int   // first attempts that have not ended
	opened  int
	settled bool // all have ended
	turn    int  // addresses used

	fruitless int // connections with fruitlessMost failed attempts, when their last life ended
	bad       []bool
	allBad    bool
}

func (d *dialing) beginDialing(w *worker) {
	d.begun, d.pending = w.now, len(w.conns)
	d.scheduleDial()
	d.bad = make([]bool, len(w.addrs))
	d.turn = w.id
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

// nextAddress is the index of the address to dial. It goes round all that are not excluded.
func (d *dialing) nextAddress() int {
	for {
		a := d.turn % len(d.bad)
		d.turn++
		if !d.bad[a] || d.allBad {
			return a
		}
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
		w.gate.workerConnected(d.opened, w.now, w.of)
		w.openWindow()
	}
}

// handleDialFailure counts a failed attempt and dials again. At first a connection tries every
// address before that is a failure: a name such as localhost has addresses at which nobody listens.
func (w *worker) handleDialFailure(i uint32, c *conn, phase loadresult.Phase, err error) {
	d := &w.dialing
	if !c.settled && phase == loadresult.Connect && isAboutAddress(err) && len(w.addrs) > 1 {
		d.excludeAddress(w, c.addr, err)
		if c.tries++; int(c.tries) < len(w.addrs) && !d.allBad {
			c.failedAttempts = 0
			w.setTimer(i, c, w.now)
			c.again = w.now
			return
		}
	}
	w.recordFailure(c, phase, err)
	w.beginOutage(w.now)
	d.endFirstAttempt(w, c, false)
	w.redialConn(i, c)
}

// excludeAddress removes an address from those to dial, unless it is the last one.
func (d *dialing) excludeAddress(w *worker, addr int, err error) {
	if d.bad[addr] {
		return
	}
	d.bad[addr] = true
	d.allBad = true
	for _, b := range d.bad {
		d.allBad = d.allBad && b
	}
	w.notices[fmt.Sprintf("%v: %v; its share goes to the target's other addresses",
		w.addrs[addr], failure.Describe(err))] = true
}

// isAboutAddress reports whether err says that nobody listens at the address. Other errors are
// about the generator's own limits.
func isAboutAddress(err error) bool {
	kind := failure.NameOf(err)
	return kind == "refused" || kind == "unreachable"
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
// answers nothing. It is asked only while every connection has been fruitless.
func (w *worker) isUnserved() bool {
	return w.plan.Duration == 0 && w.plan.Requested > 0 &&
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
