package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"dyno/internal/lab"
	"dyno/internal/result"
)

// A suite is a test suite of a JUnit report, of which continuous integration
// servers show each case.
type suite struct {
	Name      string     `xml:"name,attr"`
	Tests     int        `xml:"tests,attr"`
	Failures  int        `xml:"failures,attr"`
	Errors    int        `xml:"errors,attr"`
	Skipped   int        `xml:"skipped,attr"`
	Time      string     `xml:"time,attr"` // s
	Timestamp string     `xml:"timestamp,attr"`
	Cases     []testCase `xml:"testcase"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *problem `xml:"failure"`
	Error   *problem `xml:"error"`
	Skipped *problem `xml:"skipped"`
}

// A problem is why a case did not pass.
type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes a result as a test suite: a case for each objective, one for
// whether anything completed, which fails too where every answer was an error, and
// one for the generator's verdict on itself, which is skipped where that is not ok.
func JUnit(w io.Writer, r *result.Result) error {
	s := newSuite(methodAndURL(r), r.Window.Started, r.Window.MeasuredS)
	completed := testCase{Name: "requests completed"}
	if r.Requests.Completed == 0 {
		completed.Failure = &problem{Message: "no exchange completed"}
		if r.OnlyErrors() {
			completed.Failure = &problem{Message: "every answer was an error: " + statusText(r)}
		}
	}
	trusted := testCase{Name: notTheLimit}
	if r.Generator.Verdict != result.OK || onlyShort(r) {
		trusted.Skipped = &problem{Message: verdictText(r), Text: plainLines(Reasons(r))}
	}
	s.addCases(completed, trusted)
	for _, o := range r.Objectives {
		c := testCase{Name: plainLine(o.Expr)}
		if !o.Met {
			c.Failure = &problem{Message: objectiveText(o)}
		}
		s.addCases(c)
	}
	return s.writeXML(w)
}

// ExperimentJUnit writes an experiment as a test suite: a case for each variant,
// which fails if no trial of it measured anything and is skipped where it is not
// available; one for each objective at each level; and the gate, of which an
// inconclusive one is an error.
func ExperimentJUnit(w io.Writer, r *lab.Record) error {
	s := newSuite(plainLine(r.Name), r.Started, workedTime(r).Seconds())
	for _, a := range r.Arms {
		if !a.Control {
			s.addCases(variantCase(r, a))
		}
	}
	for _, o := range r.Objectives {
		c := testCase{Name: plainLine(fmt.Sprintf("%s of %s at %s", o.Expr, o.Arm, o.Level))}
		if o.Met < o.Trials {
			c.Failure = &problem{Message: fmt.Sprintf("met in %d of %s", o.Met,
				Plural(int64(o.Trials), "trial"))}
		}
		s.addCases(c)
	}
	if g := r.Gate; g != nil {
		c := testCase{Name: "gate"}
		says := &problem{Message: g.Verdict, Text: plainLines(gateOf(g).text[1:])}
		if g.Why != "" {
			says.Message += ": " + plainLine(g.Why)
		}
		switch g.Verdict {
		case lab.Regression:
			c.Failure = says
		case lab.Undecided:
			c.Error = says
		}
		s.addCases(c)
	}
	return s.writeXML(w)
}

func variantCase(r *lab.Record, a lab.Arm) testCase {
	c := testCase{Name: plainLine(a.Name) + " measured"}
	measured := false
	for _, t := range r.Trials {
		measured = measured || t.Arm == a.Name && t.Failure == nil
	}
	switch {
	case len(a.Missing) > 0:
		c.Skipped = &problem{Message: "not available here: " + plainLine(strings.Join(a.Missing, "; "))}
	case a.Unfit != "":
		c.Failure = &problem{Message: "not loaded: " + plainLine(a.Unfit)}
	case !measured:
		c.Failure = &problem{Message: "no trial measured anything",
			Text: plainLines(armFailures(r, a.Name))}
	}
	return c
}

func newSuite(name string, started time.Time, seconds float64) *suite {
	return &suite{Name: name, Time: fmt.Sprintf("%.3f", seconds),
		Timestamp: started.UTC().Format("2006-01-02T15:04:05")}
}

func (s *suite) addCases(cases ...testCase) {
	for _, c := range cases {
		c.Class = s.Name
		s.Cases = append(s.Cases, c)
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

func (s *suite) writeXML(w io.Writer) error {
	all := struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []*suite `xml:"testsuite"`
	}{Suites: []*suite{s}}
	b, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}

// plainLines are sentences below each other, without what XML cannot hold.
func plainLines(all []string) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(plainLine(s) + "\n")
	}
	return b.String()
}
