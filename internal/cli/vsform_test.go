package cli

import (
	"errors"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	dashboard "dyno/internal/view/serve"
)

// The form of two servers takes URLs and what says how they are loaded. It executes nothing, reads no
// file and no environment, and keeps no mark of a secret.
func TestVersusForm(t *testing.T) {
	const a, b = "http://127.0.0.1:8080/x.hurl?q=1", "http://localhost:8081/"
	read := newVersusReader("dyno", "home")
	c, faults := read(dashboard.Form{"url": {a, b}, "connections": {"7"}, "rounds": {"6"}, "allow": {"etag"}, "max-time": {"1m"},
		"stream": {"sse"}, "stream-take": {"9"}, "goodput": {"first_event<1s"}})
	if len(faults) > 0 || c.Name != "vs-127.0.0.1-8080-localhost-8081" || !strings.Contains(c.Dir, c.Name) || len(c.Targets) != 2 ||
		c.Targets[0].Host != "127.0.0.1" || c.Targets[0].Port != 8080 || c.Targets[1].Host != "localhost" {
		t.Errorf("%+v, %v", c, faults)
	}
	if c, faults := read(dashboard.Form{"url": {":8080", ":8081/x.hurl?b=c"}}); len(faults) > 0 || len(c.Targets) != 2 ||
		c.Targets[0].URL != "http://127.0.0.1:8080/" || c.Targets[1].URL != "http://127.0.0.1:8081/x.hurl?b=c" {
		t.Errorf("ports of this machine: %+v, %v", c, faults)
	}
	for _, test := range []struct {
		form        dashboard.Form
		field, want string
	}{
		{dashboard.Form{"url": {a}}, "URL", "two servers"},
		{dashboard.Form{}, "URL", "two servers"},
		{dashboard.Form{"url": {a, "touch /tmp/x {port}"}}, "URL", "has no scheme"},
		{dashboard.Form{"url": {a, "./server --url http://127.0.0.1:{port}/"}}, "URL", "scheme"},
		{dashboard.Form{"url": {a, "http://127.0.0.1:1/ x"}}, "URL", ""},
		{dashboard.Form{"url": {a, "users.hurl"}}, "URL", "has no scheme"},
		{dashboard.Form{"url": {a, b, "-v"}}, "URL", "has no scheme"},
		{dashboard.Form{"url": {a, `http://127.0.0.1:1/{{env"HOME"}}`}}, "URL", ""},
		{dashboard.Form{"url": {a, `http://127.0.0.1:1/{{port}}`}}, "URL", ""},
		{dashboard.Form{"url": {a, "http://user:pass@127.0.0.1:1/"}}, "URL", "dyno vs in a terminal"},
		{dashboard.Form{"url": {a, "http://127.0.0.1:1/?token=guess"}}, "URL", "dyno vs in a terminal"},
		{dashboard.Form{"url": {a, b}, "body": {"@/etc/passwd"}}, "--body", "is not a field"},
		{dashboard.Form{"url": {a, b}, "output": {"/tmp"}}, "--output", "is not a field"},
		{dashboard.Form{"url": {a, b}, "git": {"true"}, "build": {"sh"}}, "", "is not a field"},
		{dashboard.Form{"url": {a, b}, "connections": {"many"}}, "--connections", "many"},
		{dashboard.Form{"url": {a, b}, "rounds": {"-1"}}, "--rounds", "-1"},
		{dashboard.Form{"url": {a, b}, "stream": {"10"}}, "--stream", "--streams"},
		{dashboard.Form{"url": {a, b}, "stream": {"sse"}, "goodput": {"gap.p99<1s"}}, "--goodput", "gap.max"},
	} {
		c, faults := read(test.form)
		if len(faults) == 0 || c.Run != nil {
			t.Errorf("%v is begun", test.form)
			continue
		}
		flaw, is := errors.AsType[loadplan.Flaw](faults[0])
		if test.field != "" && (!is || flaw.Setting != test.field) || !strings.Contains(faults[0].Error(), test.want) {
			t.Errorf("%v: %q", test.form, faults)
		}
	}
}

// Each field of the form but the URLs is a flag of dyno vs, as its help has it, and reads no file.
func TestVersusFieldsAreFlags(t *testing.T) {
	flags := map[string]option{}
	for _, g := range newVsFlags().groups() {
		for _, o := range g.options {
			flags[o.long] = o
		}
	}
	urls := 0
	for _, f := range versusFields() {
		if f.Name == "url" {
			urls++
			continue
		}
		o, is := flags[f.Name]
		if !is || o.short != f.Short || o.value != f.Value {
			t.Errorf("field %+v is not the flag %q %q %q", f, o.long, o.short, o.value)
		}
		if f.Label == "" || f.Does == "" || strings.Contains(o.value, "FILE") {
			t.Errorf("field %+v", f)
		}
	}
	if urls != 2 {
		t.Errorf("%d fields of URLs", urls)
	}
}
