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

func (r *uringRing) start() error {
	if err := r.queues.Start(); err != nil {
		return err
	}
	r.wait(r.wake, uring.In)
	return r.hear(true)
}

// stop waits until the kernel has let go of all memory and of the listener, but
// not for ever.
func (r *uringRing) stop() {
	r.quit()
	syscall.Shutdown(r.listener, syscall.SHUT_RDWR)
	for i := len(r.conns) - 1; i >= 0; i-- {
		r.drop(r.conns[i])
	}
	for till := r.site.now() + int64(freeing); r.under > 0; {
		left := till - r.site.now()
		if left <= 0 || r.queues.Wait(left) != nil {
			return
		}
		r.queues.Look()
		for e, ok := r.queues.Take(); ok; e, ok = r.queues.Take() {
			r.complete(e)
		}
	}
}

func (r *uringRing) free() { r.queues.Close() }

func (r *uringRing) turn() error {
	if err := r.await(r.patience()); err != nil {
		return err
	}
	r.queues.Look()
	r.tick()
	late := r.late
	r.late = nil
	for _, c := range late {
		r.rest(c)
	}
	for e, ok := r.queues.Take(); ok; e, ok = r.queues.Take() {
		r.complete(e)
		if r.queues.Queued() >= submitMax {
			if err := r.queues.Submit(false); err != nil {
				return err
			}
		}
	}
	return nil
}

// await submits, and waits until something is to be done. To do both at once would
// be a system call less, but measures as slower where each request is waited for.
func (r *uringRing) await(patience time.Duration) error {
	if r.queues.Queued() > 0 || patience == 0 {
		err := r.queues.Submit(true)
		if err != nil || patience == 0 || r.queues.Look() {
			return err
		}
	}
	if patience < 0 {
		patience = time.Duration(uring.Forever)
	}
	return r.queues.Wait(int64(patience))
}

// complete goes on with that of which something has ended.
func (r *uringRing) complete(e uring.Completion) {
	fd, kind := int(e.UserData>>kindBits), e.UserData&(1<<kindBits-1)
	r.under--
	switch fd {
	case r.wake:
		return
	case r.listener:
		r.knocked()
		return
	}
	c := r.byFD[fd]
	c.under = false
	if kind == kindReceive { // all before it is sent
		c.out, c.unread = c.out[:0], false
	}
	switch {
	case c.ending:
		r.drop(c)
		return
	case kind == kindWait:
		r.ready(c, false) // rests c
		return
	case kind == kindSend:
		r.sent(c, e.Res)
	default:
		r.got(c, e.Res)
	}
	r.rest(c)
}

// knocked accepts, and goes on hearing.
func (r *uringRing) knocked() {
	if r.stopping.Load() {
		return
	}
	if r.accept(); r.deafUntil == 0 && r.hear(true) != nil {
		r.deafUntil = r.now + int64(acceptPause)
	}
}

// sent goes on after a send that failed, or for which there was too little room.
func (r *uringRing) sent(c *conn, res int32) {
	switch {
	case res >= 0:
		r.flush(c, c.out[res:])
	case res == -int32(syscall.EAGAIN), res == -int32(syscall.EINTR):
		r.flush(c, c.out)
	default:
		r.drop(c)
	}
}

// got goes on after a receive.
func (r *uringRing) got(c *conn, res int32) {
	switch {
	case res > 0:
		r.received(c, c.piece[:res])
		if res == pieceMax && c.open() && !c.under && !c.blocked() {
			r.read(c, false)
		}
	case res == -int32(syscall.EAGAIN), res == -int32(syscall.EINTR):
	default:
		r.drop(c)
	}
}

func (r *uringRing) hear(on bool) error {
	if !on {
		return nil // a wait is for one time
	}
	return r.wait(r.listener, uring.In)
}

func (r *uringRing) open(c *conn) error {
	c.piece = new([pieceMax]byte)
	return nil
}

func (r *uringRing) send(c *conn, out []byte, idle bool) {
	small := len(out) > 0 && len(out) <= keepMax && c.body == 0
	if !small || !idle || c.closing || r.queues.Room(2) != nil {
		r.flush(c, out)
		return
	}
	c.out = append(c.out[:0], out...)
	e := r.queues.Push(uring.Send, int32(c.fd), uint64(c.fd)<<kindBits+kindSend)
	e.Memory(c.out)
	e.Message(syscall.MSG_NOSIGNAL | syscall.MSG_DONTWAIT | syscall.MSG_WAITALL)
	e.Link()
	e.Quiet()
	r.receive(c)
}

// receive queues a receive, for which there must be room.
func (r *uringRing) receive(c *conn) {
	r.queues.Push(uring.Receive, int32(c.fd), uint64(c.fd)<<kindBits|kindReceive).
		Memory(c.piece[:])
	c.under = true
	r.under++
}

func (r *uringRing) rest(c *conn) {
	if !c.open() || c.under || c.serving {
		return
	}
	events := uint16(uring.In | uring.RDHup)
	switch {
	case c.unsent():
		events = uring.Out
	case !c.unread && !c.large && r.queues.Room(1) == nil:
		r.receive(c)
		return
	}
	if r.wait(c.fd, events) != nil {
		r.late = append(r.late, c)
		return
	}
	c.under = true
}

// wait has a descriptor complete when it can do what events say.
func (r *uringRing) wait(fd int, events uint16) error {
	if err := r.queues.Room(1); err != nil {
		return err
	}
	r.queues.Push(uring.Poll, int32(fd), uint64(fd)<<kindBits|kindWait).Events(events)
	r.under++
	return nil
}
