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
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
	"dyno/internal/result/plansecrets"
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
	var parts []*loadresult.Result
	for i, p := range from.Plan.Split(2) {
		part := *sampledRun()
		if part.Plan = p; i == 0 { // of whose errors there is no sample
			part.Samples = nil
		}
		part.Total = metric.NewCounters()
		part.Total.ErrorLatency.RecordMany(1e6, 9)
		part.Total.Sent, part.Total.Failed = 9, 9
		parts = append(parts, &part)
	}
	m := together(t, parts...)
	if m.Errors[0].Count != 2*r.Errors[0].Count || !strings.HasPrefix(m.Errors[0].Sample, begin[:9]) {
		t.Errorf("%+v", m.Errors)
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
	live := plansecrets.IntervalConcealer(run.Plan, redact.PlainMark)(loadresult.Interval{Failures: run.Failures})
	if live.Failures[2].Kind != "X-Api-Key: (redacted)" || run.Failures[2].Kind != check {
		t.Errorf("the interval has %q, and the run %q", live.Failures[2].Kind, run.Failures[2].Kind)
	}
	if err := r.RestorePlan(run.Plan, redact.PlainMark); err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(r)
	if err != nil || strings.Contains(string(all), "a~b") || r.Checks[1].Name != "X-Api-Key: (redacted)" ||
		!strings.Contains(strings.Join(r.Warnings, " "), `check "X-Api-Key: (redacted)"`) {
		t.Errorf("%v: %s", err, all)
	}
	for name, want := range map[string]string{"X-Cache: HIT": "X-Cache: HIT", "Set-Cookie:a=b": "Set-Cookie:(redacted)",
		"X-Token : a b": "X-Token : (redacted)", "  X-Token: a": "  X-Token: (redacted)",
		"x-api-key": "x-api-key", "Location: /a?token=b": "Location: /a?token=(redacted)",
		"contains:token": "contains:token", "GET /a:b?token=c": "GET /a:b?token=(redacted)", "body within 9 bytes": "body within 9 bytes",
		"X-Token:": "X-Token:"} {
		if got := redact.Replacer(redact.PlainMark).Check(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if got := redact.Replacer(nil).Check(name); got != name {
			t.Errorf("%q: %q is not shown", name, got)
		}
	}
}

// filledRun is sampledRun of requests with holes, whose values the server repeats.
func filledRun() *loadresult.Result {
	from := sampledRun()
	r := &from.Plan.Requests[0].Request
	r.Path, r.Body = "/x?user=&sid=", []byte(`{"pin":,"id":""}`)
	r.Header = []proto.Field{{Name: "Authorization", Value: "Bearer "}}
	r.Holes = []proto.Hole{{In: proto.InPath, At: 8}, {In: proto.InPath, At: 13, Value: 1},
		{In: proto.InHeader, At: 7, Value: 2}, {In: proto.InBody, At: 7, Value: 3}, {In: proto.InBody, At: 14, Value: 4}}
	body := []byte(`{"pin":472913,"id":"id-5"}`)
	values := [][]byte{[]byte("josephine"), []byte("sid-900913"), []byte("tok-123456"), []byte("472913"), []byte("id-5")}
	for i := range from.Samples {
		s := &from.Samples[i]
		s.SetRequest(&from.Plan, proto.Message{Fill: &proto.Fill{Values: values, Body: body}})
		s.Fields = []proto.Field{{Name: "x-said", Value: "pin 472913 of josephine"}}
		s.Trailers = []proto.Field{{Name: "x-sum", Value: "sid-900913"}}
		s.Body = []byte("tok-123456 of josephine, id-5, has expired: Bearer tok-12345")
	}
	return from
}

// Of an answer, secrets are taken out that only its own request had.
func TestSamplesConcealTheirOwnSecrets(t *testing.T) {
	from := filledRun()
	for what, change := range map[string]func(s *loadresult.Sample){
		"a request of the plan": func(*loadresult.Sample) {},
		"one whose body was cut": func(s *loadresult.Sample) {
			s.RequestBytes, s.Request.Body = 1000, []byte(`{"pin":472913,"id":"id-5","text":"`)
		},
	} {
		from := filledRun()
		for i := range from.Samples {
			change(&from.Samples[i])
		}
		r, err := From(from, "test")
		if err = errors.Join(err, r.RestorePlan(from.Plan, redact.PlainMark)); err != nil {
			t.Fatal(err)
		}
		s := r.Samples[0]
		if string(s.Body) != "(redacted) of josephine, id-5, has expired: (redacted)" ||
			s.Fields[0].Value != "pin (redacted) of josephine" || s.Trailers[0].Value != "(redacted)" ||
			s.Request.Path != "/x?user=josephine&sid=(redacted)" || r.Errors[0].Sample != string(s.Body) {
			t.Errorf("%s: %q %q %q %+v", what, s.Body, s.Fields, s.Trailers, r.Errors[0])
		}
	}
	r, err := From(from, "test")
	if stored, _ := json.Marshal(r); err != nil || strings.Contains(string(stored), "tok-1") {
		t.Errorf("%v: before its plan is restored: %s", err, stored)
	}
}

// Without the request nothing of an answer is kept that could repeat a secret which is not known.
func TestSamplesWithoutTheirRequest(t *testing.T) {
	header := func(value string, holes ...proto.Hole) proto.Request {
		return proto.Request{Method: "GET", Path: "/x?a=", Holes: holes, Header: []proto.Field{{Name: "If-Match", Value: value},
			{Name: "X-User", Value: value}}}
	}
	inBody := func(body string, at int) proto.Request {
		return proto.Request{Method: "POST", Path: "/", Body: []byte(body), Holes: []proto.Hole{{In: proto.InBody, At: at}}}
	}
	for what, c := range map[string]struct {
		request proto.Request
		want    string
	}{
		"no hole":                     {header("me"), "no"},
		"a hole in a harmless header": {header("me", proto.Hole{In: proto.InHeader, At: 2}), "no"},
		"a hole in another header":    {header("me", proto.Hole{In: proto.InHeader, Field: 1}), ""},
		"a hole in a query":           {header("me", proto.Hole{In: proto.InPath, At: 5, Value: 3}), "no"},
		"a hole in a field of JSON":   {inBody(`{"id":}`, 6), "no"},
		"a hole in a secret field":    {inBody(`{"pin":}`, 7), ""},
		"a hole in a text":            {inBody("hello ", 6), ""},
		"requests of the scenario":    {proto.Request{}, ""},
	} {
		from := sampledRun()
		from.Plan.Requests = append(from.Plan.Requests, loadplan.Request{Request: c.request})
		if c.request.Method == "" {
			from.Plan.Requests = nil
		}
		for i := range from.Samples {
			s := &from.Samples[i]
			s.Request, s.RequestBytes, s.Body = proto.Request{}, 0, []byte("no")
		}
		r, err := From(from, "test")
		if err != nil || r.Errors[0].Sample != c.want {
			t.Errorf("%s: %v, %q before the plan is restored", what, err, r.Errors[0].Sample)
		}
		if err := r.RestorePlan(from.Plan, redact.PlainMark); err != nil {
			t.Fatal(err)
		}
		s := r.Samples[0]
		if string(s.Body) != c.want || r.Errors[0].Sample != c.want || (len(s.Fields) > 0) != (c.want != "") || s.Status != 500 {
			t.Errorf("%s: %+v, %q", what, s, r.Errors[0].Sample)
		}
	}
}

// A request is kept without the value of a secret variable, wherever in it that stands, and an
// answer without a body that cannot be searched.
func TestSamplesConcealVariables(t *testing.T) {
	from := sampledRun()
	const secret = "tok-90210x"
	r := &from.Plan.Requests[0]
	r.Method, r.Path, r.Header, r.Body = "POST", "/x/{{token}}", []proto.Field{{Name: "Accept", Value: "{{token}}"}}, []byte(`{"a":"{{token}}"}`)
	written := r.Request
	r.Template = &written
	r.Path, r.Header, r.Body = "/x/"+secret, []proto.Field{{Name: "Accept", Value: secret}}, []byte(`{"a":"`+secret+`"}`)
	from.Plan.SetVariables(map[string]string{"token": secret})
	for i, encoding := range []string{"gzip", "identity", "x, br"} {
		s := &from.Samples[i]
		s.SetRequest(&from.Plan, proto.Message{})
		s.Fields, s.Trailers = []proto.Field{{Name: "content-encoding", Value: encoding}}, nil
		s.Body = []byte("body")
	}
	res, err := From(from, "test")
	if err = errors.Join(err, res.RestorePlan(from.Plan, redact.PlainMark)); err != nil {
		t.Fatal(err)
	}
	for i, body := range []string{"", "body", ""} {
		s := res.Samples[i]
		if s.Request.Path != "/x/(redacted)" || s.Request.Header[0].Value != "(redacted)" ||
			string(s.Request.Body) != `{"a":"(redacted)"}` || string(s.Body) != body {
			t.Errorf("%+v, body %q, answer %q", s.Request, s.Request.Body, s.Body)
		}
	}
	if string(from.Samples[0].Request.Body) != `{"a":"`+secret+`"}` || from.Samples[0].Request.Header[0].Value != secret {
		t.Error("what load gave has changed")
	}
}
