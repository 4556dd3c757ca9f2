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

// redactSamples redacts the samples of r, and sets those of its errors. checkName renames checks as
// the kinds of errors are renamed.
func (r *Result) redactSamples(a answers, checkName func(string) string) {
	if len(r.Samples) == 0 {
		return
	}
	r.Samples = slices.Clone(r.Samples)
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Phase == loadresult.Check {
			s.Kind = checkName(s.Kind)
		}
		a.redactSample(s)
	}
	for i := range r.Errors {
		r.Errors[i].Sample = sampleOf(&r.Errors[i], r.Samples)
	}
}

// answers redacts what servers answered, who may repeat what they were sent: secrets of the plan,
// and those that only the request itself has, from data or from an answer before it. The zero value
// leaves everything.
type answers struct {
	plan    *loadplan.Plan // with its secrets
	keep    redact.Replacer
	secrets []string      // of the plan
	known   *redact.Known // secrets
	unknown bool          // requests that were not kept may have had secrets besides
}

// newAnswers returns what redacts these samples of a plan.
func newAnswers(p loadplan.Plan, keep redact.Replacer, all []loadresult.Sample) answers {
	secrets := Secrets(p)
	known := redact.NewKnown(keep, secrets, Destination(p)...)
	lost := slices.ContainsFunc(all, func(s loadresult.Sample) bool { return s.Request.Method == "" })
	return answers{&p, keep, secrets, known, lost && hasSecretHoles(&p)}
}

// redactSample takes secrets out of s. If its request was not kept and may have had secrets,
// nothing of the answer is kept. A compressed body is never kept, because it cannot be searched.
func (a *answers) redactSample(s *loadresult.Sample) {
	if a.keep == nil {
		return
	}
	if s.Request.Method == "" && a.unknown {
		s.Fields, s.Trailers, s.Body = nil, nil, nil
	}
	if isEncoded(s.Fields) {
		s.Body = nil
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
	s.Fields, s.Trailers = a.answerFields(s.Fields, whole), a.answerFields(s.Trailers, whole)
}

// isEncoded reports whether fields say that a body is compressed, or encoded otherwise.
func isEncoded(all []proto.Field) bool {
	return slices.ContainsFunc(all, func(f proto.Field) bool {
		return strings.EqualFold(f.Name, "Content-Encoding") && f.Value != "" &&
			!strings.EqualFold(f.Value, "identity")
	})
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
	note := redact.Replacer(func(_, s string) string {
		has = has || strings.Contains(s, holeValue)
		return s
	})
	for i := range p.Requests {
		if has {
			break
		}
		if len(p.Requests[i].Holes) > 0 {
			filled := filledAlike(p, i)
			redactRequest(&filled, note)
		}
	}
	return has
}

// holeValue may stand in every hole, also where JSON has a number.
const holeValue = "2718281828"

// filledAlike is the request of that number with holeValue in each hole.
func filledAlike(p *loadplan.Plan, i int) proto.Request {
	r, last := &p.Requests[i].Request, -1
	for _, h := range r.Holes {
		last = max(last, h.Value)
	}
	if last < 0 {
		return *r
	}
	values := slices.Repeat([][]byte{[]byte(holeValue)}, last+1)
	fill := proto.Fill{Values: values, Body: proto.AppendFilled(nil, r.Body, r.BodyHoles(), values)}
	return p.FilledRequest(proto.Message{Request: i, Fill: &fill})
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
