package serve

import (
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
)

// Servers that a form names are judged as the target of any load is. A name counts as it is written,
// because an experiment looks it up again and again.
func TestVersusPolicy(t *testing.T) {
	p := newPlay(t)
	var hosts []string
	versus := func(f Form) (Conducting, []error) {
		c, faults := p.conduct("vs", false)
		for _, h := range hosts {
			c.Targets = append(c.Targets, loadplan.Target{URL: "http://" + h, Host: h, Port: 80})
		}
		return c, faults
	}
	config := Config{Home: p.home, Offers: p.offers, Conduct: p.conduct, Versus: versus}
	if err := config.Targets.Allow("10.1.0.0/16"); err != nil {
		t.Fatal(err)
	}
	g := begin(t, config)
	for _, test := range []struct {
		hosts []string
		want  string
	}{
		{[]string{"127.0.0.1", "192.0.2.1"}, "192.0.2.1 is not among what this dashboard may load"},
		{[]string{"192.0.2.1", "127.0.0.1"}, "192.0.2.1 is not among what this dashboard may load"},
		{[]string{"10.1.2.3", "10.2.2.3"}, "10.2.2.3 is not among"},
	} {
		hosts = test.hosts
		r := g.ask(t, "POST", "/api/versus", `{}`)
		if said := text(t, r); r.StatusCode != 422 || !strings.Contains(said, test.want) || !strings.Contains(said, `"field":"url"`) {
			t.Errorf("%q: %d, %s", test.hosts, r.StatusCode, said)
		}
	}
	for body, want := range map[string]int{`[]`: 422, ``: 422, `{"url":{}}`: 422} {
		if r := g.ask(t, "POST", "/api/versus", body); r.StatusCode != want {
			t.Errorf("%s: %d", body, r.StatusCode)
		}
	}
	if len(p.begun) > 0 {
		t.Error("something was begun")
	}
	hosts = []string{"localhost", "10.1.2.3", "::1"}
	r := g.ask(t, "POST", "/api/versus", `{"url":["a","b"]}`)
	if said := text(t, r); r.StatusCode != 201 || begunID(t, said) == "" {
		t.Errorf("%d, %s", r.StatusCode, said)
	}
	if r := g.ask(t, "POST", "/api/versus", `{}`); r.StatusCode != 409 {
		t.Errorf("a second one: %d", r.StatusCode)
	}
	if r := begin(t, Config{Home: t.TempDir()}).ask(t, "POST", "/api/versus", `{}`); r.StatusCode != 404 {
		t.Errorf("where there are none: %d", r.StatusCode)
	}
}

// A name that now means an allowed address may mean another when the load begins.
func TestVersusNames(t *testing.T) {
	var p Policy
	for _, pattern := range []string{"10.0.0.0/8", "app.example"} {
		if err := p.Allow(pattern); err != nil {
			t.Fatal(err)
		}
	}
	if !p.allowsAny(func(a pattern) bool { return matchesGlob(a.host, "app.example") }) {
		t.Fatal("the pattern is none of a host")
	}
	for host, want := range map[string]bool{"127.0.0.1": true, "::1": true, "localhost": true, "LOCALHOST": true, "192.0.2.1": false} {
		if err := p.checkServer(t.Context(), loadplan.Target{Host: host}); (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := p.checkServer(t.Context(), loadplan.Target{Unix: "/run/x.sock"}); err == nil {
		t.Error("a socket that is not allowed is loaded")
	}
}
