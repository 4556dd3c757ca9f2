package result

import (
	"regexp"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/redact"
)

// This file keeps secrets out of the names of checks.

// word is a name in a path of JSON.
var word = regexp.MustCompile(`[A-Za-z_][\w-]*`)

// keepCheck is what is kept of the name of a check. That of a header is "Name: value", and its
// value is kept as that of a response's field is. That of JSON is "json:path==value".
func keepCheck(keep redact.Replacer, check string) string {
	if keep == nil {
		return check
	}
	name, value, found := strings.Cut(check, ":")
	name = strings.TrimSpace(name)
	switch {
	case name == "json":
		return keepJSONCheck(keep, check)
	case !found || strings.ContainsAny(name, " /") ||
		slices.Contains([]string{"contains", "regex", "sha256"}, name):
		return keep.Route(check) // may be a method and a path, too
	}
	value = strings.TrimLeft(value, " \t")
	return check[:len(check)-len(value)] + keep.AnswerField(name, value)
}

// keepJSONCheck is keepCheck of one that compares: without the value if the last name before it is
// that of a secret.
func keepJSONCheck(keep redact.Replacer, check string) string {
	for from := 0; ; {
		i := strings.Index(check[from:], "==")
		if i < 0 {
			return check
		}
		from += i + len("==")
		names := word.FindAllString(check[:from], -1)
		if last := names[len(names)-1]; redact.Secret(last) {
			return check[:from] + keep(last, check[from:])
		}
	}
}

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

// keepExpectations is what is kept of what responses must be.
func keepExpectations(keep redact.Replacer, e loadplan.Expectations) loadplan.Expectations {
	name := func(check string) string { return keepCheck(keep, check) }
	return loadplan.Expectations{Body: keptNames(e.Body, name), Header: keptNames(e.Header, name)}
}

// keptCheckName returns the function that maps the name of a check to what is kept of it. plan has
// the names of a plan, and kept what is kept of each.
func keptCheckName(plan, kept []string, keep redact.Replacer) func(string) string {
	return func(s string) string {
		if i := slices.Index(plan, s); i >= 0 {
			return kept[i]
		}
		return keepCheck(keep, s)
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
