package result_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/objective"
	"dyno/internal/result"
)

// The objectives of a server that only fails are judged.
func TestObjectivesOfOnlyErrors(t *testing.T) {
	r := result.FromRun(t, result.FailingRun(0))
	for expr, met := range map[string]bool{"errors<1%": false, "errors<=100%": true, "p99<1s": false,
		"rps>1": false, "error_latency.p99<2ms": true, "error_latency.mean<1us": false} {
		o, err := objective.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		if out := o.Judge(r); out.Met != met {
			t.Errorf("%s: %+v", expr, out)
		}
	}
}

func TestObjectivesOfAProbe(t *testing.T) {
	with, without := result.FromRun(t, result.BesideRun()), result.FromRun(t, result.ClosedRun())
	if o, err := objective.Parse("probe.p99<1ms"); err != nil || !o.Judge(with).Met ||
		o.Judge(without).Met || o.Live() {
		t.Errorf("probe.p99<1ms: %v", err)
	}
}

// Objectives of errors and rps are missed by a closed loop that had no server for over 1 % of
// its window, and all say how many connections had none.
func TestObjectivesWithoutAServer(t *testing.T) {
	open := func(r *loadresult.Result) {
		r.Plan.Rate = loadplan.RatePerSecond(500)
		r.Total.Service.Merge(r.Total.Latency)
	}
	gone := func(r *loadresult.Result) {
		r.Ended, r.Plan.Duration = loadresult.Gone, loadplan.Seconds(1000*time.Second)
	}
	counted := func(r *loadresult.Result) { r.Ended, r.Plan.Duration, r.Plan.Requested = loadresult.Gone, 0, 2006 }
	silent := func(r *loadresult.Result) { r.Failures, r.UnavailableMost = nil, 8e9 }
	for _, c := range []struct {
		name    string
		seconds float64
		change  func(*loadresult.Result)
		share   float64
		note    string
	}{
		{"silent", 5, silent, 0.5, "1 of 2 connections was still waiting for an answer when the run ended; the longest wait of a single connection was from 2 s into the window on"},
		{"for half of it", 5, nil, 0.5, "on average over the window, 1 of the 2 connections had no service from the server (reset); the longest outage of a single connection was from 2 s to 7 s of the window"},
		{"for 1 %", 0.1, nil, 0.01, ""},
		{"for a little more", 0.101, nil, 0.0101, "no connection could be opened for 500 ms of the window's 10 s (reset); the longest outage was from 2 s to 2.1 s of the window"},
		{"open loop", 5, open, 0, ""},
		{"gone for the rest", 5, gone, 0.995, "the server went away, and 99.5 % of the load was not applied"},
		{"gone, of a number of requests", 1, counted, 0.5, "the server went away, and 50 % of the load was not applied"},
	} {
		r := result.Away(t, c.seconds, c.change)
		if math.Abs(r.Unavailable()-c.share) > 1e-9 || r.Applied() != (c.note == "") {
			t.Errorf("%s: %v of the load, applied %v", c.name, r.Unavailable(), r.Applied())
		}
		for expr, fails := range map[string]bool{"errors<1%": true, "errors<10": true, "rps>1": true,
			"p99<10s": false, "connect.max<10s": false, "service.p50<10s": false} {
			o, err := objective.Parse(expr)
			if err != nil {
				t.Fatal(err)
			}
			out := o.Judge(r)
			if out.Value == nil || out.Met != !(fails && c.note != "") || (out.Note == "") != (c.note == "") ||
				!strings.Contains(out.Note, c.note) {
				t.Errorf("%s: %s is %+v", c.name, expr, out)
			}
		}
	}
}

// Objectives of users are judged by their iterations and checks, in µs and percent; a run without a
// scenario has none.
func TestObjectivesOfUsers(t *testing.T) {
	r := result.FromRun(t, result.ScenarioRun(false))
	plain := result.FromRun(t, result.ClosedRun())
	for _, c := range []struct {
		expr, unit string
		value      float64
		met        bool
		note       string
	}{
		{"iteration.mean<=501ms", "us", 499e3, false, "2 of 502 iterations had not ended 0.001 s after the window"},
		{"iteration.p95<960ms", "us", 950e3, true, ""},
		{"iteration.p95<940ms", "us", 950e3, false, ""},
		{"iteration.max<1s", "us", 1e6, false, ""},
		{"iteration.p97.5<980ms", "us", 976e3, true, ""},
		{"failed_iteration.max<6ms", "us", 5e3, true, ""},
		{"failed_iteration.p50<6ms", "us", 5e3, true, ""},
		{"checks>99.8%", "percent", 100 * 1498.0 / 1500, true, ""},
		{"checks>99.9%", "percent", 100 * 1498.0 / 1500, false, ""},
		{"checks.body>=100%", "percent", 100, true, ""},
		{"checks.price>=99.7%", "percent", 100 * 498.0 / 500, false, ""},
		{"errors<0.7%", "percent", 100 * 5.0 / 1005, true, ""},
	} {
		o, err := objective.Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		got := o.Judge(r)
		if got.Value == nil || math.Abs(*got.Value/c.value-1) > 0.004 || got.Met != c.met || got.Unit != c.unit ||
			got.Note != c.note {
			t.Errorf("%s: %+v, value %v; want %v, %v", c.expr, got, got.Value, c.value, c.met)
		}
		if got := o.Judge(plain); !o.OfErrors() && (got.Value != nil || got.Met) {
			t.Errorf("%s without a scenario: %+v", c.expr, got)
		}
		if o.Live() == strings.HasPrefix(c.expr, "failed_iteration") {
			t.Errorf("%s: judged each second: %v", c.expr, o.Live())
		}
	}
	if o, _ := objective.Parse("checks.colour>0%"); o.Judge(r).Value != nil {
		t.Errorf("of a check that there is not: %+v", o.Judge(r))
	}
	gone := result.ScenarioRun(false)
	gone.Unavailable = 1e9
	for expr, met := range map[string]bool{"checks>=1%": false, "iteration.p95<1s": true} {
		if o, _ := objective.Parse(expr); o.Judge(result.FromRun(t, gone)).Met != met {
			t.Errorf("%s, and there was no server for a quarter of the window", expr)
		}
	}
	refused := result.ScenarioRun(false)
	refused.Failures = append(refused.Failures,
		loadresult.Failure{Phase: loadresult.Check, Kind: loadresult.Refused, Count: 995})
	for expr, value := range map[string]float64{"errors<=10": 1000, "errors<1%": 50} {
		if o, _ := objective.Parse(expr); math.Abs(*o.Judge(result.FromRun(t, refused)).Value-value) > 1e-9 {
			t.Errorf("%s: %v", expr, *o.Judge(result.FromRun(t, refused)).Value)
		}
	}
	// An iteration that was never begun is a request that was not sent.
	if o, _ := objective.Parse("errors<=10"); *o.Judge(result.FromRun(t, result.ScenarioRun(true))).Value != 4+1+6 {
		t.Errorf("%v failed", *o.Judge(result.FromRun(t, result.ScenarioRun(true))).Value)
	}
}
