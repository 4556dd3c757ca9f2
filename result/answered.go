package result

import "dyno/load"

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

// errorsOf is how many errors there were in a phase.
func (r *Result) errorsOf(phase load.Phase) (n int64) {
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
func (q Rate) Answers() float64 { return q.Completed + value(q.ErrorAnswers) }

// answered is the latency that there is most of: of right answers or, where every answer was
// an error, of those. It is nil where nothing was answered.
func (r *Result) answered() *Distribution {
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
