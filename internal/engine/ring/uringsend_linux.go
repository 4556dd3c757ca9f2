package ring

import (
	"syscall"
	"unsafe"

	"dyno/internal/engine/uring"
)

func (r *uringRing) Send(i int, b []byte) bool {
	s := &r.sockets[i]
	if r.settleSend(i, s); s.sending {
		s.more = b
		return false
	}
	s.telling = len(b) > r.request || s.state == ended
	if s.rest = b; !s.telling {
		s.rest = unsafe.Slice(s.request, len(b))
		copy(s.rest, b)
	}
	if err := r.queueSend(i, s, !s.telling && !s.receiving); err != nil {
		s.telling, s.rest = false, nil
		r.completed = append(r.completed, Completion{Op: Sent, User: s.user, Err: err})
		return false
	}
	return !s.telling
}

// queueSend queues what is to be sent. If linked is set, it links the receive of the answer. What
// is linked must not be delayed, because nothing would be received meanwhile, and the peer may be
// waiting for that.
func (r *uringRing) queueSend(i int, s *usocket, linked bool) error {
	if err := r.queues.ReserveEntries(2); err != nil {
		return err
	}
	e := r.pushEntry(uring.Send, i, s, kindSend)
	e.SetMemory(s.rest)
	s.sending = true
	if s.quiet = linked && r.quiet; !s.quiet {
		r.sends++
	}
	switch {
	case !linked:
		e.SetMessageFlags(syscall.MSG_NOSIGNAL | syscall.MSG_WAITALL)
		return nil
	case s.quiet: // a send of a part must fail
		e.SetMessageFlags(syscall.MSG_NOSIGNAL | syscall.MSG_DONTWAIT | syscall.MSG_WAITALL)
		e.SkipSuccess()
	default:
		e.SetMessageFlags(syscall.MSG_NOSIGNAL | syscall.MSG_DONTWAIT)
	}
	e.LinkNext()
	r.linked = true
	r.queueReceive(i, s)
	return nil
}

// settleSend finds out what has become of a quiet send.
func (r *uringRing) settleSend(i int, s *usocket) {
	if !s.quiet {
		return
	}
	switch r.queues.SettleQuiet(uint64(i)<<kindBits + kindSend) {
	case uring.QuietUntaken:
		s.quiet = false
		r.sends++
	case uring.QuietFailed:
		r.sends++
		r.failQuietSend(i, s)
	case uring.QuietDone:
		r.endQuietSend(s)
	}
}

// endQuietSend ends a quiet send, which has succeeded.
func (r *uringRing) endQuietSend(s *usocket) {
	s.quiet, s.sending, s.rest = false, false, nil
	r.pending--
}

// failQuietSend makes a quiet send one that completes. The receive that was linked to it does not.
func (r *uringRing) failQuietSend(i int, s *usocket) {
	s.quiet, s.receiving = false, false
	r.pending--
	r.wanting = append(r.wanting, i)
}

// completeSend continues after a send of the kernel, which may have sent only a part.
func (r *uringRing) completeSend(i int, s *usocket, res int32) (Completion, bool) {
	var err error
	switch n := max(res, 0); {
	case res < 0 && res != -int32(syscall.EAGAIN) && res != -int32(syscall.EINTR):
		err = syscall.Errno(-res)
	case int(n) < len(s.rest):
		s.rest = s.rest[n:]
		if err = r.queueSend(i, s, false); err == nil {
			return Completion{}, false
		}
	case !s.telling && s.more != nil:
		s.rest, s.more, s.telling = s.more, nil, true
		if err = r.queueSend(i, s, false); err == nil {
			return Completion{}, false
		}
	}
	told := s.telling || err != nil
	s.rest, s.more, s.telling = nil, nil, false
	return Completion{Op: Sent, User: s.user, Err: err}, told
}
