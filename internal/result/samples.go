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
// is the plan with its secrets, for servers repeat them; checkName renames checks as the kinds of
// errors are renamed. A nil keep leaves all.
func (r *Result) redactSamples(p loadplan.Plan, keep redact.Replacer,
	checkName func(string) string) {
	if len(r.Samples) == 0 {
		return
	}
	r.Samples = slices.Clone(r.Samples)
	c := newAnswers(p, keep)
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Phase == loadresult.Check {
			s.Kind = checkName(s.Kind)
		}
		c.redactSample(s)
	}
	for i := range r.Errors {
		r.Errors[i].Sample = sampleOf(&r.Errors[i], r.Samples)
	}
}

// answers redacts what servers answered, who may repeat what they were sent: secrets of the plan,
// and those that only the request itself has, from data or from an answer before it.
type answers struct {
	plan    *loadplan.Plan
	keep    redact.Replacer
	secrets []string      // of the plan
	known   *redact.Known // secrets
	unknown bool          // where requests have secrets, values stand that the plan does not have
}

func newAnswers(p loadplan.Plan, keep redact.Replacer) answers {
	if keep == nil {
		return answers{}
	}
	secrets := Secrets(p)
	known := redact.NewKnown(keep, secrets, Destination(p)...)
	return answers{&p, keep, secrets, known, hasSecretHoles(&p)}
}

// redactSample has s keep what is left of it. If its request was not kept and may have had secrets,
// nothing of the answer is.
func (a *answers) redactSample(s *loadresult.Sample) {
	if a.keep == nil {
		return
	}
	if s.Request.Method == "" && a.unknown {
		s.Fields, s.Trailers, s.Body = nil, nil, nil
	}
	own := a.ownSecrets(s)
	redactRequest(&s.Request, a.keep)
	cut := func(text string) string { return a.known.Cut(own.Cut(text)) }
	s.Step, s.Detail = a.keep.KeepHoles(nil).Route(s.Step), cut(s.Detail)
	s.Body = []byte(cut(string(a.keep.AnswerBody(contentType(s.Fields), s.Body))))
	whole := func(text string) string { return a.known.Text(own.Text(text)) }
	s.Fields, s.Trailers = a.answerFields(s.Fields, whole), a.answerFields(s.Trailers, whole)
}

// ownSecrets are what keep takes out of a sample's request and not of the plan.
func (a *answers) ownSecrets(s *loadresult.Sample) *redact.Known {
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

// redactRequest has r keep what keep leaves of it.
func redactRequest(r *proto.Request, keep redact.Replacer) {
	said := contentType(r.Header)
	r.Header = redactHeaders(r.Header, keep)
	r.Body = keep.Body(said, r.Body)
	if r.Path != "*" {
		r.Path = keep.URL(r.Path)
	}
}

// hasSecretHoles reports whether a request of p has a hole within what is a secret. It may have if
// p has no request: its scenario has its own.
func hasSecretHoles(p *loadplan.Plan) (has bool) {
	if len(p.Requests) == 0 {
		return true
	}
	const value = "2718281828" // may stand in every hole, also where JSON has a number
	note := redact.Replacer(func(_, s string) string {
		has = has || strings.Contains(s, value)
		return s
	})
	for i := range p.Requests {
		r, last := &p.Requests[i].Request, -1
		for _, h := range r.Holes {
			last = max(last, h.Value)
		}
		if last < 0 {
			continue
		}
		values := slices.Repeat([][]byte{[]byte(value)}, last+1)
		fill := proto.Fill{Values: values,
			Body: proto.AppendFilled(nil, r.Body, r.BodyHoles(), values)}
		filled := p.FilledRequest(proto.Message{Request: i, Fill: &fill})
		redactRequest(&filled, note)
	}
	return has
}

// answerFields are what keep leaves of fields of a response, as conceal leaves it.
func (a *answers) answerFields(given []proto.Field, conceal func(string) string) []proto.Field {
	kept := slices.Clone(given)
	for i, f := range kept {
		kept[i].Value = conceal(a.keep.AnswerField(f.Name, f.Value))
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
