package plansecrets

import (
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
)

// What is searched for is computed before a load begins, and not when first something fails: the
// load is to have the CPU.
func TestSecretsAreKnownBeforeTheLoad(t *testing.T) {
	marked := 0
	keep := func(_, value string) string {
		marked++
		return redact.PlainMark("", value)
	}
	p := loadplan.DefaultPlan()
	p.Requests = []loadplan.Request{{Request: proto.Request{Header: []proto.Field{{Name: "X-Auth", Value: "SECRET2"}}}}}
	conceal := IntervalConcealer(p, keep)
	before, given := marked, []loadresult.Failure{{Detail: "bad line SECRET2"}}
	if said := conceal(loadresult.Interval{Failures: given}).Failures[0].Detail; said !=
		"bad line (redacted)" || before == 0 || marked != before {
		t.Errorf("%q: %d secrets were marked before the load, and %d later", said, before, marked-before)
	}
}

// What follows the host in a URL is not public.
func TestDestinations(t *testing.T) {
	for url, want := range map[string]string{"http://h:80/x?key=1": "http://h:80", "http://h?key=1": "http://h",
		"http+unix:///run/x.sock:/?key=1": "http+unix://", "http://h": "http://h", "": "://"} {
		if got := Destination(loadplan.Plan{Target: loadplan.Target{URL: url}})[0]; got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
}

// The password of a proxy is a secret, in whatever form something says it, and its address is none.
func TestProxyPassword(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Proxy = "http://u:SECRET3@proxy:3128"
	keep := func(_, value string) string { return redact.PlainMark("", value) }
	if got := Stored(p, keep).Proxy; got != "http://u:"+redact.Plain+"@proxy:3128" {
		t.Errorf("stored as %s", got)
	}
	const said = "the proxy said SECRET3, dTpTRUNSRVQz and proxy:3128" // the second is u:SECRET3 in base64
	if got := Known(p, keep).Text(said); strings.Contains(got, "SECRET3") || strings.Contains(got, "dTpTRUNSRVQz") ||
		!strings.Contains(got, "proxy:3128") {
		t.Errorf("known as %s", got)
	}
}

// The password of who signs a request is a secret without the user's name, and so is what it has besides holes.
func TestSignerPassword(t *testing.T) {
	keep := func(_, value string) string { return redact.PlainMark("", value) }
	who := func(s string) proto.Request {
		return proto.Request{Auth: loadplan.Digest, Header: []proto.Field{{Name: "authorization", Value: s}}}
	}
	for written, as := range map[string]string{"alice:SECRET4": "alice:SECRET4", "{{who}}:SECRET4{{pw}}": "", "alice:{{a}}SECRET4": "",
		"{{cred}}": "alice:SECRET4"} {
		p := loadplan.DefaultPlan()
		p.Requests = []loadplan.Request{{Request: who(as)}}
		if strings.Contains(written, "{{") {
			template := who(written)
			p.Requests[0].Template = &template
		}
		if got := Known(p, keep).Text("it was SECRET4x of alice"); strings.Contains(got, "SECRET4") || !strings.Contains(got, "of alice") {
			t.Errorf("%s: %s", written, got)
		}
	}
}

// The steps that stream have their names without secrets, as all steps do.
func TestStepsThatStream(t *testing.T) {
	p := loadplan.Plan{Steps: []string{"GET /a", "GET /b?token=swordfish"}}
	p.Stream.Steps = p.Steps[1:]
	kept := Stored(p, redact.PlainMark)
	if kept.Stream.Steps[0] != kept.Steps[1] || strings.Contains(kept.Steps[1], "swordfish") || p.Stream.Steps[0] != "GET /b?token=swordfish" {
		t.Errorf("%q, %q", kept.Steps, kept.Stream.Steps)
	}
}
