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

func (c *conn) isOpen() bool { return c.fd >= 0 }

func (c *conn) hasUnsent() bool { return len(c.out)+c.body > 0 }

// isBlocked tells whether something must happen before more is read.
func (c *conn) isBlocked() bool { return c.serving || c.hasUnsent() }

// openConn begins a connection.
func (l *loop) openConn(fd int) {
	c := &conn{fd: fd, index: len(l.conns)}
	if l.ring.addConn(c) != nil {
		syscall.Close(fd) // out of memory: the client sees it closed
		return
	}
	c.session.beginConn(&l.worker)
	l.conns = append(l.conns, c)
	for len(l.byFD) <= fd {
		l.byFD = append(l.byFD, nil)
	}
	l.byFD[fd] = c
	l.ring.awaitConn(c)
}

// dropConn ends a connection at once, or as soon as the kernel has let go of its
// memory. It may have been dropped before.
func (l *loop) dropConn(c *conn) {
	if !c.isOpen() {
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

// serveReady goes on with a connection of which there may be news. It tells whether
// something was received. With drain it reads until there is nothing left.
func (l *loop) serveReady(c *conn, drain bool) (hit bool) {
	if c.isBlocked() {
		c.unread = true
		if !c.serving {
			l.flushConn(c, c.out)
			l.resumeConn(c)
		}
	} else {
		hit = l.readConn(c, drain)
	}
	l.ring.awaitConn(c)
	return hit
}

// readConn receives and answers. A buffer that was not filled has emptied the
// socket, and the ring tells of what comes after.
func (l *loop) readConn(c *conn, drain bool) (hit bool) {
	for range readsMax {
		n, e := receiveBytes(c.fd, l.in)
		switch {
		case e == syscall.EAGAIN:
			return hit
		case e == syscall.EINTR:
			continue
		case e != 0 || n == 0:
			l.dropConn(c)
			return hit
		}
		hit = true
		c.large = n >= pieceMax
		l.answerReceived(c, l.in[:n])
		if c.linger {
			continue
		}
		left := drain || n == len(l.in)
		if !left || !c.isOpen() || c.isBlocked() {
			c.unread = left
			return hit
		}
	}
	c.unread = true
	return hit
}

// answerReceived answers what has come.
func (l *loop) answerReceived(c *conn, data []byte) {
	if c.linger {
		return
	}
	if l.timed {
		l.now = l.site.sinceStart()
	}
	if len(c.in) > 0 {
		c.in = append(c.in, data...)
		data = c.in
	}
	l.answerBuffered(c, data)
}

// answerBuffered answers what is in data, and keeps the rest of it.
func (l *loop) answerBuffered(c *conn, data []byte) {
	for {
		n, out, need := c.session.answerRequests(l.now, data, l.out[:0])
		data = data[n:]
		if need == serving {
			c.serving = true
			l.order++
			l.jobs.pushJob(job{end: c.end, order: l.order, conn: c})
		}
		l.out = out
		l.ring.sendAnswer(c, out, need == input)
		if need != room || c.closing || !c.isOpen() || c.isBlocked() {
			break
		}
	}
	if !c.isOpen() || c.closing {
		return
	}
	c.in = append(c.in[:0], data...)
	if len(data) == 0 && cap(c.in) > keepMax {
		c.in = nil
	}
}

// sendServed answers the request that has been served.
func (l *loop) sendServed(c *conn) {
	if !c.isOpen() {
		return
	}
	c.serving = false
	l.out = c.session.appendReply(l.out[:0])
	l.ring.sendAnswer(c, l.out, len(c.in) == 0)
	l.resumeConn(c)
	l.ring.awaitConn(c)
}

// resumeConn goes on with what was left while the connection was blocked.
func (l *loop) resumeConn(c *conn) {
	if c.isOpen() && !c.isBlocked() && len(c.in) > 0 {
		l.answerBuffered(c, c.in)
	}
	if c.isOpen() && !c.isBlocked() && c.unread {
		c.unread = false
		l.readConn(c, true)
	}
}

// flushConn sends out and what is due of the body, and keeps what there is no room
// for. The connection may be gone afterwards.
func (l *loop) flushConn(c *conn, out []byte) {
	for len(out)+c.body > 0 {
		n, e := l.transmitAnswer(c, out)
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
			l.dropConn(c)
			return
		}
	}
	c.out = c.out[:0]
	if cap(c.out) > keepMax {
		c.out = nil
	}
	if c.closing && !c.linger {
		l.finishConn(c)
	}
}

func (l *loop) transmitAnswer(c *conn, out []byte) (int, syscall.Errno) {
	if c.body == 0 {
		return sendBytes(c.fd, out)
	}
	return l.gather.sendBoth(c.fd, out, l.answer.body[len(l.answer.body)-c.body:])
}

// finishConn ends a connection whose last answer is sent. To close a socket that
// holds something unread would reset it, and take answers from the client that
// it has not read: unless the client said itself that it sends no more, leave
// it to the client to close, for a while.
func (l *loop) finishConn(c *conn) {
	if !c.gently {
		l.dropConn(c)
		return
	}
	syscall.Shutdown(c.fd, syscall.SHUT_WR)
	c.linger, c.in = true, nil
	c.deadline = l.now + int64(lingerMax)
	l.lingering = append(l.lingering, c)
}
