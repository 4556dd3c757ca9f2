//go:build amd64 || arm64

package target

import "syscall"

const (
	readsMax = 32      // of one connection before the others have their turn
	keepMax  = 4 << 10 // memory that a connection keeps while it needs none
)

// A conn is a session and its socket. It is read only while nothing of it is
// unanswered or unsent, so what a client may make it hold is bounded.
type conn struct {
	session
	fd       int // -1 once closed
	index    int // in the loop's conns
	in       []byte
	out      []byte // answers not yet sent; session.body follows
	serving  bool
	unread   bool  // the socket may have something that nobody tells of again
	large    bool  // it has, more likely than not, much to say
	linger   bool  // all is sent; what comes is dropped until the client closes
	deadline int64 // of linger

	watched bool            // epoll reports room to send
	under   bool            // io_uring is sending, receiving or waiting
	ending  bool            // it is to be closed when it is not
	piece   *[pieceMax]byte // for io_uring to receive
}

func (c *conn) open() bool { return c.fd >= 0 }

func (c *conn) unsent() bool { return len(c.out)+c.body > 0 }

// blocked tells whether something must happen before more is read.
func (c *conn) blocked() bool { return c.serving || c.unsent() }

// open begins a connection.
func (l *loop) open(fd int) {
	c := &conn{fd: fd, index: len(l.conns)}
	if l.ring.open(c) != nil {
		syscall.Close(fd) // out of memory: the client sees it closed
		return
	}
	c.session.open(&l.worker)
	l.conns = append(l.conns, c)
	for len(l.byFD) <= fd {
		l.byFD = append(l.byFD, nil)
	}
	l.byFD[fd] = c
	l.ring.rest(c)
}

// drop ends a connection at once, or as soon as the kernel has let go of its
// memory. It may have been dropped before.
func (l *loop) drop(c *conn) {
	if !c.open() {
		return
	}
	if c.under {
		c.ending = true
		syscall.Shutdown(c.fd, syscall.SHUT_RDWR)
		return
	}
	if !c.observer {
		l.count.sent.Add(-int64(len(c.out) + c.body))
	}
	syscall.Close(c.fd)
	l.byFD[c.fd] = nil
	last := len(l.conns) - 1
	l.conns[c.index] = l.conns[last]
	l.conns[c.index].index = c.index
	l.conns[last], l.conns = nil, l.conns[:last]
	c.fd, c.in, c.out, c.piece = -1, nil, nil, nil
}

// ready goes on with a connection of which there may be news. It tells whether
// something was received. With drain it reads until there is nothing left.
func (l *loop) ready(c *conn, drain bool) (hit bool) {
	if c.blocked() {
		c.unread = true
		if !c.serving {
			l.flush(c, c.out)
			l.proceed(c)
		}
	} else {
		hit = l.read(c, drain)
	}
	l.ring.rest(c)
	return hit
}

// read receives and answers. A buffer that was not filled has emptied the
// socket, and the ring tells of what comes after.
func (l *loop) read(c *conn, drain bool) (hit bool) {
	for range readsMax {
		n, e := receive(c.fd, l.in)
		switch {
		case e == syscall.EAGAIN:
			return hit
		case e == syscall.EINTR:
			continue
		case e != 0 || n == 0:
			l.drop(c)
			return hit
		}
		hit = true
		c.large = n >= pieceMax
		l.received(c, l.in[:n])
		if c.linger {
			continue
		}
		left := drain || n == len(l.in)
		if !left || !c.open() || c.blocked() {
			c.unread = left
			return hit
		}
	}
	c.unread = true
	return hit
}

// received answers what has come.
func (l *loop) received(c *conn, data []byte) {
	if c.linger {
		return
	}
	if l.timed {
		l.now = l.site.now()
	}
	if len(c.in) > 0 {
		c.in = append(c.in, data...)
		data = c.in
	}
	l.take(c, data)
}

// take answers what is in data, and keeps the rest of it.
func (l *loop) take(c *conn, data []byte) {
	for {
		n, out, need := c.session.take(l.now, data, l.out[:0])
		data = data[n:]
		if need == serving {
			c.serving = true
			l.order++
			l.jobs.push(job{end: c.end, order: l.order, conn: c})
		}
		l.out = out
		l.ring.send(c, out, need == input)
		if need != room || c.closing || !c.open() || c.blocked() {
			break
		}
	}
	if !c.open() || c.closing {
		return
	}
	c.in = append(c.in[:0], data...)
	if len(data) == 0 && cap(c.in) > keepMax {
		c.in = nil
	}
}

// reply answers the request that has been served.
func (l *loop) reply(c *conn) {
	if !c.open() {
		return
	}
	c.serving = false
	l.out = c.session.reply(l.out[:0])
	l.ring.send(c, l.out, len(c.in) == 0)
	l.proceed(c)
	l.ring.rest(c)
}

// proceed goes on with what was left while the connection was blocked.
func (l *loop) proceed(c *conn) {
	if c.open() && !c.blocked() && len(c.in) > 0 {
		l.take(c, c.in)
	}
	if c.open() && !c.blocked() && c.unread {
		c.unread = false
		l.read(c, true)
	}
}

// flush sends out and what is due of the body, and keeps what there is no room
// for. The connection may be gone afterwards.
func (l *loop) flush(c *conn, out []byte) {
	for len(out)+c.body > 0 {
		n, e := l.transmit(c, out)
		switch e {
		case 0:
			k := min(n, len(out))
			out = out[k:]
			c.body -= n - k
		case syscall.EINTR:
		case syscall.EAGAIN:
			c.out = append(c.out[:0], out...)
			return
		default:
			c.out = append(c.out[:0], out...) // drop counts it as not sent
			l.drop(c)
			return
		}
	}
	c.out = c.out[:0]
	if cap(c.out) > keepMax {
		c.out = nil
	}
	if c.closing && !c.linger {
		l.finish(c)
	}
}

func (l *loop) transmit(c *conn, out []byte) (int, syscall.Errno) {
	if c.body == 0 {
		return send(c.fd, out)
	}
	return l.gather.send(c.fd, out, l.answer.body[len(l.answer.body)-c.body:])
}

// finish ends a connection whose last answer is sent. To close a socket that
// holds something unread would reset it, and take answers from the client that
// it has not read: unless the client said itself that it sends no more, leave
// it to the client to close, for a while.
func (l *loop) finish(c *conn) {
	if !c.gently {
		l.drop(c)
		return
	}
	syscall.Shutdown(c.fd, syscall.SHUT_WR)
	c.linger, c.in = true, nil
	c.deadline = l.now + int64(lingerMax)
	l.lingering = append(l.lingering, c)
}
