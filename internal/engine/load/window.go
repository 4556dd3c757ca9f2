package load

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
)

// A window is when a worker's load begins, is measured and ends, on the ring's clock. Its
// predicates take an instant and change nothing.
type window struct {
	start       int64 // of the load, warm-up included; notYet until every worker is connected
	from, end   int64 // of what is measured; an end of notYet: only the number of requests ends it
	limit       int64 // end of the drain, and of the run
	interrupted bool  // no request is sent any more
}

// notYet is an instant that has not been fixed yet.
const notYet = ring.Never

// interruptedDrain is how long the drain lasts after an interruption, in ns. Most answers arrive in
// that time, and a user who interrupts does not want to wait for a whole drain.
const interruptedDrain = int64(50e6)

// unopenedWindow is a window whose instants are not fixed.
func unopenedWindow() window {
	return window{start: notYet, from: notYet, end: notYet, limit: notYet}
}

// openAt fixes all instants of the plan's window from the start of the load.
func (v *window) openAt(start int64, p *loadplan.Plan) {
	v.start = start
	v.from = start + int64(p.Warmup)
	if p.Duration > 0 {
		v.end = v.from + int64(p.Duration)
		v.limit = v.end + int64(p.Drain)
	}
}

// interrupt ends the window at an instant, and the drain soon after now.
func (v *window) interrupt(at, now, drain int64) {
	v.interrupted = true
	if v.start != notYet {
		v.end = min(v.end, at)
		v.limit = min(v.limit, now+min(interruptedDrain, drain))
	}
}

// isWarmup reports whether what happens now belongs to the warm-up.
func (v *window) isWarmup(now int64) bool { return v.start <= now && now < v.from }

// isMeasured reports whether what happens now is measured.
func (v *window) isMeasured(now int64) bool { return now >= v.from && now < v.end }

// nextEdge is the end of the part (warm-up, window or drain) in which now lies.
func (v *window) nextEdge(now int64) int64 {
	switch {
	case now < v.from:
		return v.from
	case now < v.end:
		return v.end
	}
	return v.limit
}

// overlap is the part of the time from since to now that lies in the window: when it begins, after
// the window's start, and its length, which is negative if there is none.
func (v *window) overlap(since, now int64) (begin, length int64) {
	begin = max(since, v.from)
	return begin - v.from, min(now, v.end) - begin
}
