package format

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Suite is a test suite of a JUnit report, of which continuous integration
// servers show each case.
type Suite struct {
	Name      string     `xml:"name,attr"`
	Tests     int        `xml:"tests,attr"`
	Failures  int        `xml:"failures,attr"`
	Errors    int        `xml:"errors,attr"`
	Skipped   int        `xml:"skipped,attr"`
	Time      string     `xml:"time,attr"` // s
	Timestamp string     `xml:"timestamp,attr"`
	Cases     []TestCase `xml:"testcase"`
}

// A TestCase passed unless one of its problems is set.
type TestCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *Problem `xml:"failure"`
	Error   *Problem `xml:"error"`
	Skipped *Problem `xml:"skipped"`
}

// A Problem is why a case did not pass.
type Problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// NewSuite is an empty suite that began at an instant and took so many seconds.
func NewSuite(name string, started time.Time, seconds float64) *Suite {
	return &Suite{Name: name, Time: fmt.Sprintf("%.3f", seconds),
		Timestamp: started.UTC().Format("2006-01-02T15:04:05")}
}

// AddCases appends cases and counts them.
func (s *Suite) AddCases(cases ...TestCase) {
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

// WriteXML writes a report of that suite alone.
func (s *Suite) WriteXML(w io.Writer) error {
	all := struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []*Suite `xml:"testsuite"`
	}{Suites: []*Suite{s}}
	b, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}

// PlainLines are sentences below each other, without what XML cannot hold.
func PlainLines(all []string) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(PlainLine(s) + "\n")
	}
	return b.String()
}
