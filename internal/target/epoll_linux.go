//go:build amd64 || arm64

package target

import "syscall"

const (
	eventsMax   = 512 // taken from epoll at once
	sweepMin    = 8   // connections that answered, below which epoll is cheaper
	sweepShare  = 4   // sweep while one in so many of all did
	acceptEvery = 16  // sweeps between looks for new connections

	connEvents = syscall.EPOLLIN | syscall.EPOLLRDHUP | edge
)

// An epollRing asks epoll which connections have something to say, or while many
// do, asks each of them.
type epollRing struct {
	*loop
	fd     int
	hits   int // connections that had something to say in the last turn
	sweeps int
	events []syscall.EpollEvent
}

func newEpoll(l *loop) (ring, error) {
	r := &epollRing{loop: l, events: make([]syscall.EpollEvent, eventsMax)}
	var err error
	if r.fd, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if err = r.setInterest(syscall.EPOLL_CTL_ADD, l.wake, syscall.EPOLLIN); err == nil {
		err = r.setAccepting(true)
	}
	if err != nil {
		syscall.Close(r.fd)
		return nil, err
	}
	return r, nil
}

func (r *epollRing) startRing() error { return nil }

func (r *epollRing) closeConns() {
	for len(r.conns) > 0 {
		r.dropConn(r.conns[0])
	}
}

func (r *epollRing) closeRing() { syscall.Close(r.fd) }

func (r *epollRing) runTurn() (err error) {
	if r.hits >= sweepMin && r.hits*sweepShare >= len(r.conns) {
		r.hits = r.pollEachConn()
		return nil
	}
	r.hits, err = r.waitEpoll()
	return err
}

// pollEachConn asks every connection. It returns how many had something to say.
func (r *epollRing) pollEachConn() (hits int) {
	r.runTimers()
	if r.sweeps++; r.sweeps%acceptEvery == 0 {
		r.acceptConns()
	}
	// Backwards, since the last connection takes the place of one dropped.
	for i := len(r.conns) - 1; i >= 0; i-- {
		if i < len(r.conns) && r.serveReady(r.conns[i], false) {
			hits++
		}
	}
	return hits
}

// waitEpoll asks epoll which connections have something to say, and waits for one.
func (r *epollRing) waitEpoll() (hits int, err error) {
	n, err := waitFor(r.fd, r.events, r.waitTimeout())
	if err != nil {
		return 0, err
	}
	r.runTimers()
	const ended = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
	for _, ev := range r.events[:n] {
		switch fd := int(ev.Fd); fd {
		case r.wake:
		case r.listener:
			r.acceptConns()
		default:
			if c := r.byFD[fd]; c != nil && r.serveReady(c, ev.Events&ended != 0) {
				hits++
			}
		}
	}
	return hits, nil
}

// setAccepting is, where loops share a socket, for one of them to be woken for each.
func (r *epollRing) setAccepting(on bool) error {
	if !on {
		return r.setInterest(syscall.EPOLL_CTL_DEL, r.listener, 0)
	}
	return r.setInterest(syscall.EPOLL_CTL_ADD, r.listener, syscall.EPOLLIN|exclusive)
}

func (r *epollRing) addConn(c *conn) error {
	return r.setInterest(syscall.EPOLL_CTL_ADD, c.fd, connEvents)
}

func (r *epollRing) sendAnswer(c *conn, out []byte, _ bool) { r.flushConn(c, out) }

// awaitConn has epoll tell once more what it has told of c, where that was not used
// up, and from the first time on that there is no room, when there is.
func (r *epollRing) awaitConn(c *conn) {
	full, stale := c.hasUnsent() && !c.watched, c.unread && !c.isBlocked()
	if !c.isOpen() || !full && !stale {
		return
	}
	c.unread = c.unread && !stale
	c.watched = c.watched || full
	events := uint32(connEvents)
	if c.watched {
		events |= syscall.EPOLLOUT
	}
	if r.setInterest(syscall.EPOLL_CTL_MOD, c.fd, events) != nil {
		r.dropConn(c)
	}
}

func (r *epollRing) setInterest(op, fd int, events uint32) error {
	ev := syscall.EpollEvent{Events: events, Fd: int32(fd)}
	return syscall.EpollCtl(r.fd, op, fd, &ev)
}
