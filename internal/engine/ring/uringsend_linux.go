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
	if err := r.queueSend(i, s, r.quiet && !s.telling); err != nil {
		s.telling, s.rest = false, nil
		r.completed = append(r.completed, Completion{Op: Sent, User: s.user, Err: err})
		return false
	}
	return !s.telling
}

// queueSend queues what is to be sent. A quiet send completes only if it fails, and it does if only
// a part can be sent at once.
func (r *uringRing) queueSend(i int, s *usocket, quiet bool) error {
	if err := r.queues.ReserveEntries(1); err != nil {
		return err
	}
	e := r.pushEntry(uring.Send, i, s, kindSend)
	e.SetMemory(s.rest)
	s.sending, s.quiet, s.sent = true, quiet, r.queues.Pushed()
	if quiet {
		e.SetMessageFlags(syscall.MSG_NOSIGNAL | syscall.MSG_DONTWAIT | syscall.MSG_WAITALL)
		e.SkipSuccess()
		return nil
	}
	r.sends++
	e.SetMessageFlags(syscall.MSG_NOSIGNAL | syscall.MSG_WAITALL)
	return nil
}

// settleSend finds out what has become of a quiet send.
func (r *uringRing) settleSend(i int, s *usocket) {
	if !s.quiet {
		return
	}
	s.quiet = false
	if r.queues.SettleQuiet(s.sent, uint64(i)<<kindBits+kindSend) {
		s.sending, s.rest = false, nil
		r.pending--
		return
	}
	r.sends++ // it completes as others do
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
