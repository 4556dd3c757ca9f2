package plansecrets

import (
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
)

// Answers redacts what servers answered, who may repeat what they were sent: secrets of the plan,
// and those that only the request itself has, from data or from an answer before it. The zero value
// leaves everything.
type Answers struct {
	plan    *loadplan.Plan // with its secrets
	keep    redact.Replacer
	secrets []string      // of the plan
	known   *redact.Known // secrets
	unknown bool          // requests that were not kept may have had secrets besides
}

// NewAnswers returns what redacts these samples of a plan.
func NewAnswers(p loadplan.Plan, keep redact.Replacer, all []loadresult.Sample) Answers {
	secrets := Values(p)
	known := redact.NewKnown(keep, secrets, Destination(p)...)
	lost := slices.ContainsFunc(all, func(s loadresult.Sample) bool { return s.Request.Method == "" })
	return Answers{&p, keep, secrets, known, lost && hasSecretHoles(&p)}
}

// RedactSample takes secrets out of s. If its request was not kept and may have had secrets,
// nothing of the answer is kept. A compressed body is never kept, because it cannot be searched.
func (a *Answers) RedactSample(s *loadresult.Sample) {
	if a.keep == nil {
		return
	}
	if s.Request.Method == "" && a.unknown {
		s.Fields, s.Trailers, s.Body, s.Events = nil, nil, nil, nil
	}
	if isEncoded(s.Fields) {
		s.Body, s.Events = nil, nil
	}
	own := a.ownSecrets(s)
	cut := func(text string) string { return a.known.Cut(own.Cut(text)) }
	whole := func(text string) string { return a.known.Text(own.Text(text)) }
	r := &s.Request
	redactRequest(r, a.keep)
	r.Path, r.Body = whole(r.Path), []byte(cut(string(r.Body))) // a variable may be a secret
	for i := range r.Header {
		r.Header[i].Value = whole(r.Header[i].Value)
	}
	s.Step, s.Detail = a.keep.KeepHoles(nil).Route(s.Step), cut(s.Detail)
	s.Body = []byte(cut(string(a.keep.AnswerBody(contentType(s.Fields), s.Body))))
	s.Events = slices.Clone(s.Events)
	for i := range s.Events { // each is JSON, if it is anything
		e := &s.Events[i]
		e.Text = []byte(cut(string(a.keep.AnswerBody("application/json", e.Text))))
	}
	s.Fields, s.Trailers = a.answerFields(s.Fields, whole), a.answerFields(s.Trailers, whole)
}

// Known are the secrets of the plan, to search other texts of its run for.
func (a *Answers) Known() *redact.Known { return a.known }

// isEncoded reports whether fields say that a body is compressed, or encoded otherwise.
func isEncoded(all []proto.Field) bool {
	return slices.ContainsFunc(all, func(f proto.Field) bool {
		return strings.EqualFold(f.Name, "Content-Encoding") && f.Value != "" &&
			!strings.EqualFold(f.Value, "identity")
	})
}

// ownSecrets are what keep takes out of a sample's request and not of the plan.
func (a *Answers) ownSecrets(s *loadresult.Sample) *redact.Known {
	var all []string
	note := redact.Replacer(func(_, value string) string {
		if !slices.Contains(a.secrets, value) {
			all = append(all, value)
		}
		return value
	})
	r := s.Request
	redactRequest(&r, note)
	if s.RequestBytes > int64(len(r.Body)) { // as it was cut it is one secret, with others in it
		note.AnswerBody(contentType(r.Header), r.Body)
	}
	if len(all) == 0 {
		return nil
	}
	return redact.NewKnown(a.keep, all, Destination(*a.plan)...)
}

// answerFields are what keep leaves of fields of a response, as conceal leaves it.
func (a *Answers) answerFields(given []proto.Field, conceal func(string) string) []proto.Field {
	kept := slices.Clone(given)
	for i, f := range kept {
		kept[i].Value = conceal(a.keep.AnswerField(f.Name, f.Value))
	}
	return kept
}

// headLongest is how much of a body Heads leaves, in bytes.
const headLongest = 800

// Heads are the first of the samples of each failure, of which only what says what failed is left,
// with the beginning of the answer's body, without secrets of p.
func Heads(p loadplan.Plan, all []loadresult.Sample) (heads []loadresult.Sample) {
	if len(all) == 0 {
		return nil
	}
	a := NewAnswers(p, redact.PlainMark, all)
	for _, s := range all {
		known := slices.ContainsFunc(heads, func(h loadresult.Sample) bool {
			return h.Phase == s.Phase && h.Kind == s.Kind && h.Address == s.Address &&
				(s.Phase != loadresult.Expect || h.Detail == s.Detail)
		})
		if known {
			continue
		}
		a.RedactSample(&s)
		heads = append(heads, loadresult.Sample{Phase: s.Phase, Kind: s.Kind, Address: s.Address,
			Detail: s.Detail, Body: s.Body[:min(len(s.Body), headLongest)]})
	}
	return heads
}
