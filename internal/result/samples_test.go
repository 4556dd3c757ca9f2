package result

import (
	"encoding/json"
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if err = r.RestorePlan(from.Plan, nil); err != nil {
		t.Fatal(err)
	}
	if s := r.Samples[0]; fmt.Sprint(s) != fmt.Sprint(from.Samples[0]) || !strings.Contains(r.Errors[0].Sample, "own-secret") {
		t.Errorf("%+v %+v", s, r.Errors)
	}
}
