package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/reporttest"
)

func TestJUnit(t *testing.T) {
	fine := reporttest.Closed()
	fine.Objectives = []result.Outcome{{Expr: "p99<20ms", Value: new(462.4), Unit: "us", Met: true}}
	missed := reporttest.Late()
	missed.Plan.Target.URL = "http://" + reporttest.Nasty
	missed.Objectives = []result.Outcome{{Expr: "p99<1ms", Value: new(2000.0), Unit: "us"}, {Expr: "cpu<1ms"}}
	for _, test := range []struct {
		name   string
		r      *result.Result
		totals string
	}{
		{"fine", fine, "3 tests, 0 failures, 0 errors, 0 skipped"},
		{"missed", missed, "4 tests, 2 failures, 0 errors, 1 skipped"},
		{"wrong", wrong(), "4 tests, 3 failures, 0 errors, 0 skipped"},
	} {
		var b bytes.Buffer
		if err := JUnit(&b, test.r); err != nil {
			t.Fatal(err)
		}
		s := reporttest.ReadSuite(t, b.Bytes())
		got := reporttest.Outcomes(s)
		if totals, _, _ := strings.Cut(got, "\n"); totals != test.totals {
			t.Errorf("%s: %s, want %s", test.name, totals, test.totals)
		}
		golden(t, test.name+".junit", reporttest.LayoutOf([]byte(got+"\n"), append(phrasesOf(RunSentences(test.r)),
			reporttest.Phrases("not the limit", notTheLimit)...)))
		if s.Timestamp != "2026-01-02T15:04:05" || s.Time != "10.000" || s.Name != MethodAndURL(test.r) || s.Cases[0].Class != s.Name {
			t.Errorf("%+v", s)
		}
	}
}

// Where answers were errors for what was in them, their statuses are not all that is said.
func TestJUnitOfFailedChecks(t *testing.T) {
	r := wrong()
	r.Status = map[string]int64{"200": 320_000}
	r.Checks = []result.CheckCount{{Name: "contains:ok", Failed: 320_000}}
	var b bytes.Buffer
	if err := JUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	got := reporttest.Outcomes(reporttest.ReadSuite(t, b.Bytes()))
	if !strings.Contains(got, "every answer was an error: status 200: 320,000; checks: 0 of 320,000 passed (0 %)") {
		t.Error(got)
	}
}

// A run whose generator is fine and whose server is not is no good run in any form.
func TestOneVerdictInEveryForm(t *testing.T) {
	r := reporttest.Closed()
	r.Generator.Verdict, r.Generator.Reasons, r.Generator.Doubts = result.OK, nil, nil
	r.Requests.Errors = r.Requests.Sent / 4
	r.Requests.Completed = r.Requests.Sent - r.Requests.Errors
	r.Objectives = []result.Outcome{{Expr: "p99<1us", Value: new(462.4), Unit: "us"}}
	forms := map[string]func(io.Writer, *result.Result) error{"md": Markdown, "quiet": Quiet, "junit": JUnit}
	for name, write := range forms {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "FAILING") {
			t.Errorf("%s does not say that the run is failing:\n%s", name, b.String())
		}
		if name == "md" && !strings.Contains(b.String(), "**Objective:** p99&lt;1us: MISSED, 462 µs\n") {
			t.Errorf("%s", b.String())
		}
	}
	// Whoever says how many errors there may be has said what a failure is.
	r.Objectives = []result.Outcome{{Expr: "errors<50%", Value: new(25.0), Unit: "percent", Met: true}}
	var b bytes.Buffer
	if err := JUnit(&b, r); err != nil || strings.Contains(b.String(), "FAILING") {
		t.Error(b.String(), err)
	}
}
