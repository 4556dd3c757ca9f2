package result

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What a doubt is about: the generator's limit is one thing, and what held it up another.
func TestDoubts(t *testing.T) {
	for _, test := range []struct {
		what   string
		change func(*Result)
		doubts string
		bound  Kind
	}{
		{"sound", func(*Result) {}, "[]", ""},
		{"saturated", func(r *Result) { r.Generator.BusyPercent = 98 }, "[{busy limit client-bound}]", Limit},
		{"near the limit", func(r *Result) { r.Generator.BusyPercent = 85 }, "[{busy limit suspect}]", ""},
		{"saturated by the scenario", func(r *Result) {
			r.Generator.BusyPercent, r.Generator.ScenarioPercent = 98, set(90.0)
		}, "[{scenario limit client-bound}]", Limit},
		{"others run", func(r *Result) { r.Generator.Unscheduled, r.Generator.CPUWait = 30, 90 },
			"[{unscheduled disturbed client-bound}]", HeldUp},
		{"others run, and the rest is busy", func(r *Result) {
			r.Generator.Unscheduled, r.Generator.CPUWait, r.Generator.BusyPercent = 30, 90, 98
		}, "[{busy limit client-bound} {unscheduled disturbed client-bound}]", Limit},
		{"late and idle", func(r *Result) { r.Generator.SendLagP99 = set(11_000.0) },
			"[{send-lag disturbed client-bound}]", HeldUp},
		{"late and busy", func(r *Result) {
			r.Generator.SendLagP99, r.Generator.BusyPercent = set(11_000.0), 90
		}, "[{busy limit suspect} {send-lag limit client-bound}]", Limit},
		{"idle connections", func(r *Result) { r.Generator.Little = set(0.8) },
			"[{little load client-bound}]", OtherLoad},
		{"files", func(r *Result) { r.Errors = []Error{{Kind: "no-file", Count: 4}} },
			"[{files resource suspect}]", ""},
		{"short", func(r *Result) { r.Window.MeasuredS, r.Generator.BusyPercent = 0.5, 99 },
			"[{too-short short ok}]", ""},
		{"short, because it was interrupted", func(r *Result) {
			r.Window.MeasuredS, r.Ended = 0.5, "interrupted"
		}, "[{ended load suspect} {too-short short ok}]", ""},
		{"short, and without files", func(r *Result) {
			r.Window.MeasuredS, r.Errors = 0.5, []Error{{Kind: "no-file", Count: 4}}
		}, "[{files resource suspect} {too-short short ok}]", ""},
		{"few in a long window, saturated and without CPUs", func(r *Result) {
			r.Requests, r.Window.MeasuredS = Requests{Sent: 99, Completed: 99}, 600
			r.Generator.BusyPercent, r.Generator.Unscheduled, r.Generator.CPUWait = 99, 80, 4000
			r.Generator.SendLagP99 = set(1e7)
		}, "[{busy limit client-bound} {unscheduled disturbed client-bound} {too-short short suspect}]", Limit},
	} {
		r := sound()
		test.change(r)
		r.judgeGenerator()
		g := &r.Generator
		if got := fmt.Sprint(g.Doubts); got != test.doubts || g.Bound() != test.bound ||
			len(g.Doubts) != len(g.Reasons) {
			t.Errorf("%s: %s, bound by %q: %q", test.what, got, g.Bound(), g.Reasons)
		}
	}
}

// Parts of few answers each are judged where all of them have enough, and not where all are too
// short.
func TestPartsOfFewAnswers(t *testing.T) {
	for _, test := range []struct {
		each    int64
		seconds float64
		doubts  string
	}{
		{90, 10, "[{busy limit client-bound}]"},
		{20, 10, "[{busy limit client-bound} {too-short short suspect}]"},
		{50_000, 0.5, "[{too-short short ok}]"},
	} {
		whole, parts := sound(), []*Result(nil)
		for range 4 {
			p := sound()
			p.Requests, p.Generator.BusyPercent = Requests{Sent: test.each, Completed: test.each}, 100
			p.Window.MeasuredS = test.seconds
			parts = append(parts, p)
		}
		whole.Requests = Requests{Sent: 4 * test.each, Completed: 4 * test.each}
		whole.Window = parts[0].Window
		whole.judgeGenerators(parts)
		if got := fmt.Sprint(whole.Generator.Doubts); got != test.doubts {
			t.Errorf("4 parts of %d answers in %v s: %s, want %s", test.each, test.seconds, got, test.doubts)
		}
	}
}

// The kind of a doubt is that of the part that has it, and its fact names the part.
func TestDoubtOfAPart(t *testing.T) {
	parts := []*Result{sound(), sound(), sound()}
	late := &parts[1].Generator
	late.SendLagP99, late.BusyPercent = set(11_000.0), 90
	whole := sound()
	whole.judgeGenerators(parts)
	if got := fmt.Sprint(whole.Generator.Doubts); got != "[{busy limit suspect} {send-lag limit client-bound}]" {
		t.Error(got)
	}
	for i, f := range whole.ReasonFacts() {
		if !slices.Equal(f.Scope.Parts, []int{2}) || f.Scope.OfParts != 3 || !strings.HasPrefix(whole.Generator.Reasons[i], "generator 2 (of 3) ") {
			t.Errorf("%+v: %s", f.Scope, whole.Generator.Reasons[i])
		}
	}
}

// Of parts whose lateness reads alike, the kind is that of the worst, whose verdict stands.
func TestDoubtOfTheWorstPart(t *testing.T) {
	parts := []*Result{sound(), sound()}
	parts[0].Generator.SendLagP99 = set(9_999.0)
	parts[1].Generator.SendLagP99, parts[1].Generator.BusyPercent = set(10_001.0), 90
	whole := sound()
	whole.judgeGenerators(parts)
	if got := fmt.Sprint(whole.Generator.Doubts); got != "[{busy limit suspect} {send-lag limit client-bound}]" {
		t.Error(got)
	}
	if len(whole.ReasonFacts()[1].Scope.Parts) > 0 {
		t.Error("the two do not read alike")
	}
}

// Results from before doubts tell by how busy the generator was.
func TestBoundOfOlderResults(t *testing.T) {
	for _, test := range []struct {
		g    Generator
		want Kind
	}{
		{Generator{Verdict: OK}, ""},
		{Generator{Verdict: Suspect, BusyPercent: 85}, ""},
		{Generator{Verdict: ClientBound, BusyPercent: 98}, Limit},
		{Generator{Verdict: ClientBound, BusyPercent: 3, SendLagP99: set(11_000.0)}, HeldUp},
		{Generator{Verdict: ClientBound, BusyPercent: 3, Unscheduled: 30, CPUWait: 90}, HeldUp},
		{Generator{Verdict: ClientBound, BusyPercent: 98, Unscheduled: 30, CPUWait: 90}, Limit},
	} {
		if got := test.g.Bound(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.g, got, test.want)
		}
	}
}

// Every cause and every kind is among those of the schema.
func TestSchemaHasAllCauses(t *testing.T) {
	var schema struct {
		Defs struct {
			Doubt struct {
				Properties struct {
					Cause, Kind struct {
						Enum []string `json:"enum"`
					}
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	p := schema.Defs.Doubt.Properties
	want := string(FleetWide)
	for _, c := range checks {
		want += " " + string(c.cause)
	}
	for _, name := range strings.Fields(want) {
		if !strings.Contains(fmt.Sprint(p.Cause.Enum), name) {
			t.Errorf("%s is no cause of the schema's", name)
		}
	}
	if got := len(p.Cause.Enum); got != len(strings.Fields(want)) || len(p.Kind.Enum) != 6 {
		t.Errorf("%d causes and %d kinds in the schema", got, len(p.Kind.Enum))
	}
}

// No advice that stands in one place only: a flag means nothing in an experiment's file.
func TestReasonsNameNoFlag(t *testing.T) {
	r := sound()
	g := &r.Generator
	r.Plan.Reconnect, r.Model = 1, OpenLoop
	n := int64(50_000)
	r.Requests.Waiting, g.BusyPercent, g.SendLagP99, g.Unscheduled, g.CPUWait = &n, 99, set(1e6), 50, 90
	g.GCPauseMax, r.Window.OutageS, r.Ended = 5000, 1, "interrupted"
	g.Arrivals = &Arrivals{Spans: 100, OffP95: set(90.0)}
	r.Errors = []Error{{Kind: "no-file", Count: 4}, {Kind: "no-port", Count: 4}}
	r.Probe = &Probe{SendLagP99: set(1e6), Latency: &Distribution{Mean: 2000}}
	r.judgeGenerator()
	r.Model, r.Plan.Reconnect, r.Requests.Waiting = ClosedLoop, 0, nil
	all := append([]string{}, g.Reasons...)
	r.Connections.Served, r.Window.MeasuredS = 7, 0.5
	r.judgeGenerator()
	for _, reason := range append(all, g.Reasons...) {
		for _, word := range strings.Fields(reason) {
			if strings.HasPrefix(strings.Trim(word, "(),;"), "-") {
				t.Errorf("%q in %q", word, reason)
			}
		}
	}
	if len(all) < 9 {
		t.Errorf("only %d reasons: %q", len(all), all)
	}
}
