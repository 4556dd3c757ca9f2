package cli

import (
	"context"
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/objective"
	"dyno/internal/result"
)

// A guard ends a run with --abort-on-slo. The zero value never ends one.
type guard struct {
	*objective.Guard
	broken *result.Outcome // what ended it
}

// newGuard returns the guard of the run that the flags describe.
func newGuard(f *runFlags) *guard {
	if !f.abortOnSLO {
		return &guard{}
	}
	return &guard{Guard: objective.NewGuard(f.plan, f.objectives)}
}

// watchInterval calls abort when an objective is broken.
func (g *guard) watchInterval(iv loadresult.Interval, abort context.CancelCauseFunc) {
	if g.Guard == nil || g.broken != nil {
		return
	}
	if g.broken = g.Second(iv); g.broken != nil {
		abort(loadresult.ErrAborted)
	}
}

// judgeObjectives judges r by all objectives. The objective that ended the run keeps its value from
// then, because the requests that the abort cut off would have counted.
func (g *guard) judgeObjectives(r *result.Result, all []objective.Objective) {
	for _, o := range all {
		out := o.Judge(r)
		if g.broken != nil && g.broken.Expr == out.Expr && r.Ended == string(loadresult.Aborted) {
			out = *g.broken
		}
		r.Objectives = append(r.Objectives, out)
	}
	objective.NoteUnjudged(r)
}

// abortable returns the faults of --abort-on-slo.
func (f *runFlags) abortable() []error {
	if !f.abortOnSLO || slices.ContainsFunc(f.objectives, objective.Objective.Live) {
		return nil
	}
	return []error{loadplan.Flaw{Setting: "--abort-on-slo", Problem: "needs an --slo of latency, " +
		"service time, iterations, errors, checks or rps: of others the value is not known before the " +
		"end"}}
}
