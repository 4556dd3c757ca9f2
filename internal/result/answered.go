package result

import (
	"fmt"

	"dyno/internal/engine/load"
)

// Answers are the requests of the window that were answered completely: rightly, which are
// those of Requests.Completed, or with an error by the answer's status.
func (r *Result) Answers() int64 { return r.Requests.Completed + r.ErrorAnswers() }

// ErrorAnswers are those whose answer was an error by its status: a part of Requests.Errors.
func (r *Result) ErrorAnswers() int64 {
	if r.ErrorLatency == nil {
		return 0
	}
	return r.ErrorLatency.Count
}

// errorsInPhase is how many errors there were in a phase.
func (r *Result) errorsInPhase(phase load.Phase) (n int64) {
	for _, e := range r.Errors {
		if e.Phase == string(phase) {
			n += e.Count
		}
	}
	return n
}

// OnlyErrors reports whether there were answers, and each of them was an error.
func (r *Result) OnlyErrors() bool { return r.Requests.Completed == 0 && r.ErrorAnswers() > 0 }

// Answers are answers a second, right ones and errors.
func (q Rate) Answers() float64 { return q.Completed + valueOrZero(q.ErrorAnswers) }

// mainLatency is the latency that there is most of: of right answers or, where every answer was
// an error, of those. It is nil where nothing was answered.
func (r *Result) mainLatency() *Distribution {
	if r.Latency != nil {
		return r.Latency
	}
	return r.ErrorLatency
}

// Answers are the answers of the interval, right ones and errors.
func (p Point) Answers() (n int64) {
	for _, of := range p.Status {
		n += of
	}
	return max(n, p.Completed) // an older dyno's points have no Status
}

// checkSums checks that what came of r's requests is as many as they are, and that all
// latencies are there, those of errors too: what a generator sends must not be lost on the way.
func (r *Result) checkSums() error {
	q, latencies := r.Requests, int64(0)
	if r.Latency != nil {
		latencies = r.Latency.Count
	}
	if wrong := r.ErrorAnswers(); wrong != r.errorsInPhase(load.Expect) {
		return fmt.Errorf("part %d does not add up: %d answers were errors, and %d have a latency",
			r.Plan.Part+1, r.errorsInPhase(load.Expect), wrong)
	}
	if q.Completed+q.Errors+q.Unfinished != q.Sent || latencies != q.Completed {
		return fmt.Errorf("part %d does not add up: %d requests are not %d completed, %d failed and "+
			"%d unfinished, or have not %d latencies", r.Plan.Part+1, q.Sent, q.Completed, q.Errors,
			q.Unfinished, latencies)
	}
	return nil
}
