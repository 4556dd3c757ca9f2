package report

import (
	"strings"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/answer"
	"dyno/internal/view/reporttest"
)

// waited is an open load that waited behind a stall of the server.
func waited() *result.Result {
	r := reporttest.Late()
	r.Generator.Verdict, r.Generator.Reasons = result.OK, []string{}
	r.Generator.SendLagP99, r.Generator.SendLagMax = new(20.0), new(100.0)
	r.Requests.Late, r.Requests.LateMax = new(int64(1829)), new(1e6)
	r.Latency.P99 = 905e3
	return r
}

// slower is an open load of which less was completed than offered, because an agent was lost.
func slower() *result.Result {
	r := waited()
	r.Requests.Late, r.Requests.LateMax = nil, nil
	r.Latency.P99, r.Rate.Completed, r.Ended = 300, 16_000, "lost"
	return r
}

// The sentence is about the server first, and the generator second.
func TestRunSentence(t *testing.T) {
	for want, r := range map[string]*result.Result{
		"332,014 requests/s on 100 connections, p99 462 µs":                                                    reporttest.Closed(),
		"20,000 requests/s held, but p99 is 905 ms: 1,829 requests waited for a free connection, up to 1.00 s": waited(),
		"22 % of the requests failed: 503 (999 times); the others have a p99 of 4.62 ms; " +
			"the generator was the limit, the server may do more": reporttest.Failing(),
		"20,000 requests/s were offered and 16,000 completed, p99 300 µs; only a part of what was planned: LOST an agent": slower(),
		"Nothing was answered: connect 127.0.0.1:8080: connection refused":                                                reporttest.Unreachable(),
	} {
		if got := RunAnswer(r).Sentence; got != want {
			t.Errorf("%q\nnot\n%q", got, want)
		}
	}
}

// What speaks against a run counts for the box, and is said once.
func TestRunBox(t *testing.T) {
	for name, c := range map[string]struct {
		r     *result.Result
		box   answer.Severity
		kinds string
	}{
		"closed":      {reporttest.Closed(), answer.Note, "one-run"},
		"late":        {reporttest.Late(), answer.Doubt, "self-verdict one-run"},
		"failing":     {reporttest.Failing(), answer.Bad, "failing generator self-verdict one-run"},
		"unreachable": {reporttest.Unreachable(), answer.Bad, "unanswered"},
		"shopping":    {reporttest.Shopping(), answer.Bad, "objective failing self-verdict one-run"},
	} {
		a := RunAnswer(c.r)
		var kinds []string
		for _, one := range a.Cautions {
			kinds = append(kinds, one.Kind)
		}
		if a.Box != c.box || strings.Join(kinds, " ") != c.kinds {
			t.Errorf("%s: the box is %s, of %q", name, a.Box, kinds)
		}
		if a.Next.Says == "" || a.Next.Command == "" {
			t.Errorf("%s: the next step is %+v", name, a.Next)
		}
	}
}

// Whatever texts a result has, its answer has one.
func TestRunAnswerOfAnything(t *testing.T) {
	for name, r := range map[string]*result.Result{"hostile": reporttest.Hostile(), "watched": reporttest.Watched(),
		"zero": {}} {
		if a := RunAnswer(r); a.Sentence == "" || strings.ContainsAny(a.Sentence+a.BoxText, "\x1b\n") {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// The summary of a run has its numbers in a table; one of which nothing was answered has none.
func TestRunSummary(t *testing.T) {
	got := RunAnswer(reporttest.Closed()).Markdown("dyno run x", answer.Limits{})
	for _, want := range []string{"| requests/s | p50 | p90 | p99 | p99.9 | max | errors |", "| 332,014 | 289 µs |", "dyno run x"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not have %q:\n%s", want, got)
		}
	}
	if got := RunAnswer(reporttest.Unreachable()).Markdown("", answer.Limits{}); strings.Contains(got, "|") {
		t.Errorf("a table of nothing:\n%s", got)
	}
}
