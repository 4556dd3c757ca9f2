package load

import "dyno/internal/engine/flow"

// A batching is the delay for which a closed workload with streams lets answers gather before it
// looks at them, so that it handles many at once and sends as many. Without the delay the server
// would have to wake the generator for each answer, and would receive requests one by one. Both
// cost the server CPU. Behind a network card neither happens: the card gathers packets for some ten
// microseconds before it interrupts.
//
// The delay adds to latency at most a 32nd of the quickest recent round trip, plus what waking a
// thread takes. It is 0 where few answers arrive in that time.
//
// Measured with 10 connections of 100 streams to nginx on another CPU: without the delay dyno had
// 0.88 of h2load's rate in clear and 0.80 over TLS, and nginx needed 1.15 and 1.30 times the CPU
// per request. With it dyno has 1.42 and 1.06 of the rate. A 64th is too little over TLS, where a
// record has one request. HTTP/1.1 has no delay: nothing is gathered with one request on a
// connection, and 1,000 connections lost 7 %.
type batching struct {
	quickest int64 // ns, the shortest round trip since the last update
	ended    int64 // round trips since then
	delay    int64 // ns between the beginnings of two turns
	since    int64 // when delay was updated
}

// Bounds of the delay.
const (
	batchShare     = 32 // of the quickest round trip
	batchDelayMost = int64(100e3)
	batchRenewal   = int64(10e6)
	batchWorth     = 2 // answers in a delay; for fewer it does not pay
)

// recordAnswer takes a round trip of that many ns into account.
func (r *batching) recordAnswer(took int64) {
	r.quickest = min(r.quickest, took)
	r.ended++
}

// updateDelay computes the delay from the round trips since the last update.
func (r *batching) updateDelay(now int64) {
	passed := now - r.since
	if passed < batchRenewal {
		return
	}
	r.delay = min(r.quickest/batchShare, batchDelayMost)
	if r.ended*r.delay < batchWorth*passed {
		r.delay = 0
	}
	r.quickest, r.ended, r.since = flow.NotYet, 0, now
}

// delayForBatch sleeps before the worker waits for completions: in a closed workload with more than
// one stream on a connection, and not with --spin.
func (w *worker) delayForBatch() {
	if w.batching.delay > 0 && w.plan.Streams > 1 && w.totals.Room > 1 && w.IsClosed() &&
		!w.plan.Spin {
		w.ring.RestUntil(min(w.turnBegan+w.batching.delay, w.nextWakeUp()))
	}
}
