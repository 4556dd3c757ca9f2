// Package plansecrets keeps the secrets of a plan out of what is stored and shown of a run. It
// finds them by the rules of package redact, and package result calls it.
//
//	answers.go     samples of errors, in which servers repeat what they were sent
//	intervals.go   failures while the load runs
//	plan.go        the plan that a result has
//	request.go     a single request, and what stands in its holes
//	values.go      the secret values, to search other texts for them
package plansecrets

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
	p.Target.URL, p.Proxy = keep.URL(p.Target.URL), keep.URL(p.Proxy)
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
			kept := *r.Expect
			kept.Expectations = keepExpectations(keep, kept.Expectations)
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
	p.Stream.Steps = keptNames(p.Stream.Steps, keep.Route)
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
func contentType(all []proto.Field) string { return fieldOf(all, "Content-Type") }

// fieldOf is the value of the first field of that name; "" if there is none.
func fieldOf(all []proto.Field, name string) string {
	for _, f := range all {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Stored is the plan as a result has it: Redacted, and without the secrets of p in its checks, for
// what a response must have may be what its request had.
func Stored(p loadplan.Plan, keep redact.Replacer) loadplan.Plan {
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
			e.Expectations = conceal(e.Expectations)
		}
	}
	return kept
}

// keepExpectations is what is kept of what responses must be.
func keepExpectations(keep redact.Replacer, e loadplan.Expectations) loadplan.Expectations {
	return loadplan.Expectations{Body: keptNames(e.Body, keep.Check),
		Header: keptNames(e.Header, keep.Check)}
}

// CheckNames returns the function that maps the name of a check to what is kept of it. plan has
// the names of a plan, and kept what is kept of each.
func CheckNames(plan, kept []string, keep redact.Replacer) func(string) string {
	return func(s string) string {
		if i := slices.Index(plan, s); i >= 0 {
			return kept[i]
		}
		return keep.Check(s)
	}
}
