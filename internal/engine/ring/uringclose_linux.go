package ring

import "syscall"

func (r *uringRing) Close(i int, gently bool) {
	s := &r.sockets[i]
	r.settleSend(i, s)
	if !gently || s.state != connected || s.sending || !r.departures.take() {
		r.closeSocket(i)
		return
	}
	s.state = departing
	r.wanting = append(r.wanting, i)
	r.departures.addDeparture(departure{i, s.life, Clock() + r.departures.waitsFor()})
}

// closeSocket closes a socket. It shuts the socket down, which ends what the kernel is doing with
// it. Entries that the kernel has not taken are discarded: they would apply to the next socket with
// the same descriptor. The bytes of a discarded send that Send reported as done are sent here.
func (r *uringRing) closeSocket(i int) {
	s := &r.sockets[i]
	if r.draining == i {
		r.draining = nobody
	}
	r.settleSend(i, s)
	if s.sending || s.receiving {
		untaken := r.queues.Discard(uint64(i)<<kindBits+kindSend, 1)
		r.queues.Discard(uint64(i)<<kindBits, 1<<kindBits)
		if untaken && !s.telling {
			if n, _ := sendNow(int(s.fd), s.rest); n == len(s.rest) && len(s.more) <= lastMost {
				sendNow(int(s.fd), s.more)
			}
		}
		syscall.Shutdown(int(s.fd), syscall.SHUT_RDWR)
	}
	if s.fixed {
		s.fixed = false
		r.queues.ClearFile(i)
	}
	syscall.Close(int(s.fd))
	s.state = dying
	r.reuseSlot(i, s)
}

// reuseSlot frees the slot of a dying socket once the kernel no longer uses its memory.
func (r *uringRing) reuseSlot(i int, s *usocket) {
	if s.sending || s.receiving {
		return
	}
	s.state, s.rest, s.more = closed, nil, nil
	r.unused = append(r.unused, i)
}

func (r *uringRing) closeLate(i int) bool {
	closed := peerClosed(int(r.sockets[i].fd))
	r.closeSocket(i)
	return closed
}

func (r *uringRing) stillDeparts(l departure) bool {
	s := &r.sockets[l.fd]
	return s.life == l.life && s.state == departing
}
