package run

import (
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"errors"
	"fmt"
)

// ErrNothingLeft is the error of an experiment of several variants of which no two can be compared.
var ErrNothingLeft = errors.New("nothing is left to compare")

// checkComparable returns ErrNothingLeft, with a remedy for each variant, if no comparison is left.
// An experiment of one variant needs none.
func (r *running) checkComparable() error {
	if judge.BreaksScreening(r.record) {
		return fmt.Errorf("%s: a screening (design.screen) needs all of its variants: %w",
			judge.Unloaded(r.record), ErrNothingLeft)
	}
	if !judge.LeavesNothing(r.record) {
		return nil
	}
	return fmt.Errorf("%s: %w", judge.Unloaded(r.record), ErrNothingLeft)
}

// checkMeasured returns ErrNothingLeft, with the first failure of each variant, if so many variants
// failed in their trials that no comparison is left. With over, no trial follows.
func (r *running) checkMeasured(over bool) error {
	now := *r.record
	switch now.Trials = nil; {
	case !over:
		now.State = lab.Running
	case now.State == lab.Running:
		now.State = lab.Complete
	}
	for _, t := range r.trials {
		now.Trials = append(now.Trials, lab.TrialSummary{Slot: t.Slot, Failure: t.Failure})
	}
	if !judge.LeavesNothing(&now) {
		return nil
	}
	if over {
		r.record.State = now.State
	}
	return fmt.Errorf("%s: %w", judge.Unloaded(&now), ErrNothingLeft)
}
