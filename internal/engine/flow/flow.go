// Package flow says which request of a worker is due, and when its load begins, is measured and
// ends. It holds no connection and reads no clock: whoever asks says what time it is.
//
//	ceiling.go    a limit of the rate
//	fifo.go       a queue
//	flow.go       which request is due next
//	share.go      another share of the rate
//	waited.go     for how long what was never sent has been due
//	window.go     when the load begins, is measured, ends
package flow

import "dyno/internal/engine/loadplan"

// A Flow is what a worker sends next: the arrivals of its schedule, and requests that are
// retried before all others. Asking whether a request is due changes nothing.
type Flow struct {
	Schedule loadplan.Schedule
	sequence *loadplan.Sequence // of the window's requests
	warmup   *loadplan.Sequence // of those before it
	Retries  FIFO[Arrival]      // before all others; of a scenario also the steps that are due
	Share    *Reshare           // in force; nil: the plan's

	Next      int64 // when the next request is due, after the start; AtOnce
	Left      int64 // requests still to begin in the window; below 0: any number
	Over      bool  // no arrival is left before the window's end, or all requested ones are sent
	HeldUntil int64 // when something may be sent again; NotYet once the run is interrupted
	Released  int64 // HeldUntil before the last request: it could not be sent earlier

	Iterations int // of a scenario: begun and not over
}

// New returns what worker i of n sends of the plan.
func New(p *loadplan.Plan, i, n int) Flow {
	f := Flow{Schedule: loadplan.ClosedSchedule{}, Retries: NewFIFO[Arrival](1), Left: -1}
	f.sequence, f.warmup = p.NewSequences(i, n)
	if p.Open() || p.Cap > 0 {
		f.Schedule = p.NewSchedule(i, n)
	}
	if p.Requested > 0 {
		f.Left = loadplan.RequestQuota(p, i, n)
	}
	return f
}

// An Arrival is a request that is due. A fifth field would keep it from being passed in registers
// (see proto.What), which costs a quarter of a request (see RUNTIME.md).
type Arrival struct {
	Due     int64
	Request uint32 // which of the plan's; with a scenario, which of the worker's users asks
	Counted bool   // due in the window
	Past    uint16 // how often it was refused (Refusals), and what else it was
}

// Parts of an arrival's past.
const (
	Refusals = 1<<7 - 1 // how often the server refused it
	WasLost  = 1 << 7   // its connection was lost
	IsHop    = 1 << 8   // it follows a redirect, so it was counted before
)

// IsClosed reports whether the workload is closed: a request is due when the last was answered.
func (f *Flow) IsClosed() bool { return f.Next == loadplan.AtOnce }

// AdvanceArrival moves to the next arrival, if there is one.
func (f *Flow) AdvanceArrival() {
	due, ok := f.Schedule.Next()
	if !ok {
		f.Over = true
		return
	}
	f.Next = due
}

// IsDue reports whether a request may be sent now.
func (f *Flow) IsDue(now int64, v *Window) bool {
	if now < f.HeldUntil || now >= v.Limit {
		return false
	}
	if f.Retries.Len > 0 {
		return true
	}
	if f.Over || now < v.Start {
		return false
	}
	at := f.intendedStart(now, v.Start)
	return at <= now && at < v.End
}

// intendedStart is when the next arrival is due.
func (f *Flow) intendedStart(now, start int64) int64 {
	if f.IsClosed() {
		return now
	}
	return start + f.Next
}

// EndAtWindow marks the flow as over if the next arrival is due at the window's end or later.
func (f *Flow) EndAtWindow(now int64, v *Window) {
	if v.Start != NotYet && f.intendedStart(now, v.Start) >= v.End {
		f.Over = true
	}
}

// HasPending reports whether something is left to be sent, now or later.
func (f *Flow) HasPending() bool { return !f.Over || f.Retries.Len > 0 || f.Iterations > 0 }

// SendableAt is when the next request may be sent, or NotYet.
func (f *Flow) SendableAt(now int64, v *Window) int64 {
	switch {
	case f.Retries.Len > 0: // the last burst left some
		return max(now, f.HeldUntil)
	case !f.Over:
		return max(v.Start+max(f.Next, 0), f.HeldUntil)
	}
	return NotYet
}

// nextRetry removes and returns the request that has waited longest to be retried.
func (f *Flow) nextRetry() Arrival {
	a := f.Retries.First()
	f.Retries.DropHead()
	f.CountAgainstCeiling()
	return a
}

// NextRequest removes and returns the request that is due: a retry, or the next arrival with the
// next request of its sequence. In a closed workload a request is due since its slot became free.
func (f *Flow) NextRequest(freed int64, v *Window) (a Arrival) {
	if f.Retries.Len > 0 {
		return f.nextRetry()
	}
	if a.Due = freed; !f.IsClosed() {
		a.Due = v.Start + f.Next
		f.AdvanceArrival()
	} else if _, capped := f.Schedule.(*ceiling); capped {
		a.Due = max(freed, f.HeldUntil)
		f.AdvanceArrival()
	}
	if a.Counted = a.Due >= v.From; a.Counted {
		a.Request = f.sequence.NextIndex()
		f.Left--
		f.Over = f.Over || f.Left == 0
	} else {
		a.Request = f.warmup.NextIndex()
	}
	return a
}

// Backlog is how many requests were due in the window by now and were never sent.
func (f *Flow) Backlog(now int64, v *Window) (n int64) {
	from, till := v.From-v.Start, min(v.End, now)-v.Start
	if f.IsClosed() || v.Start == NotYet || f.Over || f.Next >= till {
		return 0
	}
	if f.Next >= from {
		n = 1
	}
	if n += f.Schedule.Left(from, till); f.Left >= 0 {
		n = min(n, f.Left)
	}
	return n
}

// FirstUnrequested is when the first arrival after the requested number would have been due in an
// open workload; NotYet if there is no such number or it has not been reached.
func (f *Flow) FirstUnrequested(v *Window) int64 {
	if f.Left != 0 || f.IsClosed() || v.Start == NotYet {
		return NotYet
	}
	return v.Start + f.Next
}
