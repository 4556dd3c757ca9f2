//go:build amd64 || arm64

package target

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	inSize      = 64 << 10 // bytes received at once
	eventsMax   = 512      // taken from epoll at once
	sweepMin    = 8        // connections that answered, below which epoll is cheaper
	sweepShare  = 4        // sweep while one in so many of all did
	acceptEvery = 16       // sweeps between looks for new connections
)

// A loop serves its connections on one thread.
type loop struct {
	worker
	ep, wake, listener int
	acceptMax          int // connections taken in one turn

	conns     []*conn // in no order
	byFD      []*conn
	jobs      jobs
	order     uint64  // of the last of them
	lingering []*conn // in the order of their deadlines
	deafUntil int64   // no descriptor was left: accept none until then
	now       int64
	nextDate  int64
	sweeps    int
	timed     bool // each request needs an instant of its own
	stopping  atomic.Bool

	in, out []byte
	events  []syscall.EpollEvent
	gather  gather
}

// newLoop makes a loop that accepts from listener, which it takes over.
func newLoop(s *site, c *counters, listener int) (*loop, error) {
	l := &loop{
		worker:    worker{site: s, count: c, answer: s.answer.clone()},
		ep:        -1,
		wake:      -1,
		listener:  listener,
		acceptMax: 64,
		timed:     s.queue != nil || s.log != nil,
		in:        make([]byte, inSize),
		events:    make([]syscall.EpollEvent, eventsMax),
	}
	var err error
	if l.ep, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if l.wake, err = newEvent(); err == nil {
		err = l.watch(syscall.EPOLL_CTL_ADD, l.wake, syscall.EPOLLIN)
	}
	if err == nil {
		err = l.hear()
	}
	if err != nil {
		syscall.Close(l.ep)
		syscall.Close(l.wake)
	}
	return l, err
}

// free closes all that is open.
func (l *loop) free() {
	for len(l.conns) > 0 {
		l.drop(l.conns[0])
	}
	for _, fd := range []int{l.listener, l.wake, l.ep} {
		syscall.Close(fd)
	}
}

// quit makes run return. It may be called from any goroutine before free.
func (l *loop) quit() {
	l.stopping.Store(true)
	ring(l.wake)
}

// run serves until quit. The thread ends with it.
func (l *loop) run() error {
	runtime.LockOSThread()
	if l.site.queue != nil {
		preciseTimers()
	}
	for hits := 0; !l.stopping.Load(); {
		if hits >= sweepMin && hits*sweepShare >= len(l.conns) {
			hits = l.sweep()
			continue
		}
		var err error
		if hits, err = l.poll(); err != nil {
			return err
		}
	}
	return nil
}

// sweep asks every connection. It returns how many had something to say.
func (l *loop) sweep() (hits int) {
	l.tick()
	if l.sweeps++; l.sweeps%acceptEvery == 0 {
		l.accept()
	}
	// Backwards, since the last connection takes the place of one dropped.
	for i := len(l.conns) - 1; i >= 0; i-- {
		if i < len(l.conns) && l.ready(l.conns[i], false) {
			hits++
		}
	}
	return hits
}

// poll asks epoll which connections have something to say, and waits for one.
func (l *loop) poll() (hits int, err error) {
	n, err := waitFor(l.ep, l.events, l.patience())
	if err != nil {
		return 0, err
	}
	l.tick()
	const ended = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
	for _, ev := range l.events[:n] {
		switch fd := int(ev.Fd); fd {
		case l.wake:
		case l.listener:
			l.accept()
		default:
			if c := l.byFD[fd]; c != nil && l.ready(c, ev.Events&ended != 0) {
				hits++
			}
		}
	}
	return hits, nil
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
	if l.deafUntil > 0 && l.now >= l.deafUntil && l.hear() == nil {
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
			l.watch(syscall.EPOLL_CTL_DEL, l.listener, 0)
			l.deafUntil = l.now + int64(acceptPause)
			return
		}
	}
}

// hear makes epoll report new connections. Where loops share a socket, one is
// woken for each.
func (l *loop) hear() error {
	return l.watch(syscall.EPOLL_CTL_ADD, l.listener, syscall.EPOLLIN|exclusive)
}

func (l *loop) watch(op, fd int, events uint32) error {
	ev := syscall.EpollEvent{Events: events, Fd: int32(fd)}
	return syscall.EpollCtl(l.ep, op, fd, &ev)
}

// A job is a request that is being served, or waits to be.
type job struct {
	end   int64 // of its service
	order uint64
	conn  *conn
}

// jobs is a heap, the job that ends first at its top.
type jobs []job

func (j jobs) before(a, b int) bool {
	if j[a].end != j[b].end {
		return j[a].end < j[b].end
	}
	return j[a].order < j[b].order
}

func (j *jobs) push(added job) {
	*j = append(*j, added)
	h := *j
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.before(i, up) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (j *jobs) pop() job {
	h := *j
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], job{}
	h = h[:last]
	*j = h
	for i := 0; ; {
		first := i
		for down := 2*i + 1; down <= 2*i+2 && down < last; down++ {
			if h.before(down, first) {
				first = down
			}
		}
		if first == i {
			return top
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}
