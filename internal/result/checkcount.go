package result

import (
	"regexp"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/scenario"
	"dyno/internal/redact"
)

// A CheckCount says how many responses of the window passed a check, and how many did not. Of
// several checks that a response does not pass, the first is the kind of its error.
type CheckCount struct {
	Name   string `json:"name"`
	Passed int64  `json:"passed"`
	Failed int64  `json:"failed"`
}

// newChecks converts the counts of checks. The one that scenarios have themselves is there only if
// it failed.
func newChecks(from *loadresult.ScenarioTotals) (all []CheckCount) {
	if from == nil {
		return nil
	}
	for _, c := range from.Checks {
		if c.Passed+c.Failed > 0 || !strings.HasPrefix(c.Name, scenario.BodyWithin) {
			all = append(all, CheckCount{keepCheck(redact.PlainMark, c.Name), c.Passed, c.Failed})
		}
	}
	return all
}

func (m *Result) mergeChecks(all []*Result) {
	for _, r := range all {
		for _, c := range r.Checks {
			at := slices.IndexFunc(m.Checks, func(o CheckCount) bool { return o.Name == c.Name })
			if at < 0 {
				at = len(m.Checks)
				m.Checks = append(m.Checks, CheckCount{Name: c.Name})
			}
			m.Checks[at].Passed += c.Passed
			m.Checks[at].Failed += c.Failed
		}
	}
}

// restoreChecks gives r's checks the names that keep leaves of those of p, in place of those with
// plain marks.
func (r *Result) restoreChecks(p loadplan.Plan, keep redact.Replacer) {
	names := map[string]string{}
	for _, name := range p.Checks {
		names[keepCheck(redact.PlainMark, name)] = keepCheck(keep, name)
	}
	for i, c := range r.Checks {
		if name, known := names[c.Name]; known {
			r.Checks[i].Name = name
		}
	}
	for i, e := range r.Errors {
		if name, known := names[e.Kind]; known && e.Phase == string(loadresult.Check) {
			r.Errors[i].Kind = name
		}
	}
}

// word is a name in a path of JSON.
var word = regexp.MustCompile(`[A-Za-z_][\w-]*`)

// keepCheck is what is kept of a check: all but the value that a field of a secret's name has to
// have.
func keepCheck(keep redact.Replacer, check string) string {
	kind, rest, found := strings.Cut(check, ":")
	switch {
	case keep == nil || !found || slices.Contains([]string{"contains", "regex", "sha256"}, kind):
		return check
	case kind != "json":
		value := strings.TrimLeft(rest, " \t")
		return check[:len(check)-len(value)] + keep.AnswerField(kind, value)
	}
	for from := 0; ; {
		i := strings.Index(check[from:], "==")
		if i < 0 {
			return check
		}
		from += i + 2
		names := word.FindAllString(check[:from], -1)
		if last := names[len(names)-1]; redact.Secret(last) {
			return check[:from] + keep(last, check[from:])
		}
	}
}

// keepChecks are what is kept of several checks.
func keepChecks(keep redact.Replacer, all []string) []string {
	kept := slices.Clone(all)
	for i, s := range kept {
		kept[i] = keepCheck(keep, s)
	}
	return kept
}

// keepExpectations is what is kept of them.
func keepExpectations(keep redact.Replacer, e loadplan.Expectations) loadplan.Expectations {
	return loadplan.Expectations{Body: keepChecks(keep, e.Body), Header: keepChecks(keep, e.Header)}
}
