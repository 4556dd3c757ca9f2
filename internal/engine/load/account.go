package load

import (
	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/meter"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
)

// An account is what a worker counts: the interval's counters, which it gives away once a
// second, and the totals of the run. While it counts nobody else reads, so counters need neither
// atomics nor locks.
type account struct {
	counters     *metric.Counters
	totals       *loadresult.Totals
	routes       []loadresult.Route
	route        []int // of each of the plan's requests, or steps; nil: none is counted apart
	errors       failure.Counts
	ended        failure.Counts // connections that the peer ended, by the reason it sent
	meter        meter.Meter
	pacing       loadresult.Pacing
	lag          int64            // open workload: the longest send lag of the interval; ns
	serviceApart bool             // closed workload: service time is not latency in this interval
	last         int64            // when the last request of the window was answered, or failed
	rotate       int64            // when the interval ends
	rotated      int64            // when the last one did, after the window's start
	stopped      meter.Standstill // the last one; zero: there was none
	notices      map[fact.Args]bool
}

// interval is how often a worker publishes its counters, in ns.
const interval = int64(1e9)

// beginAt begins the first interval with the window.
func (a *account) beginAt(from int64) { a.rotate, a.last = from+interval, from }

// countEarly counts an answer in the window to a request that was due in the warm-up.
func (a *account) countEarly(right bool) {
	if right {
		a.counters.Early++
	} else {
		a.counters.EarlyErrors++
	}
}

// countEarlyIteration counts an iteration that was due in the warm-up and completed in the window.
func (a *account) countEarlyIteration() {
	a.counters.EarlyIterations++
}

// countSent counts a request that is sent for the first time, maybe after the window's end.
func (a *account) countSent(x flow.Arrival, now int64, v *flow.Window) {
	switch {
	case x.Past > 0:
	case x.Counted:
		a.counters.Sent++
		if now >= v.End {
			a.totals.SentAfter++
		}
	case x.Due >= v.End:
		a.totals.Scenario.StepsAfter++
	default:
		a.totals.Warmup++
	}
}

// lateAfter is when a request of an open workload counts as sent late.
const lateAfter = int64(1e6)

// countLag counts how much later than due a request was sent, and how much of that is the
// generator's own, which it returns: it could have sent it at an instant, and was busy.
func (a *account) countLag(now, due, possible int64) (lag int64) {
	late := now - due
	if late > lateAfter {
		a.totals.Late++
		if a.stopped.Has(due) {
			a.totals.Delayed++
		}
	}
	a.totals.LateMax = max(a.totals.LateMax, late)
	lag = now - max(due, possible)
	a.lag = max(a.lag, lag)
	a.totals.Lag.Record(lag)
	return lag
}

// countHandshake counts a handshake that took that many ns and ended now.
func (a *account) countHandshake(now, took int64, resumed bool, v *flow.Window) {
	n, times := &a.totals.TLSFull, a.totals.FullTLS
	if resumed {
		n, times = &a.totals.TLSResumed, a.totals.ResumedTLS
	}
	*n++
	if !v.IsWarmup(now) {
		times.Record(took)
	}
	if v.IsMeasured(now) {
		a.totals.Handshakes++
	}
}

// countAnswer measures a request that was answered completely now. If the answer is not right, by
// its status or by a check, it is an error whose latency is recorded apart: a server that fails
// fast must not look fast. of is the number of the request, or of the step, in the plan.
func (a *account) countAnswer(x *exchange, of int, now int64, v *flow.Window, right, closed bool) {
	if !x.Counted {
		if !right {
			a.countOtherLoss(x.Due, v)
		}
		if v.IsMeasured(now) {
			a.countEarly(right)
		}
		return
	}
	a.last = max(a.last, now) // a lentStep is counted later than it was answered
	a.counters.Status[min(x.status, 999)]++
	after, latency := now >= v.End, now-x.Due
	if !right {
		a.counters.ErrorLatency.Record(latency)
		if after {
			a.totals.ErrorsAfter++
		}
		a.countLoss(of)
		return
	}
	a.counters.Completed++
	if after {
		a.totals.CompletedAfter++
	}
	if !closed || a.serviceApart || x.sent != x.Due {
		a.countService(x, now, closed)
	}
	a.counters.Latency.Record(latency)
	if a.route != nil {
		r := &a.routes[a.route[of]]
		r.Completed++
		r.Latency.Record(latency)
	}
}

// countService counts the service time of a request before its latency is counted. In a closed
// workload service time equals latency until a request is sent later than it was due. From then on
// the interval keeps both, and the earlier latencies are copied.
func (a *account) countService(x *exchange, now int64, closed bool) {
	if closed && !a.serviceApart {
		a.serviceApart = true
		a.counters.Service.Merge(a.counters.Latency)
	}
	a.counters.Service.Record(now - x.sent)
}

// countLoss counts a request of the window that failed, of that number in the plan.
func (a *account) countLoss(of int) {
	a.counters.Failed++
	if a.route != nil {
		a.routes[a.route[of]].Failed++
	}
}

// countOtherLoss counts a request that failed and was not due in the window: one of the warm-up, or
// a step due after the window.
func (a *account) countOtherLoss(due int64, v *flow.Window) {
	if due >= v.End {
		a.totals.Scenario.FailedAfter++
	} else {
		a.totals.WarmupLost++
	}
}

// countNoAnswer counts a request of the window that had no answer, and how long it waited.
func (w *worker) countNoAnswer(wait loadresult.Wait, begun bool, x *exchange) {
	wait.Requests = 1
	if begun {
		wait.Begun = 1
	}
	if x.eventful {
		wait.Eventful = 1
	}
	w.totals.Unanswered.Add(wait)
	if w.route != nil {
		w.routes[w.route[w.numberOf(x)]].Unanswered.Add(wait)
	}
}

// countOutage adds the time from since to now, in which no connection could be opened.
func (a *account) countOutage(since, now int64, v *flow.Window) {
	if since != flow.NotYet && v.Start != flow.NotYet {
		_, length := v.Overlap(since, now)
		a.totals.Outage += max(length, 0)
	}
}

// takeHealth returns the health since its last call, and begins anew. The caller owns the failures;
// the account goes on with an empty map. idle is the worker's idle time in ns since the run began.
func (a *account) takeHealth(now, idle int64) failure.Health {
	h := failure.Health{Busy: a.meter.BusySince(now, idle), Lag: a.lag}
	a.lag = 0
	if len(a.errors) > 0 {
		h.Failures, a.errors = a.errors, failure.Counts{}
	}
	return h
}

// endInterval sets the bounds of the interval's counters. beginInterval begins the next one.
func (a *account) endInterval(now, from int64, inFlight int) {
	a.counters.From, a.counters.To = a.rotated, now-from
	a.rotated, a.serviceApart = a.counters.To, false
	a.counters.InFlight = int64(inFlight)
}

// beginInterval replaces the counters by empty ones, for the interval with the number after before.
func (a *account) beginInterval(empty *metric.Counters, number int) {
	a.counters = empty
	a.counters.Interval = number
	a.rotate += interval
}
