package result

import (
	"slices"

	"dyno/internal/engine/loadresult"
)

// countUnanswered adds to latencies what was not answered when the load of all parts of r had
// ended: requests that were due in the window and had no answer at the end of the drain, or were
// never sent, and what users would have asked meanwhile whose slot waited for the answer to a
// request of the warm-up for the whole window. How long they would have taken is not known, but
// that it is longer than the drain, or than the window.
func (r *Result) countUnanswered(parts []*Result) {
	add := func(to **Distribution, us float64, n int64) {
		if *to != nil {
			*to = (*to).WithUnanswered(us, n)
		}
	}
	for _, part := range parts {
		if !part.endedAsPlanned() {
			continue // it is not known how long it waited
		}
		q, drained, window := part.Requests, part.Window.DrainedS*1e6, part.Window.MeasuredS*1e6
		waiting := orZero(q.Waiting)
		add(&r.Latency, drained, q.Unfinished+waiting)
		add(&r.Latency, window, q.Held*part.answersOfSlot())
		if part.Model == ClosedLoop {
			add(&r.Service, drained, q.Unfinished)
			add(&r.Service, window, q.Held*part.answersOfSlot())
		}
		if i := part.Iterations; i != nil {
			add(&r.Iterations.Time, drained, i.Unfinished+orZero(i.Waiting))
		}
	}
}

// answersOfSlot is how many answers each slot had on average of those that were not held: so many
// requests one that was held did not send. A server that starves some of its users would otherwise
// have the percentiles of the others.
func (r *Result) answersOfSlot() int64 {
	return max(1, r.Answers()/max(1, int64(r.inFlight())-r.Requests.Held))
}

// endedAsPlanned reports whether the load went on until its planned end, and the drain too.
func (r *Result) endedAsPlanned() bool {
	return slices.Contains([]loadresult.Ending{loadresult.ByDuration, loadresult.ByRequests},
		loadresult.Ending(r.Ended))
}
