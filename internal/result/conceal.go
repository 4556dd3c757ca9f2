package result

import (
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/redact"
)

// Secrets are the values that Redacted takes out of p and those of the environment, each once,
// redact.MostKnown of them at most. Of a long one it is the beginning, with 4 KiB.
func Secrets(p loadplan.Plan) (all []string) {
	const longest = 4 << 10
	had := map[string]bool{}
	note := redact.Replacer(func(_, value string) string {
		if v := value[:min(len(value), longest)]; len(all) < redact.MostKnown && !had[v] {
			v = strings.Clone(v) // of a body that is not to be held by it
			all, had[v] = append(all, v), true
		}
		return value
	})
	for _, value := range p.Environment {
		if value != "" {
			note("", value)
		}
	}
	Redacted(p, note)
	for i := range p.Requests { // which Redacted has as they were written, with variables' names
		r := &p.Requests[i]
		if r.Template == nil {
			continue
		}
		for k, f := range r.Header {
			if len(r.FieldHoles(k)) == 0 {
				note.Header(f.Name, f.Value)
			}
		}
		noteFilledBody(note, &p, i)
		note.URL(r.Path)
	}
	return all
}

// noteFilledBody notes the secrets of the body of the request of that number. Its holes have a
// value, so that it is the JSON or the form that it will be. What a secret has besides its holes is
// noted; of a body that is neither, each request notes its own.
func noteFilledBody(note redact.Replacer, p *loadplan.Plan, i int) {
	redact.Replacer(func(name, value string) string {
		if fixed := strings.ReplaceAll(value, holeValue, ""); fixed == value || name != "body" {
			note(name, fixed)
		}
		return value
	}).Body(contentType(p.Requests[i].Header), filledAlike(p, i).Body)
}

// Known are the secrets of p, to be searched for in what others say. Where p goes is none of them,
// whatever header says the same. A nil keep knows nothing.
func Known(p loadplan.Plan, keep redact.Replacer) *redact.Known {
	if keep == nil {
		return nil
	}
	return redact.NewKnown(keep, Secrets(p), Destination(p)...)
}

// Destination is where p goes: scheme, host and port of its URL, its socket, and the addresses of
// its host, as far as they are known. It is in every result, and no secret.
func Destination(p loadplan.Plan) []string {
	t := p.Target
	scheme, rest, _ := strings.Cut(t.URL, "://")
	all := []string{scheme + "://" + rest[:strings.IndexAny(rest+"/", "/?#")], t.Host, t.Unix}
	for _, a := range p.Addresses {
		all = append(all, a.String())
	}
	return all
}

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
	before := r.sentences()
	change()
	after := r.sentences()
	for _, list := range [][]string{r.Warnings, r.Generator.Reasons} {
		for i, s := range list {
			if at := slices.Index(before, s); at >= 0 && len(before) == len(after) {
				list[i] = after[at]
			} else {
				list[i] = other(s)
			}
		}
	}
}

// unchanged is s.
func unchanged(s string) string { return s }

// sentences are what dyno says of what r keeps, in an order that is the same whatever others said.
func (r *Result) sentences() []string {
	again := *r
	again.judgeGenerator()
	return append(again.Generator.Reasons, warnings(&again)...)
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

// ConcealIntervals is each, which is not told what of p is secret: what servers said of it in
// failures has what keep leaves. A nil keep leaves all. What is known of p is computed now, for
// with many secrets that takes up to a second of a CPU, which the load is to have.
func ConcealIntervals(p loadplan.Plan, keep redact.Replacer,
	each func(loadresult.Interval)) func(loadresult.Interval) {
	if keep == nil {
		return each
	}
	known := Known(p, keep)
	return func(iv loadresult.Interval) {
		iv.Failures = slices.Clone(iv.Failures)
		for i := range iv.Failures {
			f := &iv.Failures[i]
			if f.Detail = known.Cut(f.Detail); f.Phase == loadresult.Check { // its kind is the check's name
				f.Kind = known.Cut(keep.Check(f.Kind))
			}
		}
		each(iv)
	}
}
