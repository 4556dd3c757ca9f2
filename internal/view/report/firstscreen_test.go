package report

import (
	"bytes"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// starving is a closed run of 8 connections of which 3 had no answer in the whole window.
func starving() *result.Result {
	r := reporttest.Closed()
	r.Plan.Connections = 8
	r.Window.MeasuredS, r.Window.UnavailableS, r.Requests.Held = 5, 1.88, 3
	r.Generator.Verdict, r.Generator.Reasons = result.Suspect, []string{say.Sentence(*r.FindNoServer())}
	r.Generator.Doubts = []result.Doubt{{Cause: result.NoServer, Kind: result.OtherLoad, Verdict: result.Suspect}}
	return r
}

// gone is an open run whose server refused connections from 3.47 s on.
func gone() *result.Result {
	r := slower()
	r.Ended, r.Window.OutageS, r.Window.MeasuredS = "duration", 2.53, 6
	r.Facts = []fact.Fact{{Severity: fact.Error, Scope: fact.Scope{Address: "127.0.0.1:80"},
		Args: fact.AddressLost{Why: "refused", SinceS: 3.47, Times: 1}}}
	r.Generator.Verdict, r.Generator.Reasons = result.ClientBound, nil
	reporttest.AddDoubt(r, result.Outage, result.OtherLoad, fact.Fact{Severity: fact.Warning, Args: fact.Outage{OutageUS: 2.5e6}})
	reporttest.AddDoubt(r, result.NeverSent, result.OtherLoad, fact.Fact{Severity: fact.Warning, Args: fact.NeverSent{Percent: 42}})
	reporttest.AddDoubt(r, result.SendLag, result.HeldUp, fact.Fact{Severity: fact.Error, Args: fact.SendLag{P99US: 11_000, MeanUS: 900},
		Remedies: []fact.Remedy{{Setting: "cpus", Value: fact.Some}}})
	return r
}

// The first screen of a server that failed says so first, in connections and since when, and what to
// do. What it did is no verdict on the generator; what justifies that verdict is said first.
func TestFirstScreenOfABadServer(t *testing.T) {
	silent := starving()
	silent.Requests.Held, silent.Requests.Unfinished, silent.Window.UnavailableFromS = 0, 8, new(1.94)
	silent.Window.UnavailableS = 3.06
	cut := starving() // one connection was silent, and the others were cut off at the end
	cut.Requests.Held, cut.Requests.Unfinished, cut.Window.UnavailableFromS = 0, 8, new(1.94)
	cut.Window.UnavailableS = 0.38
	for name, c := range map[string]struct {
		r          *result.Result
		has, lacks []string
	}{
		"starved": {starving(), []string{"verdict 332,014 requests/s on 8 connections, p99 462 µs; 3 of 8 connections got no answer in the whole window",
			" next Look at the server's limits (workers, connections) and at its log; then repeat the run with as many connections as were answered: give -c 5 generator",
			"generator ok: the generator was not the limit, but this was not all of the load"}, []string{"SUSPECT", "- 3 of 8"}},
		"gone": {gone(), []string{"verdict SERVER GONE from 3.47 s into the window on (127.0.0.1:80 refused connections); 20,000 requests/s were offered",
			" next Read in the server's log why it stopped, then repeat the run generator",
			"generator CLIENT-BOUND: the generator was held up; the server may be faster than these numbers; busy 48.9 %, 1 % sent more than 20.0 µs late - the generator sent 1 % of the requests more than 11 ms late: the latency (mean 900 µs) contains this delay; give the generator "},
			[]string{"for 2.53 s"}},
		"silent": {silent, []string{"verdict SERVER SILENT from 1.94 s into the window on (all 8 connections were still waiting for an answer when the run ended); 332,014 requests/s"}, []string{"SUSPECT"}},
		"cut": {cut, []string{"all 8 connections were still waiting for an answer when the run ended; the longest wait of a single connection was from 1.94 s into the window on",
			" next Look at the server's limits"}, []string{"SILENT", "why it stopped"}},
		"failing": {reporttest.Failing(), []string{"verdict FAILING: 22 % of the requests next Repeat it with --save-errors errors: " +
			"failed requests and their answers are kept in the folder errors generator"}, nil},
		"stalled": {waited(), []string{"next Repeat it with twice the connections: if fewer requests wait, there were too few connections; " +
			"if not, the server stalls or is too slow for this rate"}, nil},
		"stalled, all users busy": {fewUsers(), []string{"next Repeat it with twice the users: "}, nil},
		"good":                    {reporttest.Closed(), nil, []string{" next "}},
	} {
		var b bytes.Buffer
		if err := Text(&b, c.r, format.Style{Width: 400}); err != nil {
			t.Fatal(err)
		}
		flat := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range c.has {
			if !strings.Contains(flat, want) {
				t.Errorf("%s: it does not have %q:\n%s", name, want, b.String())
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(flat, not) {
				t.Errorf("%s: it has %q:\n%s", name, not, b.String())
			}
		}
	}
}

// The dashboard's form for the next run has as many connections as were answered.
func TestNextLoadOfAStarvingServer(t *testing.T) {
	if p, ok := NextLoad(starving()); !ok || p.Connections != 5 {
		t.Errorf("%d connections, %v", p.Connections, ok)
	}
}

// An objective that its note alone misses says the note first, and no line says that one is left.
func TestObjectiveMissedForItsNote(t *testing.T) {
	r := judged()
	r.Objectives[2] = result.Outcome{Expr: "errors<1%", Value: new(0.18), Unit: "percent", Note: "the server went away"}
	if got := objectiveText(r.Objectives[2]); got != "errors<1%: MISSED: the server went away; without that it is 0.18 %" {
		t.Error(got)
	}
	if got := MissedObjectives(r.Objectives); !strings.Contains(got, "errors<1% (the server went away; without that it is 0.18 %)") {
		t.Error(got)
	}
	if all := objectiveRows(r, format.Style{}); len(all) != 4 || strings.Contains(all[3].Text, "more") {
		t.Errorf("of four: %+v", all)
	}
	r.Objectives = append(r.Objectives, r.Objectives[0])
	if all := objectiveRows(r, format.Style{}); len(all) != 4 || all[3].Text != "2 objectives more with -v" {
		t.Errorf("of five: %+v", all)
	}
}
