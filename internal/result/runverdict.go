package result

import "slices"

// FailingShare is the share of the requests, or of a scenario's iterations, from which on a run is
// failing.
const FailingShare = 0.01

// The verdicts on a run that the generator's self-check does not have.
const (
	Unanswered = "unanswered" // nothing was answered
	Failing    = "failing"    // FailingShare of the requests or iterations failed
	Missed     = "missed"     // an objective
	Undecided  = "undecided"  // an objective was neither met nor missed
)

// RunVerdict is the verdict on a run in a word: what the server did, then its objectives, then the
// generator's self-check. Every list and title has this one.
func (r *Result) RunVerdict() string {
	_, failing := r.FailedIterations()
	switch {
	case r.Answers() == 0:
		return Unanswered
	case failing || r.FailedShare() >= FailingShare:
		return Failing
	case slices.ContainsFunc(r.Objectives, Outcome.IsMissed):
		return Missed
	case slices.ContainsFunc(r.Objectives, Outcome.IsUndecided):
		return Undecided
	}
	return r.Generator.Verdict
}

// FailedShare is the share of the requests that failed.
func (r *Result) FailedShare() float64 {
	return float64(r.Requests.Errors) / float64(max(r.Requests.Sent, 1))
}

// FailedIterations is the share of a scenario's iterations that failed, and whether that matters.
func (r *Result) FailedIterations() (share float64, failing bool) {
	if r.Iterations == nil {
		return 0, false
	}
	share = float64(r.Iterations.Failed) / float64(max(r.Iterations.Started, 1))
	return share, share >= FailingShare
}
