package serve

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"dyno/internal/lazyregexp"
	"dyno/internal/result"
	"dyno/internal/view/answer"
	"dyno/internal/view/report"
)

// Who looks at a dashboard has its form before them, and no command line. What the page advises
// names a field by its label where a report names the flag: “Connections”, and not -c.

// A flag in a text, with what is before it. A flag of ulimit is none of dyno's.
var flagInText = lazyregexp.New(`(^|[\s(])(ulimit )?(--?[A-Za-z][\w-]*)`)

// flagOfWord is a flag in parentheses, with the word before them: "threads (-t)".
var flagOfWord = lazyregexp.New(`(\S+) \((--?[A-Za-z][\w-]*)\)`)

// labelsOf are the labels of a form's fields, by their flags.
func labelsOf(form []Group) map[string]string {
	all := map[string]string{}
	for _, g := range form {
		for _, f := range g.Fields {
			label := cmp.Or(f.Label, f.Name)
			all["--"+f.Name] = label
			if f.Short != "" {
				all["-"+f.Short] = label
			}
		}
	}
	return all
}

// labelled is a text in which flags have become the labels of their fields. A flag that only
// repeats the word before it is left out.
func labelled(text string, labels map[string]string) string {
	text = flagOfWord().ReplaceAllStringFunc(text, func(part string) string {
		m := flagOfWord().FindStringSubmatch(part)
		if strings.EqualFold(m[1], labels[m[2]]) {
			return m[1]
		}
		return part
	})
	return flagInText().ReplaceAllStringFunc(text, func(part string) string {
		m := flagInText().FindStringSubmatch(part)
		if label := labels[m[3]]; label != "" && m[2] == "" {
			return m[1] + "“" + label + "”"
		}
		return part
	})
}

// inFormWords is an answer that names fields of the form. Reasons and sentence have texts of
// servers, so they stay as they are.
func (s *Server) inFormWords(a answer.Answer) answer.Answer {
	return InFormWords(a, s.Form)
}

// InFormWords is an answer that names the fields of a form by their labels.
func InFormWords(a answer.Answer, form []Group) answer.Answer {
	labels := labelsOf(form)
	a.Cautions = slices.Clone(a.Cautions)
	texts := []*string{&a.BoxText, &a.Next.Says}
	for i := range a.Cautions {
		texts = append(texts, &a.Cautions[i].Says, &a.Cautions[i].Remedy)
	}
	for _, text := range texts {
		*text = labelled(*text, labels)
	}
	return a
}

// nextForm is the page whose form is filled in for the next step after a result; "" if the form
// does not have all of it.
func (s *Server) nextForm(r *result.Result, id string) string {
	p, ok := report.NextLoad(r)
	if !ok || s.Read == nil || len(s.filledFormOf(withPlan(r, p)).Lost) > 0 {
		return ""
	}
	return "/live?repeat=" + url.QueryEscape(id) + "&next"
}
