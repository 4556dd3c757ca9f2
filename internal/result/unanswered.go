package result

import (
	"slices"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
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
		if r.Stream != nil {
			r.Stream.AddUnanswered(l.FirstEventBounds())
		}
		if i := part.Iterations; i != nil && r.Iterations.Time != nil {
			all := i.Waited
			if l.Planned {
				all = []durations.Bound{{US: l.Drained, Count: i.Unfinished + orZero(i.Waiting)}}
			}
			r.Iterations.Time = r.Iterations.Time.WithUnanswered(all...)
		}
	}
}

// waited is what is known of r's waits for answers that did not come.
func (r *Result) waited() unanswered.Load {
	q := r.Requests
	planned := []loadresult.Ending{loadresult.ByDuration, loadresult.ByRequests}
	return unanswered.Load{Open: r.Model == OpenLoop,
		Planned: slices.Contains(planned, loadresult.Ending(r.Ended)),
		Drained: r.Window.DrainedS * 1e6, Window: r.Window.MeasuredS * 1e6,
		Slots: min(r.inFlight(), r.userCount()), Answers: r.Answers(),
		Unfinished: q.Unfinished, Waiting: orZero(q.Waiting), Waited: q.Waited, Waits: q.Unanswered}
}

// Missing is how many requests had no answer; nil if all had one.
func (r *Result) Missing() fact.Args {
	if r.Requests.Held > 0 {
		return r.noServer()
	}
	if missing := r.waited().Missing(r.Requests.Sent); missing != (fact.AnswersMissing{}) {
		return missing
	}
	return nil
}
