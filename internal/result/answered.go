package result

import (
	"fmt"

	"dyno/internal/engine/loadresult"
)

// Answers is how many requests of the window were answered completely: those of Requests.Completed,
// and errors by status.
func (r *Result) Answers() int64 { return r.Requests.Completed + r.ErrorAnswers() }

// ErrorAnswers is how many of Requests.Errors were answered completely, with a status that is an
// error, or without passing a scenario's check.
func (r *Result) ErrorAnswers() int64 {
	if r.ErrorLatency == nil {
		return 0
	}
	return r.ErrorLatency.Count
}

// wrongAnswers is how many errors were complete answers: of a status that was not expected, or that
// did not pass a check.
func (r *Result) wrongAnswers() int64 {
	return r.errorsInPhase(loadresult.Expect) + r.errorsInPhase(loadresult.Check) - r.Refused()
}

// Refused is how many requests of the window were due and not sent because a value does not fit its
// place. They are none of Requests.
func (r *Result) Refused() (n int64) {
	for _, e := range r.Errors {
		if e.isRefusal() {
			n += e.Count
		}
	}
	return n
}

// isRefusal reports whether e is of requests that were not sent: see Refused.
func (e *Error) isRefusal() bool {
	return loadresult.IsRefusal(loadresult.Phase(e.Phase), e.Kind, e.Address)
}

// errorsInPhase is how many errors there were in a phase.
func (r *Result) errorsInPhase(phase loadresult.Phase) (n int64) {
	for _, e := range r.Errors {
		if e.Phase == string(phase) {
			n += e.Count
		}
	}
	return n
}

// OnlyErrors reports whether there were answers, and each of them was an error.
func (r *Result) OnlyErrors() bool { return r.Requests.Completed == 0 && r.ErrorAnswers() > 0 }

// AnswersPerSecond is the rate of all answers, errors included.
func (q Rate) AnswersPerSecond() float64 { return q.Completed + orZero(q.ErrorAnswers) }

// MainLatency is the latency of expected answers or, if every answer was an error, of the errors.
// It is nil if nothing was answered.
func (r *Result) MainLatency() *Distribution {
	if r.Latency != nil {
		return r.Latency
	}
	return r.ErrorLatency
}

// Answers is how many answers the interval had, errors included.
func (p Point) Answers() (n int64) {
	for _, of := range p.Status {
		n += of
	}
	return max(n, p.Completed) // results of older versions have no Status in points
}

// Answered is how many right answers came in the interval, as Rate.Completed counts them.
func (p *Point) Answered() int64 { return p.Completed + p.Early }

// Passed is how many iterations completed in the interval, as Iterations.Rate counts them.
func (p *Point) Passed() int64 { return p.Iterations + p.EarlyIterations }

// CheckSums checks that the outcomes of r's requests add up to their number, and that every answer
// has a latency, errors included. A generator's message may have been truncated.
func (r *Result) CheckSums() error {
	q, latencies := r.Requests, int64(0)
	if r.Latency != nil {
		latencies = r.Latency.Count
	}
	if wrong, n := r.ErrorAnswers(), r.wrongAnswers(); wrong != n {
		return fmt.Errorf("part %d does not add up: %d answers were errors, and %d have a latency",
			r.Plan.Part+1, n, wrong)
	}
	if q.Completed+q.Errors+q.Unfinished != q.Sent || latencies != q.Completed {
		return fmt.Errorf("part %d does not add up: %d requests are not %d completed, %d failed and "+
			"%d unfinished, or have not %d latencies", r.Plan.Part+1, q.Sent, q.Completed, q.Errors,
			q.Unfinished, latencies)
	}
	if err := r.Iterations.checkSums(); err != nil {
		return fmt.Errorf("part %d does not add up: %w", r.Plan.Part+1, err)
	}
	return nil
}
