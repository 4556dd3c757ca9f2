package flow

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
)

// A Window is when a worker's load begins, is measured and ends, on the ring's clock. Its
// predicates take an instant and change nothing.
type Window struct {
	Start       int64 // of the load, warm-up included; NotYet until every worker is connected
	From, End   int64 // of what is measured; an end of NotYet: only the number of requests ends it
	Limit       int64 // end of the drain, and of the run
	Interrupted bool  // no request is sent any more
}

// NotYet is an instant that has not been fixed yet.
const NotYet = ring.Never

// interruptedDrain is how long the drain lasts after an interruption, in ns. Most answers arrive in
// that time, and a user who interrupts does not want to wait for a whole drain.
const interruptedDrain = int64(50e6)

// Unopened is a window whose instants are not fixed.
func Unopened() Window {
	return Window{Start: NotYet, From: NotYet, End: NotYet, Limit: NotYet}
}

// OpenAt fixes all instants of the plan's window from the start of the load.
func (v *Window) OpenAt(start int64, p *loadplan.Plan) {
	v.Start = start
	v.From = start + int64(p.Warmup)
	if p.Duration > 0 {
		v.End = v.From + int64(p.Duration)
		v.Limit = v.End + int64(p.Drain)
	}
}

// Interrupt ends the window at an instant, and the drain soon after now.
func (v *Window) Interrupt(at, now, drain int64) {
	v.Interrupted = true
	if v.Start != NotYet {
		v.End = min(v.End, at)
		v.Limit = min(v.Limit, now+min(interruptedDrain, drain))
	}
}

// IsOver reports whether the run, drain included, has been over for so long that what has come by
// its end is not looked at any more. stop is when it was interrupted, of which the window may not
// know yet; 0: it was not.
func (v *Window) IsOver(now, stop int64) bool {
	return now-interruptedDrain >= v.Limit || stop != 0 && now-interruptedDrain >= stop
}

// IsWarmup reports whether what happens now belongs to the warm-up.
func (v *Window) IsWarmup(now int64) bool { return v.Start <= now && now < v.From }

// IsMeasured reports whether what happens now is measured.
func (v *Window) IsMeasured(now int64) bool { return now >= v.From && now < v.End }

// NextEdge is the end of the part (warm-up, window or drain) in which now lies.
func (v *Window) NextEdge(now int64) int64 {
	switch {
	case now < v.From:
		return v.From
	case now < v.End:
		return v.End
	}
	return v.Limit
}

// Overlap is the part of the time from since to now that lies in the window: when it begins, after
// the window's start, and its length, which is negative if there is none.
func (v *Window) Overlap(since, now int64) (begin, length int64) {
	begin = max(since, v.From)
	return begin - v.From, min(now, v.End) - begin
}
