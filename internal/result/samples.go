package result

import (
	"slices"
	"strings"
	"unicode"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result/plansecrets"
)

// sampleLongest is how long the sample of an error is, in bytes.
const sampleLongest = 200

// redactSamples redacts the samples of r, and sets those of its errors. checkName renames checks as
// the kinds of errors are renamed.
func (r *Result) redactSamples(a plansecrets.Answers, checkName func(string) string) {
	if len(r.Samples) == 0 {
		return
	}
	r.Samples = slices.Clone(r.Samples)
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Phase == loadresult.Check {
			s.Kind = checkName(s.Kind)
		}
		a.RedactSample(s)
	}
	for i := range r.Errors {
		r.Errors[i].Sample = sampleOf(&r.Errors[i], r.Samples)
	}
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
