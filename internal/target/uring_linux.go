//go:build amd64 || arm64

package target

import (
	"fmt"
	"syscall"
	"time"

	"dyno/internal/engine/uring"
)

const (
	pieceMax  = 2 << 10 // bytes that io_uring receives at once
	submitMax = 64      // entries queued before they are submitted within a turn
	freeing   = time.Second
)

// A uringRing has io_uring receive, and send what is small: the answer and, linked
// to it, the receive of the next request are submitted with those of other
// connections by one system call a turn, which also takes in what has come.
//
// Whatever is not so simple, large or the last of its connection, is done as with
// epoll, by system calls that do not block; the kernel is then asked to wait
// until one can go on.
//
// Of each connection at most one thing is under way in the kernel, a receive with
// or without a send before it, or a wait. It ends with one completion: a send that
// succeeds has none, and takes that of the receive with it when it fails. So a
// descriptor names it, for none is closed before.
type uringRing struct {
	*loop
	queues uring.Queues
	late   []*conn // those for which there was no room among the entries
	under  int     // descriptors of which something is under way
}

// In an entry's UserData the kind is below the descriptor.
const (
	kindSend = iota
	kindReceive
	kindWait
	kindBits = 2
)

func newURing(l *loop) (ring, error) {
	r := &uringRing{loop: l}
	if err := r.queues.Open(); err != nil {
		return nil, err
	}
	if !r.queues.Deferred() { // before, a send in part was not told from none
		r.queues.Close()
		return nil, fmt.Errorf("io_uring is %w: it needs Linux 6.1; or use --ring epoll",
			uring.ErrRefused)
	}
	return r, nil
}

func (r *uringRing) startRing() error {
	if err := r.queues.Start(); err != nil {
		return err
	}
	r.queuePoll(r.wake, uring.In)
	return r.setAccepting(true)
}

// closeConns waits until the kernel has let go of all memory and of the listener, but
// not for ever.
func (r *uringRing) closeConns() {
	r.requestStop()
	syscall.Shutdown(r.listener, syscall.SHUT_RDWR)
	for i := len(r.conns) - 1; i >= 0; i-- {
		r.dropConn(r.conns[i])
	}
	for till := r.site.sinceStart() + int64(freeing); r.under > 0; {
		left := till - r.site.sinceStart()
		if left <= 0 || r.queues.Wait(1, left) != nil {
			return
		}
		r.queues.LoadCompletions()
		for e, ok := r.queues.NextCompletion(); ok; e, ok = r.queues.NextCompletion() {
			r.handleCompletion(e)
		}
	}
}

func (r *uringRing) closeRing() { r.queues.Close() }

func (r *uringRing) runTurn() error {
	if err := r.submitAndWait(r.waitTimeout()); err != nil {
		return err
	}
	r.queues.LoadCompletions()
	r.runTimers()
	late := r.late
	r.late = nil
	for _, c := range late {
		r.awaitConn(c)
	}
	for e, ok := r.queues.NextCompletion(); ok; e, ok = r.queues.NextCompletion() {
		r.handleCompletion(e)
		if r.queues.QueuedEntries() >= submitMax {
			if err := r.queues.Submit(false); err != nil {
				return err
			}
		}
	}
	return nil
}

// submitAndWait submits, and waits until something is to be done. To do both at once would
// be a system call less, but measures as slower where each request is waited for.
func (r *uringRing) submitAndWait(timeout time.Duration) error {
	if r.queues.QueuedEntries() > 0 || timeout == 0 {
		err := r.queues.Submit(true)
		if err != nil || timeout == 0 || r.queues.LoadCompletions() {
			return err
		}
	}
	if timeout < 0 {
		timeout = time.Duration(uring.Forever)
	}
	return r.queues.Wait(1, int64(timeout))
}

// handleCompletion goes on with that of which something has ended.
func (r *uringRing) handleCompletion(e uring.Completion) {
	fd, kind := int(e.UserData>>kindBits), e.UserData&(1<<kindBits-1)
	r.under--
	switch fd {
	case r.wake:
		return
	case r.listener:
		r.handleAccept()
		return
	}
	c := r.byFD[fd]
	c.under = false
	if kind == kindReceive { // all before it is sent
		c.out, c.unread = c.out[:0], false
	}
	switch {
	case c.ending:
		r.dropConn(c)
		return
	case kind == kindWait:
		r.serveReady(c, false) // rests c
		return
	case kind == kindSend:
		r.handleSent(c, e.Res)
	default:
		r.handleReceived(c, e.Res)
	}
	r.awaitConn(c)
}

// handleAccept accepts, and goes on hearing.
func (r *uringRing) handleAccept() {
	if r.stopping.Load() {
		return
	}
	if r.acceptConns(); r.deafUntil == 0 && r.setAccepting(true) != nil {
		r.deafUntil = r.now + int64(acceptPause)
	}
}

// handleSent goes on after a send that failed, or for which there was too little room.
func (r *uringRing) handleSent(c *conn, res int32) {
	switch {
	case res >= 0:
		r.flushConn(c, c.out[res:])
	case res == -int32(syscall.EAGAIN), res == -int32(syscall.EINTR):
		r.flushConn(c, c.out)
	default:
		r.dropConn(c)
	}
}

// handleReceived goes on after a receive.
func (r *uringRing) handleReceived(c *conn, res int32) {
	switch {
	case res > 0:
		r.answerReceived(c, c.piece[:res])
		if res == pieceMax && c.isOpen() && !c.under && !c.isBlocked() {
			r.readConn(c, false)
		}
	case res == -int32(syscall.EAGAIN), res == -int32(syscall.EINTR):
	default:
		r.dropConn(c)
	}
}

func (r *uringRing) setAccepting(on bool) error {
	if !on {
		return nil // a wait is for one time
	}
	return r.queuePoll(r.listener, uring.In)
}

func (r *uringRing) addConn(c *conn) error {
	c.piece = new([pieceMax]byte)
	return nil
}

func (r *uringRing) sendAnswer(c *conn, out []byte, idle bool) {
	small := len(out) > 0 && len(out) <= keepMax && c.body == 0
	if !small || !idle || c.closing || r.queues.ReserveEntries(2) != nil {
		r.flushConn(c, out)
		return
	}
	c.out = append(c.out[:0], out...)
	e := r.queues.PushEntry(uring.Send, int32(c.fd), uint64(c.fd)<<kindBits+kindSend)
	e.SetMemory(c.out)
	e.SetMessageFlags(syscall.MSG_NOSIGNAL | syscall.MSG_DONTWAIT | syscall.MSG_WAITALL)
	e.LinkNext()
	e.SkipSuccess()
	r.queueReceive(c)
}

// queueReceive queues a receive, for which there must be room.
func (r *uringRing) queueReceive(c *conn) {
	r.queues.PushEntry(uring.Receive, int32(c.fd), uint64(c.fd)<<kindBits|kindReceive).
		SetMemory(c.piece[:])
	c.under = true
	r.under++
}

func (r *uringRing) awaitConn(c *conn) {
	if !c.isOpen() || c.under || c.serving {
		return
	}
	events := uint16(uring.In | uring.RDHup)
	switch {
	case c.hasUnsent():
		events = uring.Out
	case !c.unread && !c.large && r.queues.ReserveEntries(1) == nil:
		r.queueReceive(c)
		return
	}
	if r.queuePoll(c.fd, events) != nil {
		r.late = append(r.late, c)
		return
	}
	c.under = true
}

// queuePoll has a descriptor complete when it can do what events say.
func (r *uringRing) queuePoll(fd int, events uint16) error {
	if err := r.queues.ReserveEntries(1); err != nil {
		return err
	}
	r.queues.PushEntry(uring.Poll, int32(fd), uint64(fd)<<kindBits|kindWait).SetPollEvents(events)
	r.under++
	return nil
}
