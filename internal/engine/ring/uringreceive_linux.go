package ring

import (
	"io"
	"syscall"
	"unsafe"

	"dyno/internal/engine/uring"
)

// queueReceives has every socket that may receive do so, or wait until it can.
func (r *uringRing) queueReceives() error {
	for _, i := range r.wanting {
		s := &r.sockets[i]
		if s.receiving || s.state == closed || s.state == ended || s.state == dying {
			continue
		}
		if err := r.queues.ReserveEntries(1); err != nil {
			return err
		}
		r.queueReceive(i, s)
	}
	r.wanting = r.wanting[:0]
	return nil
}

// queueReceive queues a receive, for which there must be room.
func (r *uringRing) queueReceive(i int, s *usocket) {
	s.receiving = true
	switch {
	case s.state == connecting:
		r.pushEntry(uring.Poll, i, s, kindPoll).SetPollEvents(uring.Out)
	case s.state == departing:
		r.pushEntry(uring.Poll, i, s, kindPoll).SetPollEvents(uring.RDHup)
	case s.large > 0:
		r.pushEntry(uring.Poll, i, s, kindPoll).SetPollEvents(uring.In | uring.RDHup)
	case r.multi:
		r.pushEntry(uring.Receive, i, s, kindReceive).SelectPieces()
	case r.sharing:
		r.pushEntry(uring.Receive, i, s, kindReceive).SelectPiece(r.piece)
	default:
		r.pushEntry(uring.Receive, i, s, kindReceive).SetMemory(unsafe.Slice(s.piece, r.piece))
	}
}

// stopReceiving cancels a multishot receive, which then completes for the last time. While too many
// are being canceled, it goes on.
func (r *uringRing) stopReceiving(i int, s *usocket) {
	if s.stopping || r.cancels == cancelMost || r.queues.ReserveEntries(1) != nil {
		return
	}
	s.stopping = true
	r.cancels++
	r.pending++
	r.queues.PushEntry(uring.Cancel, -1, uint64(i)<<kindBits|kindCancel).
		SetCanceled(uint64(i)<<kindBits | kindReceive)
}

// completeReceive returns what the kernel received, in the socket's piece or in the shared piece
// that the kernel selected. It gives the socket another piece of its own. A multishot receive may
// fill all pieces in the turn that finds the socket's answers large.
func (r *uringRing) completeReceive(i int, s *usocket, n int) Completion {
	var data []byte
	if r.lent != uring.None {
		data = r.queues.PieceMemory(r.lent)[:n]
	} else {
		s.piece, r.spare = r.spare, s.piece
		data = unsafe.Slice(r.spare, n)
	}
	if !s.receiving {
		r.wanting = append(r.wanting, i)
	}
	if s.lasts < lasting {
		if s.lasts++; s.lasts == lasting {
			r.fixFile(i, s)
		}
	}
	if n == r.piece {
		if s.large = largeFor; s.receiving {
			r.stopReceiving(i, s)
		} else {
			r.draining = i
		}
	}
	return Completion{Op: Received, User: s.user, Data: data}
}

// receiveDirectly receives directly, and once: the socket's next turn has the rest, as in epoll.
// The kernel does not receive for the same socket meanwhile: its answers are large, so the kernel
// only polls it.
func (r *uringRing) receiveDirectly() (Completion, bool) {
	i := r.draining
	r.draining = nobody
	s := &r.sockets[i]
	if s.state != connected {
		return Completion{}, false
	}
	n, errno := receiveNow(int(s.fd), r.scratch)
	switch {
	case n > 0:
		if n >= r.piece {
			s.large = largeFor
		} else if s.large > 0 {
			s.large--
		}
		r.wanting = append(r.wanting, i)
		return Completion{Op: Received, User: s.user, Data: r.scratch[:n]}, true
	case errno == syscall.EAGAIN:
		r.wanting = append(r.wanting, i)
		return Completion{}, false
	}
	return r.endReceiving(s, errno), true
}

// endReceiving ends the receiving of a socket.
func (r *uringRing) endReceiving(s *usocket, errno syscall.Errno) Completion {
	s.state = ended
	c := Completion{Op: Received, User: s.user, Err: io.EOF}
	if errno != 0 {
		c.Err = errno
	}
	return c
}

// returnPiece returns the shared piece that the user has read, if there is one.
func (r *uringRing) returnPiece() {
	if r.lent != uring.None {
		r.queues.ReturnPiece(r.lent)
		r.lent = uring.None
	}
}
