package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
)

// sampledRun is a run whose server repeats what it was sent, with a secret of its own.
func sampledRun() *loadresult.Result {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://h/", Host: "h", Port: 80}
	p.Requests = []loadplan.Request{{Request: proto.Request{Method: "POST", Path: "/x?token=query-secret",
		Header: []proto.Field{{Name: "Authorization", Value: "Bearer header-secret"}, {Name: "Accept", Value: "x"}},
		Body:   []byte(`{"password":"body-secret"}`)}}}
	answer := loadresult.Sample{Phase: loadresult.Expect, Kind: "status", Address: "h:80", Detail: "500", Status: 500,
		Request: p.Requests[0].Request, RequestBytes: 26,
		Fields:   []proto.Field{{Name: "content-type", Value: "text/html"}, {Name: "set-cookie", Value: "a=cookie-secret"}},
		Trailers: []proto.Field{{Name: "x-sum", Value: "header-secret"}},
		Body:     []byte("<b>no,\r\n\theader-secret\x1b[1m and body-secret</b> api_key=own-secret " + strings.Repeat("ä", 200)), BodyBytes: 9}
	other := answer
	other.Status, other.Detail, other.Body = 404, "404", []byte("second")
	return &loadresult.Result{Plan: p, Samples: []loadresult.Sample{answer, answer, other}, Totals: loadresult.Totals{Failures: []loadresult.Failure{
		{Phase: loadresult.Expect, Kind: "status", Address: "h:80", Detail: "500", Count: 5},
		{Phase: loadresult.Expect, Kind: "status", Address: "h:80", Detail: "404", Count: 4},
		{Phase: loadresult.Read, Kind: "reset", Address: "h:80", Detail: "reset", Count: 3}}}}
}

// Samples, and what of them is in the result, have no secret: neither the plan's nor the server's.
func TestSamplesAreRedacted(t *testing.T) {
	from := sampledRun()
	given := fmt.Sprint(from.Samples)
	r, err := From(from, "test")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(r)
	if err != nil || strings.Contains(string(stored), "-secret") || strings.Contains(string(stored), "amples") {
		t.Errorf("%v: before its plan is restored: %s", err, stored)
	}
	if err := r.RestorePlan(from.Plan, redact.PlainMark); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(from.Samples) != given {
		t.Error("what load gave has changed")
	}
	all, err := json.Marshal(r.Samples)
	bodies := string(r.Samples[0].Body) + string(r.Samples[0].Request.Body)
	if err != nil || strings.Contains(string(all)+bodies+fmt.Sprint(r.Errors), "-secret") {
		t.Errorf("%v: %s %s %v", err, all, bodies, r.Errors)
	}
	s := r.Samples[0]
	if s.Request.Path != "/x?token=(redacted)" || string(s.Request.Body) != `{"password":"(redacted)"}` ||
		!slices.Equal(s.Request.Header, []proto.Field{{Name: "Authorization", Value: "(redacted)"}, {Name: "Accept", Value: "x"}}) ||
		s.Fields[0].Value != "text/html" || !strings.HasPrefix(string(s.Body), "<b>no,\r\n\t(redacted)\x1b[1m and") {
		t.Errorf("%+v", s)
	}
}

// An error has the visible beginning of its first sample's body, on one line.
func TestErrorsHaveSamples(t *testing.T) {
	from := sampledRun()
	r, err := From(from, "test")
	if err = r.RestorePlan(from.Plan, redact.PlainMark); err != nil {
		t.Fatal(err)
	}
	begin := "<b>no, (redacted)[1m and (redacted)</b> api_key=(redacted) ää"
	if got := r.Errors[0].Sample; !strings.HasPrefix(got, begin) || len(got) > 200 || len(got) < 199 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if r.Errors[1].Sample != "second" || r.Errors[2].Sample != "" {
		t.Errorf("%+v", r.Errors)
	}
	merged := &Result{}
	place := map[Error]int{}
	for _, e := range []Error{{Phase: "read", Count: 1}, {Phase: "read", Count: 2, Sample: "x"}, {Phase: "read", Count: 3, Sample: "y"}} {
		merged.countError(e, place)
	}
	if len(merged.Errors) != 1 || merged.Errors[0].Count != 6 || merged.Errors[0].Sample != "x" {
		t.Errorf("%+v", merged.Errors)
	}
}

// With --show-secrets nothing is taken out.
func TestSamplesAreShown(t *testing.T) {
	from := sampledRun()
	r, err := From(from, "test")
	if err = r.RestorePlan(from.Plan, nil); err != nil {
		t.Fatal(err)
	}
	if s := r.Samples[0]; fmt.Sprint(s) != fmt.Sprint(from.Samples[0]) || !strings.Contains(r.Errors[0].Sample, "own-secret") {
		t.Errorf("%+v %+v", s, r.Errors)
	}
}

// A check whose name has a secret is named alike in the plan, its error and its sample, which stays
// the error's.
func TestSamplesOfASecretCheck(t *testing.T) {
	from := scenarioRun(false)
	check := "GET /b?password=header-secret"
	from.Plan.Checks[1], from.Scenario.Checks[1].Name, from.Failures[2].Kind = check, check, check
	sample := sampledRun().Samples[0]
	sample.Phase, sample.Kind, sample.Address, sample.Body = loadresult.Check, check, from.Failures[2].Address, []byte("no")
	from.Samples = []loadresult.Sample{sample}
	r, err := From(from, "test")
	if err = errors.Join(err, r.RestorePlan(from.Plan, redact.PlainMark)); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Errors, func(e Error) bool { return e.Phase == string(loadresult.Check) })
	if e := r.Errors[at]; r.Samples[0].Kind != "GET /b?password=(redacted)" || e.Kind != r.Samples[0].Kind ||
		e.Kind != r.Plan.Checks[1] || e.Sample != "no" {
		t.Errorf("sample %q, error %+v, plan %q", r.Samples[0].Kind, e, r.Plan.Checks)
	}
}

// What --expect-header wants of a secret's field is a secret, short ones too.
func TestHeaderChecksAreRedacted(t *testing.T) {
	run := scenarioRun(true)
	run.Total.Sent, run.Total.Failed = run.Total.Sent+20, run.Total.Failed+20 // above a hundredth: a warning
	for range 20 {
		run.Total.ErrorLatency.Record(1)
	}
	run.Failures[0].Count += 20
	check := "X-Api-Key: a~b"
	run.Plan.Checks[1], run.Scenario.Checks[1].Name, run.Failures[2].Kind = check, check, check
	r := from(t, run)
	if !strings.Contains(strings.Join(r.Warnings, " "), check) {
		t.Fatalf("no warning has the check: %q", r.Warnings)
	}
	live := ConcealIntervals(run.Plan, redact.PlainMark, func(iv loadresult.Interval) {
		if iv.Failures[2].Kind != "X-Api-Key: (redacted)" {
			t.Errorf("the interval has %q", iv.Failures[2].Kind)
		}
	})
	live(loadresult.Interval{Failures: run.Failures})
	if err := r.RestorePlan(run.Plan, redact.PlainMark); err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(r)
	if err != nil || strings.Contains(string(all), "a~b") || r.Checks[1].Name != "X-Api-Key: (redacted)" ||
		!strings.Contains(strings.Join(r.Warnings, " "), "check X-Api-Key: (redacted)") {
		t.Errorf("%v: %s", err, all)
	}
	for name, want := range map[string]string{"X-Cache: HIT": "X-Cache: HIT", "Set-Cookie:a=b": "Set-Cookie:(redacted)",
		"x-api-key": "x-api-key", "Location: /a?token=b": "Location: /a?token=(redacted)",
		"contains:token": "contains:token", "GET /a:b?token=c": "GET /a:b?token=(redacted)", "body within 9 bytes": "body within 9 bytes",
		"X-Token:": "X-Token:"} {
		if got := keepCheck(redact.PlainMark, name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if got := keepCheck(nil, name); got != name {
			t.Errorf("%q: %q is not shown", name, got)
		}
	}
}
