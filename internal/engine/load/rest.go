package load

// A batching is how long a closed loop with streams, many exchanges on a connection, lets
// answers come in before it looks at them, so that it takes many at once and sends as many.
// If it looked at each as it came, the server would have to wake it for each, and would hear
// of requests one by one: both are work of the server's CPU, which slows it down, and which
// no server does behind a network card, for that gathers what comes for some ten
// microseconds before it interrupts.
//
// It adds to what is measured at most a 32nd of the quickest exchange of late and what it
// takes to wake a thread, and nothing where few answers come in that time.
type batching struct {
	quickest int64 // of the exchanges since it was last looked at
	ended    int64 // how many these are
	delay    int64 // time between the beginnings of two turns
	since    int64 // when least was found
}

// What bounds a rest.
const (
	batchShare     = 32 // of the quickest exchange
	batchDelayMost = int64(100e3)
	batchRenewal   = int64(10e6)
	batchWorth     = 2 // answers in it; for fewer it does not pay
)

// recordAnswer takes an exchange into account.
func (r *batching) recordAnswer(took int64) {
	r.quickest = min(r.quickest, took)
	r.ended++
}

// updateDelay finds how long to rest from what has been since the last time.
func (r *batching) updateDelay(now int64) {
	passed := now - r.since
	if passed < batchRenewal {
		return
	}
	r.delay = min(r.quickest/batchShare, batchDelayMost)
	if r.ended*r.delay < batchWorth*passed {
		r.delay = 0
	}
	r.quickest, r.ended, r.since = notYet, 0, now
}

// delayForBatch rests before the worker waits for what completes next, if that may be, and if
// servers allow more than one stream.
func (w *worker) delayForBatch() {
	if w.batching.delay > 0 && w.plan.Streams > 1 && w.totals.Room > 1 && w.next == AtOnce &&
		!w.plan.Spin {
		w.ring.Rest(min(w.turnBegan+w.batching.delay, w.nextWakeUp()))
	}
}
