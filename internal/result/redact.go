package result

import (
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
)

// Redacted is what is kept of a plan: what keep leaves of its headers, parameters, URLs and bodies.
// A nil keep leaves all. Credentials of the target's URL have become a header before they got here.
func Redacted(p loadplan.Plan, keep redact.Replacer) loadplan.Plan {
	if keep == nil {
		return p
	}
	secret := map[string]bool{} // variables that stand where secrets do
	if len(p.Variables) > 0 || p.HasTemplates() {
		keep = keep.KeepHoles(secret)
	}
	p.Target.URL = keep.URL(p.Target.URL)
	p.Requests = slices.Clone(p.Requests)
	var given, kept []proto.Field // of the request before: most have the same
	for i := range p.Requests {
		r := &p.Requests[i]
		if r.Template != nil {
			r.Request, r.Sources = *r.Template, nil
		}
		if len(r.Header) == 0 || len(given) != len(r.Header) || &given[0] != &r.Header[0] {
			given, kept = r.Header, redactHeaders(r.Header, keep)
		}
		r.Header = kept
		if r.Template != nil {
			r.Body = keep.TemplateBody(contentType(given), r.Body)
		} else {
			r.Body = keep.Body(contentType(given), r.Body)
		}
		if r.Name = keep.Route(r.Name); r.Path != "*" {
			r.Path = keep.URL(r.Path)
		}
		if r.Template != nil {
			kept := r.Request
			r.Template = &kept
		}
		if r.Expect != nil {
			kept := keepExpectations(keep, *r.Expect)
			r.Expect = &kept
		}
	}
	p.Expectations = keepExpectations(keep, p.Expectations)
	p.Variables = slices.Clone(p.Variables)
	for i, v := range p.Variables {
		if secret[v.Name] {
			p.Variables[i].Value = keep(v.Name, v.Value)
		} else {
			p.Variables[i].Value = keep.Variable(v.Name, v.Value)
		}
	}
	if s := p.Script; s != nil {
		p.Script = &loadplan.Script{File: s.File, SHA256: s.SHA256, Args: keep.Words(s.Args)}
	}
	p.Steps = keptNames(p.Steps, keep.Route)
	p.Checks = keptNames(p.Checks, keep.Check)
	p.Params = slices.Clone(p.Params)
	for i, f := range p.Params {
		p.Params[i].Value = keep.Param(f.Name, f.Value)
	}
	return p
}

// keptNames are all names, each as keep leaves it.
func keptNames(all []string, keep func(string) string) []string {
	kept := slices.Clone(all)
	for i, name := range kept {
		kept[i] = keep(name)
	}
	return kept
}

func redactHeaders(given []proto.Field, keep redact.Replacer) []proto.Field {
	kept := slices.Clone(given)
	for i, f := range kept {
		kept[i].Value = keep.Header(f.Name, f.Value)
	}
	return kept
}

// contentType is what headers say of a body; "" if nothing.
func contentType(all []proto.Field) string {
	for _, f := range all {
		if strings.EqualFold(f.Name, "Content-Type") {
			return f.Value
		}
	}
	return ""
}

// RestorePlan gives r the plan's part that its generator had from elsewhere, or had only in part:
// the requests of p, by which r was measured, their parameters and the target's URL, as keep
// leaves them; and takes out of what servers said what keep does not leave. What a generator says
// of the plan does not count. Whoever has p calls it once, before the result goes anywhere; until
// then a result has plain marks, and the names of its routes are p's. So if the call is forgotten,
// the result says too little and not too much.
func (r *Result) RestorePlan(p loadplan.Plan, keep redact.Replacer) error {
	if r == nil {
		return nil
	}
	kept := redactedPlan(p, keep)
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
	checkName := keptCheckName(p.Checks, kept.Checks, keep)
	r.restate(func() { r.nameChecks(checkName) }, unchanged)
	r.Plan.Steps, r.Plan.Checks = kept.Steps, kept.Checks
	r.Plan.Target.URL, r.Plan.Params = kept.Target.URL, kept.Params
	r.Plan.Requests, r.Plan.Data = kept.Requests, kept.Data
	r.Plan.Variables, r.Plan.Expectations = kept.Variables, kept.Expectations
	r.Plan.Script = kept.Script
	switch {
	case keep == nil:
		r.redactSamples(answers{}, checkName)
	case len(r.Samples) > 0 || r.repeatsOthers():
		a := newAnswers(p, keep, r.Samples)
		r.redactSamples(a, checkName)
		r.Conceal(a.known)
	}
	return nil
}
