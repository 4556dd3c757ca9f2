package result

import (
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/redact"
)

// This file keeps secrets out of the names of checks.

// redactedPlan is Redacted, and takes the secrets of p also out of its checks: what a response must
// have may be what its request had.
func redactedPlan(p loadplan.Plan, keep redact.Replacer) loadplan.Plan {
	kept := Redacted(p, keep)
	if keep == nil || len(p.Checks)+len(p.Expectations.Body)+len(p.Expectations.Header) == 0 {
		return kept
	}
	known := Known(p, keep)
	kept.Checks = keptNames(kept.Checks, known.Text)
	conceal := func(e loadplan.Expectations) loadplan.Expectations {
		return loadplan.Expectations{Body: keptNames(e.Body, known.Text),
			Header: keptNames(e.Header, known.Text)}
	}
	kept.Expectations = conceal(kept.Expectations)
	for i := range kept.Requests {
		if e := kept.Requests[i].Expect; e != nil {
			*e = conceal(*e)
		}
	}
	return kept
}

// Live is what may be shown of p while it runs: p without its secrets, and a function that takes
// them out of a failure.
func Live(p loadplan.Plan) (loadplan.Plan, func(loadresult.Failure) loadresult.Failure) {
	keep := redact.Replacer(redact.PlainMark)
	kept, known := redactedPlan(p, keep), Known(p, keep)
	name := keptCheckName(p.Checks, kept.Checks, keep)
	return kept, func(f loadresult.Failure) loadresult.Failure {
		if f.Phase == loadresult.Check {
			f.Kind = name(f.Kind)
		}
		f.Detail = known.Cut(f.Detail)
		return f
	}
}

// keepExpectations is what is kept of what responses must be.
func keepExpectations(keep redact.Replacer, e loadplan.Expectations) loadplan.Expectations {
	return loadplan.Expectations{Body: keptNames(e.Body, keep.Check),
		Header: keptNames(e.Header, keep.Check)}
}

// keptCheckName returns the function that maps the name of a check to what is kept of it. plan has
// the names of a plan, and kept what is kept of each.
func keptCheckName(plan, kept []string, keep redact.Replacer) func(string) string {
	return func(s string) string {
		if i := slices.Index(plan, s); i >= 0 {
			return kept[i]
		}
		return keep.Check(s)
	}
}

// nameChecks renames checks. A name is also the kind of the errors of its check.
func (r *Result) nameChecks(name func(string) string) {
	for i := range r.Checks {
		r.Checks[i].Name = name(r.Checks[i].Name)
	}
	for i := range r.Errors {
		if e := &r.Errors[i]; e.Phase == string(loadresult.Check) {
			e.Kind = name(e.Kind)
		}
	}
}
