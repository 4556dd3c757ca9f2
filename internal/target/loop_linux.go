//go:build amd64 || arm64

package target

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

const inSize = 64 << 10 // bytes received at once

// A loop serves its connections on one thread.
type loop struct {
	worker
	ring           ring
	wake, listener int
	acceptMax      int // connections taken in one turn

	conns     []*conn // in no order
	byFD      []*conn
	jobs      jobs
	order     uint64  // of the last of them
	lingering []*conn // in the order of their deadlines
	deafUntil int64   // no descriptor was left: accept none until then
	now       int64
	nextDate  int64
	timed     bool // each request needs an instant of its own
	stopping  atomic.Bool

	in, out []byte
	gather  gather
}

// A ring is how a loop waits, receives and sends. All but free is called by the
// loop's thread.
type ring interface {
	startRing() error
	// runTurn waits until something is due or has come, calls runTimers, and goes on with
	// the connections that can.
	runTurn() error
	// setAccepting has new connections accepted from now on, or not.
	setAccepting(on bool) error
	// addConn begins with a connection. Its error leaves c to the caller.
	addConn(c *conn) error
	// sendAnswer sends out and what is due of the body, or keeps of it what it cannot.
	// Where idle, the client is to speak next.
	sendAnswer(c *conn, out []byte, idle bool)
	// awaitConn comes back to c when it can go on. It is called last, when all has been
	// done for c that could be; c may be closed.
	awaitConn(c *conn)
	// closeConns ends all connections.
	closeConns()
	closeRing()
}

// newLoop makes a loop that accepts from listener, which it takes over unless it
// fails.
func newLoop(s *site, c *counters, listener int) (*loop, error) {
	l := &loop{
		worker:    worker{site: s, count: c, answer: s.answer.cloneHeads()},
		wake:      -1,
		listener:  listener,
		acceptMax: 64,
		timed:     s.queue != nil || s.log != nil,
		in:        make([]byte, inSize),
	}
	var err error
	if l.wake, err = newEvent(); err != nil {
		return nil, err
	}
	if l.ring, err = newRing(s.Ring, l); err != nil {
		syscall.Close(l.wake)
		return nil, err
	}
	return l, nil
}

// closeAll closes what is open. The loop does not run, or not any more.
func (l *loop) closeAll() {
	l.ring.closeRing()
	for _, fd := range []int{l.listener, l.wake} {
		syscall.Close(fd)
	}
}

// requestStop makes run return. It may be called from any goroutine before free.
func (l *loop) requestStop() {
	l.stopping.Store(true)
	signalEvent(l.wake)
}

// runLoop serves until requestStop. The thread ends with it.
func (l *loop) runLoop() error {
	runtime.LockOSThread()
	if l.site.queue != nil {
		preciseTimers()
	}
	if err := l.ring.startRing(); err != nil {
		return err
	}
	defer l.ring.closeConns()
	for !l.stopping.Load() {
		if err := l.ring.runTurn(); err != nil {
			return err
		}
	}
	return nil
}

// waitTimeout is how long the loop may wait; negative when there is no limit.
func (l *loop) waitTimeout() time.Duration {
	deadline := int64(never)
	if len(l.jobs) > 0 {
		deadline = l.jobs[0].end
	}
	if len(l.lingering) > 0 {
		deadline = min(deadline, l.lingering[0].deadline)
	}
	if l.deafUntil > 0 {
		deadline = min(deadline, l.deafUntil)
	}
	if deadline == never {
		return -1
	}
	return time.Duration(max(0, deadline-l.site.sinceStart()))
}

// runTimers does what is due: it is the start of each turn.
func (l *loop) runTimers() {
	l.now = l.site.sinceStart()
	if until := l.site.stallEnd(l.now); until > l.now {
		l.pauseUntil(until)
	}
	if l.now >= l.nextDate {
		t := time.Now()
		l.answer.refreshDate(t)
		l.nextDate = l.now + int64(time.Second) - int64(t.Nanosecond())
	}
	for len(l.jobs) > 0 && l.jobs[0].end <= l.now {
		l.sendServed(l.jobs.popJob().conn)
	}
	for len(l.lingering) > 0 {
		c := l.lingering[0]
		if c.isOpen() && c.deadline > l.now {
			break
		}
		l.lingering[0], l.lingering = nil, l.lingering[1:]
		l.dropConn(c)
	}
	if l.deafUntil > 0 && l.now >= l.deafUntil && l.ring.setAccepting(true) == nil {
		l.deafUntil = 0
	}
}

// pauseUntil stops everything until then, but for quit.
func (l *loop) pauseUntil(until int64) {
	for l.now < until && !l.stopping.Load() {
		pauseThread(l.wake, time.Duration(until-l.now))
		l.now = l.site.sinceStart()
	}
}

// acceptConns takes new connections.
func (l *loop) acceptConns() {
	for range l.acceptMax {
		fd, e := acceptConn(l.listener)
		switch e {
		case 0:
			l.openConn(fd)
		case syscall.EAGAIN:
			return
		case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
			l.ring.setAccepting(false)
			l.deafUntil = l.now + int64(acceptPause)
			return
		}
	}
}
