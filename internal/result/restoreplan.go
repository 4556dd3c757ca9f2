package result

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/redact"
	"dyno/internal/result/plansecrets"
)

// RestorePlan gives r the plan's part that its generator had from elsewhere, or had only in part:
// the requests of p, by which r was measured, their parameters and the target's URL, as keep
// leaves them; and takes out of what servers said what keep does not leave. What a generator says
// of the plan does not count, nor has it the key of the marks. Whoever has p calls it once, before
// the result goes anywhere; until then a result has plain marks, and the names of its routes are
// p's. So if the call is forgotten, the result says too little and not too much.
func (r *Result) RestorePlan(p loadplan.Plan, keep redact.Replacer) error {
	if r == nil {
		return nil
	}
	kept := plansecrets.Stored(p, keep)
	kept.Data = nil
	if err := kept.SetData(); err != nil {
		return err
	}
	names := map[string]string{}
	for i := range p.Requests {
		names[p.Requests[i].Name] = kept.Requests[i].Name
	}
	for i, name := range p.Steps {
		names[name] = kept.Steps[i]
	}
	for i, route := range r.Routes {
		if name, known := names[route.Name]; known {
			r.Routes[i].Name = name
		} else {
			r.Routes[i].Name = keep.Route(route.Name)
		}
	}
	checkName := plansecrets.CheckNames(p.Checks, kept.Checks, keep)
	r.restate(func() { r.nameChecks(checkName) }, unchanged)
	r.Plan.Steps, r.Plan.Checks = kept.Steps, kept.Checks
	r.Plan.Stream.Steps = kept.Stream.Steps
	r.Plan.Target.URL, r.Plan.Params = kept.Target.URL, kept.Params
	r.Plan.Requests, r.Plan.Data = kept.Requests, kept.Data
	r.Plan.Variables, r.Plan.Expectations = kept.Variables, kept.Expectations
	r.Plan.Script = kept.Script
	switch {
	case keep == nil:
		r.redactSamples(plansecrets.Answers{}, checkName)
	case len(r.Samples) > 0 || r.repeatsOthers():
		a := plansecrets.NewAnswers(p, keep, r.Samples)
		r.redactSamples(a, checkName)
		r.Conceal(a.Known())
	}
	return nil
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
