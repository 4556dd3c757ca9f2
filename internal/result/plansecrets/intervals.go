package plansecrets

import (
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/redact"
)

// IntervalConcealer returns a function that takes out of an interval what of p is secret: what
// servers said of it in failures has what keep leaves. A nil keep leaves all. What is known of p is
// computed now: with many secrets that takes up to a second of a CPU, which the load is to have.
func IntervalConcealer(p loadplan.Plan, keep redact.Replacer) func(
	loadresult.Interval) loadresult.Interval {
	if keep == nil {
		return func(iv loadresult.Interval) loadresult.Interval { return iv }
	}
	known := Known(p, keep)
	return func(iv loadresult.Interval) loadresult.Interval {
		iv.Failures = slices.Clone(iv.Failures)
		for i := range iv.Failures {
			f := &iv.Failures[i]
			if f.Detail = known.Cut(f.Detail); f.Phase == loadresult.Check { // its kind is the check's name
				f.Kind = known.Cut(keep.Check(f.Kind))
			}
		}
		return iv
	}
}
