package load

import "dyno/internal/engine/loadplan"

// A flow is what a worker sends next: the arrivals of its schedule, and requests that are
// retried before all others. Asking whether a request is due changes nothing.
type flow struct {
	schedule loadplan.Schedule
	sequence *loadplan.Sequence // of the window's requests
	warmup   *loadplan.Sequence // of those before it
	retries  fifo[arrival]      // before all others; of a scenario also the steps that are due
	share    *reshare           // in force; nil: the plan's

	next      int64 // when the next request is due, after the start; AtOnce
	left      int64 // requests still to begin in the window; below 0: any number
	over      bool  // no arrival is left before the window's end, or all requested ones are sent
	heldUntil int64 // when something may be sent again; notYet once the run is interrupted
	released  int64 // heldUntil before the last request: it could not be sent earlier

	iterations int // of a scenario: begun and not over
}

// newFlow returns what worker i of n sends of the plan.
func newFlow(p *loadplan.Plan, i, n int) flow {
	f := flow{schedule: loadplan.ClosedSchedule{}, retries: newFIFO[arrival](1), left: -1}
	f.sequence, f.warmup = p.NewSequences(i, n)
	if p.Open() || p.Cap > 0 {
		f.schedule = p.NewSchedule(i, n)
	}
	if p.Requested > 0 {
		f.left = loadplan.RequestQuota(p, i, n)
	}
	return f
}

// An arrival is a request that is due. A fifth field would keep it from being passed in registers
// (see proto.What), which costs a quarter of a request (see RUNTIME.md).
type arrival struct {
	due     int64
	request uint32 // which of the plan's; with a scenario, which of the worker's users asks
	counted bool   // due in the window
	past    uint8  // how often it was refused, and wasLost
}

// isClosed reports whether the workload is closed: a request is due when the last was answered.
func (f *flow) isClosed() bool { return f.next == loadplan.AtOnce }

// advanceArrival moves to the next arrival, if there is one.
func (f *flow) advanceArrival() {
	due, ok := f.schedule.Next()
	if !ok {
		f.over = true
		return
	}
	f.next = due
}

// isDue reports whether a request may be sent now.
func (f *flow) isDue(now int64, v *window) bool {
	if now < f.heldUntil || now >= v.limit {
		return false
	}
	if f.retries.len > 0 {
		return true
	}
	if f.over || now < v.start {
		return false
	}
	at := f.intendedStart(now, v.start)
	return at <= now && at < v.end
}

// intendedStart is when the next arrival is due.
func (f *flow) intendedStart(now, start int64) int64 {
	if f.isClosed() {
		return now
	}
	return start + f.next
}

// endAtWindow marks the flow as over if the next arrival is due at the window's end or later.
func (f *flow) endAtWindow(now int64, v *window) {
	if v.start != notYet && f.intendedStart(now, v.start) >= v.end {
		f.over = true
	}
}

// hasPending reports whether something is left to be sent, now or later.
func (f *flow) hasPending() bool { return !f.over || f.retries.len > 0 || f.iterations > 0 }

// sendableAt is when the next request may be sent, or notYet.
func (f *flow) sendableAt(now int64, v *window) int64 {
	switch {
	case f.retries.len > 0: // the last burst left some
		return max(now, f.heldUntil)
	case !f.over:
		return max(v.start+max(f.next, 0), f.heldUntil)
	}
	return notYet
}

// nextRetry removes and returns the request that has waited longest to be retried.
func (f *flow) nextRetry() arrival {
	a := f.retries.first()
	f.retries.dropHead()
	f.countAgainstCeiling()
	return a
}

// countAgainstCeiling counts a request for which the schedule was not asked.
func (f *flow) countAgainstCeiling() {
	if c, is := f.schedule.(*ceiling); is {
		c.countAgainst()
	}
}

// nextRequest removes and returns the request that is due: a retry, or the next arrival with the
// next request of its sequence. In a closed workload a request is due since its slot became free.
func (f *flow) nextRequest(freed int64, v *window) (a arrival) {
	if f.retries.len > 0 {
		return f.nextRetry()
	}
	if a.due = freed; !f.isClosed() {
		a.due = v.start + f.next
		f.advanceArrival()
	} else if _, capped := f.schedule.(*ceiling); capped {
		a.due = max(freed, f.heldUntil)
		f.advanceArrival()
	}
	if a.counted = a.due >= v.from; a.counted {
		a.request = f.sequence.NextIndex()
		f.left--
		f.over = f.over || f.left == 0
	} else {
		a.request = f.warmup.NextIndex()
	}
	return a
}

// backlog is how many requests were due in the window by now and were never sent.
func (f *flow) backlog(now int64, v *window) (n int64) {
	from, till := v.from-v.start, min(v.end, now)-v.start
	if f.isClosed() || v.start == notYet || f.over || f.next >= till {
		return 0
	}
	if f.next >= from {
		n = 1
	}
	if n += f.schedule.Left(from, till); f.left >= 0 {
		n = min(n, f.left)
	}
	return n
}

// firstUnrequested is when the first arrival after the requested number would have been due in an
// open workload; notYet if there is no such number or it has not been reached.
func (f *flow) firstUnrequested(v *window) int64 {
	if f.left != 0 || f.isClosed() || v.start == notYet {
		return notYet
	}
	return v.start + f.next
}
