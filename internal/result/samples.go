package result

import (
	"slices"
	"strings"
	"unicode"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
)

// sampleLongest is how long the sample of an error is, in bytes.
const sampleLongest = 200

// redactSamples has the samples of r keep what keep leaves of them, and sets those of its errors. p
// is the plan with its secrets, for servers repeat them. A nil keep leaves all.
func (r *Result) redactSamples(p loadplan.Plan, keep redact.Replacer) {
	if len(r.Samples) == 0 {
		return
	}
	r.Samples = slices.Clone(r.Samples)
	known, columns := Known(p, keep), fillsSecrets(p)
	for i := range r.Samples {
		s := &r.Samples[i]
		if keep != nil && columns && s.Request.Method == "" {
			s.Body = nil // it may repeat a value that nobody knows any more
		}
		if keep != nil && p.HasHoles() { // what filled them is secret in this sample only
			all := append(requestSecrets(&s.Request), Secrets(p)...)
			known = redact.NewKnown(keep, all, Destination(p)...)
		}
		redactSample(s, keep, known)
	}
	for i := range r.Errors {
		r.Errors[i].Sample = sampleOf(&r.Errors[i], r.Samples)
	}
}

// redactSample has s keep what keep leaves of it, without what is known.
func redactSample(s *loadresult.Sample, keep redact.Replacer, known *redact.Known) {
	if keep == nil {
		return
	}
	said := contentType(s.Request.Header)
	s.Request.Header = redactHeaders(s.Request.Header, keep)
	s.Request.Body = keep.Body(said, s.Request.Body)
	if s.Request.Path != "*" {
		s.Request.Path = keep.URL(s.Request.Path)
	}
	s.Step, s.Detail = KeepHoles(keep).Route(s.Step), known.Cut(s.Detail)
	if s.Phase == loadresult.Check {
		s.Kind = keepCheck(keep, s.Kind)
	}
	s.Body = []byte(known.Cut(string(keep.AnswerBody(contentType(s.Fields), s.Body))))
	s.Fields, s.Trailers = answerFields(s.Fields, keep, known), answerFields(s.Trailers, keep, known)
}

// fillsSecrets reports whether data fill holes of p that stand where secrets do.
func fillsSecrets(p loadplan.Plan) bool {
	holes := map[string]bool{}
	note := keepHoles(func(_, value string) string { return value }, holes)
	for i := range p.Requests {
		if r := p.Requests[i].Template; r != nil && len(p.Requests[i].Holes) > 0 {
			redactHeaders(r.Header, note)
			note.Body(contentType(r.Header), r.Body)
			note.URL(r.Path)
		}
	}
	for _, v := range p.Variables { // whose values are known
		delete(holes, v.Name)
	}
	return p.Rows != nil && len(holes) > 0
}

// requestSecrets are the values that redactSample takes out of a request.
func requestSecrets(r *proto.Request) (all []string) {
	note := redact.Replacer(func(_, value string) string {
		all = append(all, value)
		return value
	})
	for _, f := range r.Header {
		note.Header(f.Name, f.Value)
	}
	note.Body(contentType(r.Header), r.Body)
	note.URL(r.Path)
	return all
}

// answerFields are what keep leaves of fields of a response.
func answerFields(given []proto.Field, keep redact.Replacer, known *redact.Known) []proto.Field {
	kept := slices.Clone(given)
	for i, f := range kept {
		kept[i].Value = known.Text(keep.AnswerField(f.Name, f.Value))
	}
	return kept
}

// sampleOf is the beginning of the body that the first sample of an error has, on one line, without
// what cannot be seen; "" if there is none.
func sampleOf(e *Error, all []loadresult.Sample) string {
	at := slices.IndexFunc(all, func(s loadresult.Sample) bool {
		return string(s.Phase) == e.Phase && s.Kind == e.Kind && s.Address == e.Address &&
			(s.Phase != loadresult.Expect || s.Detail == e.Detail)
	})
	if at < 0 {
		return ""
	}
	text := strings.Map(func(c rune) rune {
		if c == unicode.ReplacementChar || !unicode.IsPrint(c) && !unicode.IsSpace(c) {
			return -1
		}
		return c
	}, string(all[at].Body[:min(len(all[at].Body), 4*sampleLongest)]))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > sampleLongest {
		text = strings.ToValidUTF8(text[:sampleLongest], "")
	}
	return text
}
