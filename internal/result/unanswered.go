package result

import (
	"fmt"
	"slices"

	"dyno/internal/digits"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result/durations"
	"dyno/internal/result/unanswered"
)

// countUnanswered adds to latencies what was not answered by the load of all parts of r.
func (r *Result) countUnanswered(parts []*Result) {
	for _, part := range parts {
		l := part.waited()
		latency, service, firstByte := l.Bounds()
		for _, d := range []struct {
			to  **Distribution
			all []durations.Bound
		}{{&r.Latency, latency}, {&r.Service, service}, {&r.Phases.FirstByte, firstByte}} {
			if *d.to != nil {
				*d.to = (*d.to).WithUnanswered(d.all...)
			}
		}
		if i := part.Iterations; i != nil && r.Iterations.Time != nil && l.Planned {
			r.Iterations.Time = r.Iterations.Time.WithUnanswered(
				durations.Bound{US: l.Drained, Count: i.Unfinished + orZero(i.Waiting)})
		}
	}
}

// waited is what is known of r's waits for answers that did not come.
func (r *Result) waited() unanswered.Load {
	q := r.Requests
	planned := []loadresult.Ending{loadresult.ByDuration, loadresult.ByRequests}
	return unanswered.Load{Open: r.Model == OpenLoop,
		Planned: slices.Contains(planned, loadresult.Ending(r.Ended)),
		Drained: r.Window.DrainedS * 1e6, Window: r.Window.MeasuredS * 1e6, Slots: r.inFlight(),
		Answers: r.Answers(), Unfinished: q.Unfinished, Waiting: orZero(q.Waiting),
		Waits: q.Unanswered}
}

// NoteUnanswered says how many requests had no answer; "" if all had one.
func (r *Result) NoteUnanswered() string {
	l := r.waited()
	if n := r.Requests.Held; n > 0 {
		return fmt.Sprintf("connections or streams without an answer in the whole window: %d", n)
	}
	if share := l.SlotShare(); share > 0 {
		return fmt.Sprintf("connections or streams waited for %s %% of the time for answers that did "+
			"not come", digits.Significant(100*share, 2))
	}
	n, longest := l.Requests()
	if n == 0 {
		return ""
	}
	of := r.Requests.Sent + l.Waiting
	if longest > 0 {
		return fmt.Sprintf("%d of %d requests had no answer in %s s", n, of,
			digits.Significant(longest/1e6, 2))
	}
	return fmt.Sprintf("%d of %d requests had no answer %s s after the window", n, of,
		digits.Significant(l.Drained/1e6, 2))
}
