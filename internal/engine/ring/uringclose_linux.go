package ring

import "syscall"

func (r *uringRing) Close(i int, gently bool) {
	s := &r.sockets[i]
	if !gently || s.state != connected || s.sending || r.lingering.isFull() {
		r.closeSocket(i)
		return
	}
	s.state = lingering
	r.wanting = append(r.wanting, i)
	r.lingering.addLingerer(lingerer{i, s.life, Clock() + lingerFor})
}

// closeSocket closes a socket. What the kernel is doing with it ends by its being shut
// down, and what it has not taken is never begun, but for what Send has said was
// done. What it has taken it must have begun before: it would begin it with whatever
// has the descriptor then.
func (r *uringRing) closeSocket(i int) {
	s := &r.sockets[i]
	if r.draining == i {
		r.draining = nobody
	}
	if s.sending || s.receiving {
		untaken := r.queues.Discard(uint64(i)<<kindBits+kindSend, 1)
		r.queues.Discard(uint64(i)<<kindBits, 1<<kindBits)
		if r.linked {
			r.queues.Gather()
			r.linked = r.queues.Queued() > 0
		}
		if untaken && !s.telling {
			if n, _ := rawSend(int(s.fd), s.rest); n == len(s.rest) && len(s.more) <= lastMost {
				rawSend(int(s.fd), s.more)
			}
		}
		syscall.Shutdown(int(s.fd), syscall.SHUT_RDWR)
	}
	syscall.Close(int(s.fd))
	s.state = dying
	r.reuseSlot(i, s)
}

// reuseSlot gives a dying socket's place free once the kernel is done with it.
func (r *uringRing) reuseSlot(i int, s *usocket) {
	if s.sending || s.receiving {
		return
	}
	s.state, s.rest, s.more = closed, nil, nil
	r.unused = append(r.unused, i)
}

func (r *uringRing) stillLingers(l lingerer) bool {
	s := &r.sockets[l.fd]
	return s.life == l.life && s.state == lingering
}
