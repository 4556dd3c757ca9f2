package result

import (
	"reflect"
	"slices"

	"dyno/internal/fact"
	"dyno/internal/redact"
)

// Conceal takes what k knows out of all that others said and r repeats: servers in errors, and
// those errors in reasons. What dyno says itself of r is said anew, and not searched: a secret may
// be a word of it by chance.
func (r *Result) Conceal(k *redact.Known) {
	r.restate(func() {
		for _, text := range r.foreignTexts() {
			*text = k.Cut(*text)
		}
	}, k.Cut)
}

// restate changes r, and then writes anew the warnings and reasons that follow from r. Of all
// others, such as those of a fleet or of the load before it was judged, it keeps what other leaves.
func (r *Result) restate(change func(), other func(string) string) {
	before, found := r.sayAgain()
	change()
	after, foundNow := r.sayAgain()
	for _, list := range [][]string{r.Warnings, r.Generator.Reasons} {
		for i, s := range list {
			if at := slices.Index(before, s); at >= 0 && len(before) == len(after) {
				list[i] = after[at]
			} else {
				list[i] = other(s)
			}
		}
	}
	for i, f := range r.Facts {
		at := slices.IndexFunc(found, func(known fact.Fact) bool { return reflect.DeepEqual(known, f) })
		if at >= 0 && len(found) == len(foundNow) {
			r.Facts[i] = foundNow[at]
		} else {
			r.Facts[i].ReplaceTexts(other)
		}
	}
	r.Warnings = r.WarningsIn(r.Voice())
}

// unchanged is s.
func unchanged(s string) string { return s }

// sayAgain is what dyno says of what r keeps, in sentences and in facts, in an order that is the
// same whatever others said.
func (r *Result) sayAgain() ([]string, []fact.Fact) {
	again := *r
	again.Facts = nil
	again.judgeGenerator()
	sentences := append(again.Generator.Reasons, warnings(&again)...)
	return sentences, append(again.Facts, cautions(&again)...)
}

// foreignTexts are the texts of r that others said.
func (r *Result) foreignTexts() (all []*string) {
	errors := [][]Error{r.Errors}
	if r.Probe != nil {
		errors = append(errors, r.Probe.Errors)
	}
	for _, list := range errors {
		for i := range list {
			all = append(all, &list[i].Detail, &list[i].Sample)
		}
	}
	all = append(all, &r.Cause)
	if r.FCGIStderr != nil {
		all = append(all, &r.FCGIStderr.Text)
	}
	if r.Fleet != nil {
		for i := range r.Fleet.Agents {
			all = append(all, &r.Fleet.Agents[i].Lost)
		}
	}
	return all
}

// repeatsOthers reports whether there is anything in r that others may have said.
func (r *Result) repeatsOthers() bool {
	said := slices.ContainsFunc(r.foreignTexts(), func(s *string) bool { return *s != "" })
	return said || len(r.Warnings)+len(r.Generator.Reasons) > 0
}
