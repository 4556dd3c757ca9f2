package result

import (
	"slices"
	"strings"

	"dyno/internal/engine/load"
	"dyno/internal/redact"
)

// Secrets are the values that Redacted takes out of p, each once, redact.MostKnown of them at most.
// Of a long one it is the beginning, with 4 KiB.
func Secrets(p load.Plan) (all []string) {
	const longest = 4 << 10
	had := map[string]bool{}
	Redacted(p, func(_, value string) string {
		if v := value[:min(len(value), longest)]; len(all) < redact.MostKnown && !had[v] {
			v = strings.Clone(v) // of a body that is not to be held by it
			all, had[v] = append(all, v), true
		}
		return value
	})
	return all
}

// Conceal takes what k knows out of all that others said and r repeats: servers in errors, and
// those errors in reasons.
func (r *Result) Conceal(k *redact.Known) {
	for _, text := range r.foreignTexts() {
		*text = k.Cut(*text)
	}
}

// foreignTexts are the texts of r in which there may be words of others.
func (r *Result) foreignTexts() (all []*string) {
	add := func(texts []string) {
		for i := range texts {
			all = append(all, &texts[i])
		}
	}
	errors := [][]Error{r.Errors}
	if r.Probe != nil {
		errors = append(errors, r.Probe.Errors)
	}
	for _, list := range errors {
		for i := range list {
			all = append(all, &list[i].Detail)
		}
	}
	add(r.Warnings)
	add(r.Generator.Reasons)
	if r.Cause != "" {
		all = append(all, &r.Cause)
	}
	if r.FCGIStderr != nil {
		all = append(all, &r.FCGIStderr.Text)
	}
	if r.Fleet != nil {
		for i := range r.Fleet.Agents {
			all = append(all, &r.Fleet.Agents[i].Lost)
		}
	}
	return slices.DeleteFunc(all, func(s *string) bool { return *s == "" })
}

// ConcealIntervals is each, which is not told what of p is secret: what servers said of it in
// failures has what keep leaves. A nil keep leaves all.
func ConcealIntervals(p load.Plan, keep redact.Replacer,
	each func(load.Interval)) func(load.Interval) {
	if keep == nil {
		return each
	}
	var known *redact.Known // made when it is first needed, for most loads do not fail
	return func(iv load.Interval) {
		if len(iv.Failures) > 0 {
			if known == nil {
				known = redact.NewKnown(keep, Secrets(p))
			}
			iv.Failures = slices.Clone(iv.Failures)
			for i := range iv.Failures {
				iv.Failures[i].Detail = known.Cut(iv.Failures[i].Detail)
			}
		}
		each(iv)
	}
}
