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
	start() error
	// turn waits until something is due or has come, calls tick, and goes on with
	// the connections that can.
	turn() error
	// hear has new connections accepted from now on, or not.
	hear(on bool) error
	// open begins with a connection. Its error leaves c to the caller.
	open(c *conn) error
	// send sends out and what is due of the body, or keeps of it what it cannot.
	// Where idle, the client is to speak next.
	send(c *conn, out []byte, idle bool)
	// rest comes back to c when it can go on. It is called last, when all has been
	// done for c that could be; c may be closed.
	rest(c *conn)
	// stop ends all connections.
	stop()
	free()
}

// newLoop makes a loop that accepts from listener, which it takes over unless it
// fails.
func newLoop(s *site, c *counters, listener int) (*loop, error) {
	l := &loop{
		worker:    worker{site: s, count: c, answer: s.answer.clone()},
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

// free closes what is open. The loop does not run, or not any more.
func (l *loop) free() {
	l.ring.free()
	for _, fd := range []int{l.listener, l.wake} {
		syscall.Close(fd)
	}
}

// quit makes run return. It may be called from any goroutine before free.
func (l *loop) quit() {
	l.stopping.Store(true)
	signal(l.wake)
}

// run serves until quit. The thread ends with it.
func (l *loop) run() error {
	runtime.LockOSThread()
	if l.site.queue != nil {
		preciseTimers()
	}
	if err := l.ring.start(); err != nil {
		return err
	}
	defer l.ring.stop()
	for !l.stopping.Load() {
		if err := l.ring.turn(); err != nil {
			return err
		}
	}
	return nil
}

// patience is how long the loop may wait; negative when there is no limit.
func (l *loop) patience() time.Duration {
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
	return time.Duration(max(0, deadline-l.site.now()))
}

// tick does what is due: it is the start of each turn.
func (l *loop) tick() {
	l.now = l.site.now()
	if until := l.site.stalled(l.now); until > l.now {
		l.pause(until)
	}
	if l.now >= l.nextDate {
		t := time.Now()
		l.answer.refresh(t)
		l.nextDate = l.now + int64(time.Second) - int64(t.Nanosecond())
	}
	for len(l.jobs) > 0 && l.jobs[0].end <= l.now {
		l.reply(l.jobs.pop().conn)
	}
	for len(l.lingering) > 0 {
		c := l.lingering[0]
		if c.open() && c.deadline > l.now {
			break
		}
		l.lingering[0], l.lingering = nil, l.lingering[1:]
		l.drop(c)
	}
	if l.deafUntil > 0 && l.now >= l.deafUntil && l.ring.hear(true) == nil {
		l.deafUntil = 0
	}
}

// pause stops everything until then, but for quit.
func (l *loop) pause(until int64) {
	for l.now < until && !l.stopping.Load() {
		pauseOn(l.wake, time.Duration(until-l.now))
		l.now = l.site.now()
	}
}

// accept takes new connections.
func (l *loop) accept() {
	for range l.acceptMax {
		fd, e := accept(l.listener)
		switch e {
		case 0:
			l.open(fd)
		case syscall.EAGAIN:
			return
		case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
			l.ring.hear(false)
			l.deafUntil = l.now + int64(acceptPause)
			return
		}
	}
}
