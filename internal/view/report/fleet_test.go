package report

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/result"
)

// A report says how the machines of a fleet made one load, and who failed.
func TestFleet(t *testing.T) {
	r := closed()
	spread, late, after, yes := 420.0, 180.5, 7.5, true
	r.Fleet = &result.Fleet{Run: "r", StartSpread: &spread, OffsetBound: 35, Planned: 20, Covered: 17.5, AddsUp: true,
		Agents: []result.Agent{{Name: "web1", Weight: 2, Connections: 500, Late: &late, OffsetBound: 35, Final: true,
			Covered: 10, AddsUp: &yes, Requests: result.Requests{Sent: 1234567, Completed: 1234566, Errors: 1}},
			{Name: "web2", Weight: 1, Connections: 250, Lost: "gone\x07", LostAfter: &after, Covered: 7.5}}}
	var b strings.Builder
	if err := Text(&b, r, Style{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"fleet 2 agents, started within 420 µs, clocks known to ±35.0 µs, 17.5 of 20 agent-seconds covered; " +
			"reports = agents = run",
		"web1 2 500 1,234,567 1,234,566 1 180 µs 35.0 µs 10.0 s",
		"reconnects (of 1 of 2 agents; the others did not tell)",
		"web2 1 250 0 0 0 – – 7.50 s LOST",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, b.String())
		}
	}
	drift := -12.34
	r.Fleet.DriftBound, r.Fleet.Agents[0].Final, r.Fleet.Agents[0].Drift = 70, false, &drift
	b.Reset()
	if err := Text(&b, r, Style{}); err != nil || strings.Count(b.String(), untold) != 2 ||
		strings.Contains(b.String(), "busy") {
		t.Errorf("%v: nobody told of connections and threads:\n%s", err, b.String())
	}
	for _, want := range []string{"±35.0 µs, their drift to ±70.0 µs, 17.5 of", "late clock ± drift covered", "180 µs 35.0 µs -12.3 µs 10.0 s the sum", "– – – 7.50 s LOST"} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("clocks drift, and it does not say %q:\n%s", want, b.String())
		}
	}
	r.Fleet.AddsUp = false
	said := Say(r)
	all := strings.Join(said.Methods, " ")
	if !strings.Contains(all, "2 machines made the load together") || !strings.Contains(said.Command, "--fleet web1,web2") {
		t.Errorf("%s\n%s", all, said.Command)
	}
	if want := []string{"the sum of its reports", "LOST after 7.50 s: gone·"}; !slices.Equal(said.Agents, want) {
		t.Errorf("the agents fared %q, want %q", said.Agents, want)
	}
	b.Reset()
	if err := Markdown(&b, r); err != nil || !strings.Contains(b.String(), "## Agents") ||
		!strings.Contains(b.String(), "DO NOT ADD UP") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
