package report

import (
	"io"
	"slices"

	"dyno/internal/objective"
	"dyno/internal/result"
	"dyno/internal/view/format"
)

// JUnit writes a result as a test suite: a case for each objective, one for
// whether anything completed, which fails too where every answer was an error, and
// one for the generator's self-check, which is skipped where that is not ok. A run that is
// failing fails the first, unless objectives say how many errors are too many.
func JUnit(w io.Writer, r *result.Result) error {
	s := format.NewSuite(MethodAndURL(r), r.Window.Started, r.Window.MeasuredS)
	completed := format.TestCase{Name: "requests completed"}
	switch {
	case r.Requests.Completed > 0 && r.RunVerdict() == result.Failing && !judgesErrors(r):
		completed.Failure = &format.Problem{Message: serverVerdict(r)}
	case r.Requests.Completed == 0:
		completed.Failure = &format.Problem{Message: "no request completed"}
		if r.OnlyErrors() {
			why := "every answer was an error: status " + statusText(r)
			if len(r.Checks) > 0 {
				why += "; checks: " + checksText(&r.Scenario)
			}
			completed.Failure = &format.Problem{Message: why}
		}
	}
	trusted := format.TestCase{Name: notTheLimit}
	if r.Generator.Verdict != result.OK || r.Generator.NotJudged() {
		trusted.Skipped = &format.Problem{Message: verdictText(r),
			Text: format.PlainLines(RunSentences(r).Reasons)}
	}
	s.AddCases(completed, trusted)
	for _, o := range r.Objectives {
		c := format.TestCase{Name: format.PlainLine(o.Expr)}
		if o.IsUndecided() {
			c.Skipped = &format.Problem{Message: objectiveText(o)}
		} else if !o.Met {
			c.Failure = &format.Problem{Message: objectiveText(o)}
		}
		s.AddCases(c)
	}
	return s.WriteXML(w)
}

// judgesErrors reports whether an objective says how many errors there may be.
func judgesErrors(r *result.Result) bool {
	return slices.ContainsFunc(r.Objectives, func(o result.Outcome) bool {
		of, err := objective.Parse(o.Expr)
		return err == nil && of.OfErrors()
	})
}
