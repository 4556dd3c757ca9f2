package result

import (
	"strings"
	"testing"
)

// fleetOf is one of two machines that made r together.
func fleetOf(r *Result) *Fleet {
	spread, late, yes := 120.5, -3.25, true
	half := r.Requests
	half.Sent, half.Completed, half.Errors, half.Unfinished = 0, 0, 0, 0
	return &Fleet{Run: "r", OnAgentLoss: "abort", StartSpread: &spread, OffsetBound: 35, Planned: 4, Covered: 4,
		Agents: []Agent{{Name: "a", Host: ThisHost(), Weight: 2, Connections: 2, Threads: 1, OffsetBound: 35,
			Late: &late, Requests: r.Requests, Covered: 2, Reports: 2, Final: true, AddsUp: &yes},
			{Name: "b", Host: ThisHost(), Weight: 1, Connections: 1, Threads: 1, OffsetBound: 12, Late: &late,
				Requests: half, Covered: 2, Reports: 2, Repeated: 1, Final: true, AddsUp: &yes}}}
}

// What speaks against a fleet's numbers is said, and nothing if nothing does.
func TestTogether(t *testing.T) {
	after, no := 3.5, false
	for name, c := range map[string]struct {
		change func(f *Fleet)
		reason string
		adds   bool
	}{
		"well": {func(*Fleet) {}, "", true},
		"lost": {func(f *Fleet) { f.Agents[1].Lost, f.Agents[1].LostAfter = "gone", &after },
			"agent \"b\" was lost 3.5 s after the window's start: gone", true},
		"no final": {func(f *Fleet) { f.Agents[1].Final, f.Agents[1].AddsUp = false, nil },
			"its numbers are the sum of its 2 reports", true},
		"reports": {func(f *Fleet) { f.Agents[0].AddsUp = &no }, "the reports of agent \"a\" do not add up to its result", false},
		"sums":    {func(f *Fleet) { f.Agents[0].Requests.Sent-- }, "do not add up to the run's", false},
		"clocks":  {func(f *Fleet) { f.OffsetBound = 7000 }, "may differ by up to 7.0 ms", true},
	} {
		r := from(t, openRun())
		verdict, reasons := r.Generator.Verdict, len(r.Generator.Reasons)
		f := fleetOf(r)
		c.change(f)
		r.SetFleet(f)
		said := strings.Join(r.Generator.Reasons[reasons:], "; ")
		if f.AddsUp != c.adds || (said == "") != (c.reason == "") || !strings.Contains(said, c.reason) {
			t.Errorf("%s: adds up: %v; %s", name, f.AddsUp, said)
		}
		if want := worseVerdict(verdict, map[bool]string{true: Suspect, false: OK}[c.reason != ""]); r.Generator.Verdict != want {
			t.Errorf("%s: %s, want %s", name, r.Generator.Verdict, want)
		}
	}
	r := from(t, closedRun())
	f := fleetOf(r)
	some, much := 9_999.0, -12_000.0
	f.Agents[1].ClockOff, f.Agents[0].Drift, f.Agents[1].Drift = -7200, &some, &much
	r.SetFleet(f)
	if said := strings.Join(r.Warnings, "\n"); !strings.Contains(said, "the wall clock of agent \"b\" is 7200 s behind") ||
		!strings.Contains(said, "the clock of agent \"b\" drifted by 12 ms") || strings.Contains(said, `agent "a"`) {
		t.Errorf("%q", r.Warnings)
	}
	r.Warnings, f.DriftBound = nil, 2_000
	if r.SetFleet(f); strings.Contains(strings.Join(r.Warnings, "\n"), "drifted") {
		t.Errorf("what may be no drift: %q", r.Warnings)
	}
	f.Agents[0].Lost = "x"
	if lost := f.Lost(); len(lost) != 1 || lost[0] != "a" || (*Fleet)(nil).Lost() != nil {
		t.Error(lost)
	}
}
