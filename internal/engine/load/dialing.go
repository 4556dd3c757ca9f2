package load

import "fmt"

// dialing is how a worker's connections come to be: one after the other at the
// asked rate, each trying the addresses in turn. The load begins when all first
// attempts have ended, well or not.
type dialing struct {
	pace    Schedule // of this worker's connections; nil: at once
	begun   int64
	dialed  int   // of the worker's connections
	next    int64 // when the next is to be dialed; notYet when all have been
	pending int   // first attempts that have not ended
	opened  int
	settled bool // all have ended
	turn    int  // addresses used
	bad     []bool
	allBad  bool
}

func (d *dialing) beginDialing(w *worker) {
	d.begun, d.pending = w.now, len(w.conns)
	d.scheduleDial()
	d.bad = make([]bool, len(w.addrs))
	d.turn = w.id
	d.dialDue(w)
}

// Where no rate was asked for, a worker dials as fast as its connections open. Once
// more than crowd of them do not, the server's queue of those to accept may be full,
// and what it then ignores is asked again by the kernel after a second only: so the
// next are dialed a batch at a time.
const (
	dialMost       = 64 // in a turn, so that the first are not forgotten over the last
	openingMost    = 256
	dialBatchDelay = int64(10e6) // between batches
)

// dialDue dials the connections whose time has come.
func (d *dialing) dialDue(w *worker) {
	for n := 0; n < dialMost && d.next <= w.now; n++ {
		i := d.dialed
		d.dialed++
		if d.scheduleDial(); d.dialed == len(w.conns) {
			d.next = notYet
		}
		w.dialConn(uint32(i))
	}
	opening := d.dialed - (len(w.conns) - d.pending)
	if d.pace == nil && d.next <= w.now && opening >= openingMost {
		d.next = w.now + dialBatchDelay
	}
}

// scheduleDial finds out when to dial the next.
func (d *dialing) scheduleDial() {
	if d.next = d.begun; d.pace != nil {
		due, _ := d.pace.Next()
		d.next += due
	}
}

// nextAddress is the one to dial next: all in turn, without those that failed while
// others did not.
func (d *dialing) nextAddress() int {
	for {
		a := d.turn % len(d.bad)
		d.turn++
		if !d.bad[a] || d.allBad {
			return a
		}
	}
}

// endFirstAttempt says that a connection's first attempt has ended.
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

// handleDialFailure is when a connection could not be opened. While it settles it
// tries every address before that counts as a failure: a name such as localhost
// has addresses at which nobody listens.
func (w *worker) handleDialFailure(i uint32, c *conn, phase Phase, err error) {
	d := &w.dialing
	if !c.settled && phase == Connect && isAboutAddress(err) && len(w.addrs) > 1 {
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

// excludeAddress takes an address out of turn, unless none would be left.
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
		w.addrs[addr], describeError(err))] = true
}

// isAboutAddress reports whether err is about who listens there, and not about
// the generator's own limits.
func isAboutAddress(err error) bool {
	kind := failureKind(err)
	return kind == "refused" || kind == "unreachable"
}
