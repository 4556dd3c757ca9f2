package ring

import "dyno/internal/engine/uring"

func (r *uringRing) Gather(until int64, enough int) bool {
	if enough != AnyNumber && !r.queues.Gathers() {
		return false
	}
	r.gathering, r.enough = until, enough
	return true
}

// gather waits until then, as Gather has asked. Until Linux 6.12 it sleeps. What the kernel
// receives after that instant is no idle time.
func (r *uringRing) gather(now, until int64) error {
	if !r.queues.Gathers() {
		r.idle += sleepUntil(until)
		r.queues.CompleteAll()
		return nil
	}
	enough := uring.Most
	if r.enough != AnyNumber {
		enough = r.enough + r.sends // which complete too
	}
	err := r.queues.Gather(enough, until-now)
	r.idle += min(Clock()-now, until-now)
	return err
}
