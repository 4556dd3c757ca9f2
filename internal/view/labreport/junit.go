package labreport

import (
	"fmt"
	"io"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// ExperimentJUnit writes an experiment as a test suite: a case for each variant,
// which fails if no trial of it measured anything and is skipped where it is not
// available; one for each objective at each level; and the gate, of which an
// inconclusive one is an error.
func ExperimentJUnit(w io.Writer, r *lab.Record) error {
	s := format.NewSuite(format.PlainLine(r.Name), r.Started, workedTime(r).Seconds())
	for _, a := range r.Arms {
		if !a.Control {
			s.AddCases(variantCase(r, a))
		}
	}
	for _, o := range r.Objectives {
		c := format.TestCase{Name: format.PlainLine(fmt.Sprintf("%s of %s at %s", o.Expr, o.Arm,
			o.Level))}
		met := &format.Problem{Message: fmt.Sprintf("met in %d of %s", o.Met,
			format.Plural(int64(o.Trials), "trial"))}
		switch {
		case o.Undecided:
			met.Message = "inconclusive: " + met.Message + ": " + labanswer.WhyUndecided(o)
			c.Error = met
		case o.IsMissed():
			c.Failure = met
		}
		s.AddCases(c)
	}
	if g := r.Gate; g != nil {
		c := format.TestCase{Name: "gate"}
		says := &format.Problem{Message: g.Verdict, Text: format.PlainLines(gateOf(g).Text[1:])}
		if g.Why != "" {
			says.Message += ": " + format.PlainLine(g.Why)
		}
		switch g.Verdict {
		case lab.Regression:
			c.Failure = says
		case lab.Undecided:
			c.Error = says
		}
		s.AddCases(c)
	}
	return s.WriteXML(w)
}

func variantCase(r *lab.Record, a lab.Arm) format.TestCase {
	c := format.TestCase{Name: format.PlainLine(a.Name) + " measured"}
	measured := false
	for _, t := range r.Trials {
		measured = measured || t.Arm == a.Name && t.Failure == nil
	}
	switch {
	case len(a.Missing) > 0:
		c.Skipped = &format.Problem{Message: "not available here: " +
			format.PlainLine(strings.Join(a.Missing, "; "))}
	case a.Unfit != "":
		c.Failure = &format.Problem{Message: "not tested: " + format.PlainLine(a.Unfit)}
	case !measured:
		c.Failure = &format.Problem{Message: "no trial measured anything",
			Text: format.PlainLines(armFailures(r, a.Name))}
	}
	return c
}
