package cli

import (
	"context"
	"slices"

	"dyno/internal/engine/load"
	"dyno/internal/result"
)

// A guard ends a run with --abort-on-slo. The zero value never does.
type guard struct {
	*result.Guard
	broken *result.Outcome // what ended it
	err    error
}

// newGuard is what watches the run that the flags ask for.
func newGuard(f *runFlags) *guard {
	if !f.abortOnSLO {
		return &guard{}
	}
	return &guard{Guard: result.NewGuard(f.plan, f.objectives)}
}

// watchIntervals is each, and ends the run by abort when an objective is broken.
func (g *guard) watchIntervals(each func(load.Interval),
	abort context.CancelCauseFunc) func(load.Interval) {
	if g.Guard == nil {
		return each
	}
	return func(iv load.Interval) {
		if g.broken == nil && g.err == nil {
			if g.broken, g.err = g.Second(iv); g.broken != nil {
				abort(load.ErrAborted)
			}
		}
		each(iv) // which a terminal that is stopped can hold up
	}
}

// judgeObjectives holds r against all objectives. What ended the run stays as it was then: the
// exchanges that were broken off would have had their part in it.
func (g *guard) judgeObjectives(r *result.Result, all []result.Objective) {
	for _, o := range all {
		out := o.Judge(r)
		if g.broken != nil && g.broken.Expr == out.Expr && r.Ended == string(load.Aborted) {
			out = *g.broken
		}
		r.Objectives = append(r.Objectives, out)
	}
}

// abortable are the faults of --abort-on-slo.
func (f *runFlags) abortable() []error {
	if !f.abortOnSLO || slices.ContainsFunc(f.objectives, result.Objective.Live) {
		return nil
	}
	return []error{load.Flaw{Setting: "--abort-on-slo", Problem: "needs an --slo of latency, " +
		"service time, errors or rps: of others the value is not known before the end"}}
}
