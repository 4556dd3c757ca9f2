package result

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
	"dyno/internal/redact"
	"dyno/internal/say"
)

// secretPlan has a secret of each kind, all of which have SECRET in them.
func secretPlan() loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://host/x?api_key=SECRET1", Host: "host", Port: 80}
	header := []proto.Field{{Name: "Accept", Value: "text/plain"}, {Name: "X-Auth", Value: "SECRET2"},
		{Name: "Cookie", Value: "a=SECRET3"}}
	for _, body := range []string{`{"password": "SECRET4", "n": 1}`, "token=SECRET5&n=1", "SECRET6"} {
		p.Requests = append(p.Requests, loadplan.Request{Weight: 1, Name: "POST /x?page=1&sig=SECRET7",
			Request: proto.Request{Method: "POST", Authority: "host", Path: "/x?page=1&sig=SECRET7",
				Header: header, Body: []byte(body)}})
	}
	p.Params = []loadplan.Param{{Name: "SCRIPT_FILENAME", Value: "/x.php"}, {Name: "APP", Value: "SECRET8"}}
	return p
}

// No secret of a plan is in a result's JSON, neither before it is complete nor after. What was
// measured by is not changed.
func TestNoSecretIsInAResult(t *testing.T) {
	p := secretPlan()
	measured := &loadresult.Result{Plan: p, Started: time.Now(), Measured: time.Second}
	r, err := From(measured, "1")
	if err != nil {
		t.Fatal(err)
	}
	r.Routes = []Route{{Name: p.Requests[0].Name}, {Name: "GET /other?token=SECRET9"}}
	text := func(v any) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if s := text(r.Plan); strings.Contains(s, "SECRET") || !strings.Contains(s, redact.Plain) {
		t.Error(s)
	}
	if err := r.RestorePlan(p, redact.Marks(func() []byte { return []byte("key") })); err != nil {
		t.Fatal(err)
	}
	s := text(r)
	if strings.Contains(s, "SECRET") || strings.Contains(s, redact.Plain) {
		t.Error(s)
	}
	for _, want := range []string{"text/plain", "page=1", `\"n\": 1`, "&n=1", "/x.php", "X-Auth"} {
		if !strings.Contains(s, want) {
			t.Errorf("%s is gone: %s", want, s)
		}
	}
	if r.Routes[0].Name != r.Plan.Requests[0].Name {
		t.Errorf("a route is %q and its request %q", r.Routes[0].Name, r.Plan.Requests[0].Name)
	}
	if err := r.RestorePlan(p, nil); err != nil || !strings.Contains(text(r), "SECRET8") {
		t.Errorf("secrets that are to be shown are not, %v", err)
	}
	if got, want := text(p), text(secretPlan()); got != want {
		t.Errorf("the plan was changed:\n%s", got)
	}
}

// dyno's own sentences stay, though a header's value is a word of them or where the load goes; what
// a server says is concealed in them too.
func TestOwnSentencesAreKept(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1:8080/x?key=secret-of-the-URL", Host: "127.0.0.1", Port: 8080}
	p.Requests = []loadplan.Request{{Weight: 1, Request: proto.Request{Method: "GET", Path: "/", Authority: "127.0.0.1",
		Header: []proto.Field{{Name: "X-Forwarded-For", Value: "127.0.0.1"}, {Name: "X-Kind", Value: "measured"},
			{Name: "X-Scheme", Value: "http"}, {Name: "X-Ports", Value: "8080"}, {Name: "X-Auth", Value: "hunter2-said"}}}}}
	for _, said := range []string{"connection refused", "bad line \"hunter2-said\""} {
		r, err := From(&loadresult.Result{Plan: p, Started: time.Now(), Ended: loadresult.Unreachable,
			Cause: "connect 127.0.0.1:8080: " + said,
			Totals: loadresult.Totals{Failures: []loadresult.Failure{{Phase: loadresult.Connect, Kind: "refused",
				Address: "127.0.0.1:8080", Detail: said, Count: 1}}},
			Notices: []fact.Fact{fact.Noticed(fact.ConnectionsEnded{Count: 1, Why: said})}}, "1")
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(strings.Join(append(r.Generator.Reasons, append(r.Warnings, r.Cause)...), "\n"),
			"hunter2-said", redact.Plain)
		if err := r.RestorePlan(p, redact.PlainMark); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(append(r.Generator.Reasons, append(r.Warnings, r.Cause)...), "\n")
		if got != want || !strings.Contains(got, "nothing was measured: no connection could be opened") {
			t.Errorf("%s\nand not\n%s", got, want)
		}
		facts := r.ReasonFacts()
		if len(facts) == 0 {
			t.Fatalf("no reason is a fact: %q", r.Generator.Reasons)
		}
		for i, f := range facts {
			if say.Sentence(f) != r.Generator.Reasons[i] {
				t.Errorf("%q, and the fact says %q", r.Generator.Reasons[i], say.Sentence(f))
			}
		}
	}
}
