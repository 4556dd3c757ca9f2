package ring

import "dyno/internal/engine/uring"

func (r *uringRing) Gather(until int64, enough int) bool {
	if enough != AnyNumber && !r.queues.Gathers() {
		return false
	}
	r.gathering, r.enough = until, enough
	return true
}

// gather waits as Gather has asked. Until Linux 6.12 it sleeps.
func (r *uringRing) gather(now, until, deadline int64) error {
	if !r.queues.Gathers() {
		r.idle += sleepUntil(until)
		r.queues.CompleteAll()
		return nil
	}
	enough := r.enough
	if enough == AnyNumber {
		enough = uring.Most
	}
	err := r.queues.Gather(enough, until-now, deadline-now)
	r.idle += Clock() - now
	return err
}
