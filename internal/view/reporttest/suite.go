package reporttest

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"dyno/internal/view/format"
)

// ReadSuite reads a JUnit report as those do who show it.
func ReadSuite(t *testing.T, b []byte) (s format.Suite) {
	t.Helper()
	var all struct {
		Suites []format.Suite `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b, &all); err != nil || len(all.Suites) != 1 {
		t.Fatalf("%v, %d suites in\n%s", err, len(all.Suites), b)
	}
	return all.Suites[0]
}

// Outcomes are the cases of a suite, in short.
func Outcomes(s format.Suite) string {
	var all []string
	for _, c := range s.Cases {
		how := "passed"
		for name, p := range map[string]*format.Problem{"failure": c.Failure, "error": c.Error,
			"skipped": c.Skipped} {
			if p != nil {
				how = name + " (" + p.Message + ")"
			}
		}
		all = append(all, c.Name+": "+how)
	}
	return fmt.Sprintf("%d tests, %d failures, %d errors, %d skipped\n%s", s.Tests, s.Failures,
		s.Errors, s.Skipped, strings.Join(all, "\n"))
}
