package report

import (
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
	"dyno/internal/view/reporttest"
)

// That there was no server is nothing that other flags would mend.
func TestNoRemedyWithoutAServer(t *testing.T) {
	for _, cause := range []result.Cause{result.NoServer, result.Outage, result.Unserved} {
		r := new(result.Result)
		r.Generator.Reasons = []string{"why"}
		r.Generator.Doubts = []result.Doubt{{Cause: cause, Kind: result.OtherLoad, Verdict: result.Suspect}}
		said := Reasons(r)[0]
		if advised := strings.Contains(said, "-c"); advised != (cause == result.Unserved) {
			t.Errorf("%s: %q", cause, said)
		}
	}
	r := new(result.Result)
	r.Generator.Reasons = []string{"why"}
	r.Generator.Doubts = []result.Doubt{{Cause: result.NeverSent, Kind: result.OtherLoad, Verdict: result.Suspect}}
	if said := Reasons(r)[0]; !strings.Contains(said, "-c") {
		t.Errorf("an open loop with too few connections: %q", said)
	}
	r.Window.OutageS, r.Window.MeasuredS, r.Requests.Sent, r.Requests.Waiting = 2, 4, 500, new(int64(500))
	if said := Reasons(r)[0]; said != "why" {
		t.Errorf("an open loop whose server was gone: %q", said)
	}
	r.Window.OutageS = 0.1
	if said := Reasons(r)[0]; !strings.Contains(said, "-c") {
		t.Errorf("an open loop whose server was gone for a moment: %q", said)
	}
}

// A remedy does not tell to give what was given: it says which way to change it.
func TestRemediesKnowWhatWasGiven(t *testing.T) {
	for _, c := range []struct {
		cause       result.Cause
		given       func(*loadplan.Plan)
		none, after string
	}{
		{result.Unserved, func(p *loadplan.Plan) { p.Warmup = loadplan.Seconds(1e9) },
			"see the errors, give --warmup or a longer -d, or lower -c",
			"see the errors, give a longer --warmup or a longer -d, or lower -c"},
		{result.Unserved, func(p *loadplan.Plan) { p.Requested = 100 },
			"see the errors, give --warmup or a longer -d, or lower -c",
			"see the errors, give --warmup or a larger -n, or lower -c"},
		{result.Unserved, func(p *loadplan.Plan) { p.Replay = loadplan.Seconds(1e9) },
			"see the errors, give --warmup or a longer -d, or lower -c", "see the errors, or lower -c"},
		{result.Little, func(p *loadplan.Plan) { p.Warmup = loadplan.Seconds(1e9) }, "give --warmup", "give a longer --warmup"},
		{result.Little, func(p *loadplan.Plan) { p.Requested = 100 }, "give --warmup", "give --warmup, or -d in place of -n"},
		{result.Dropped, func(p *loadplan.Plan) { p.ConnectRate = loadplan.RatePerSecond(9) },
			"raise its backlog and net.core.somaxconn, or give --connect-rate",
			"raise its backlog and net.core.somaxconn, or lower --connect-rate"},
		{result.Unscheduled, func(p *loadplan.Plan) { p.CPUs = []int{1} },
			"free its CPUs of other work, or give it CPUs of its own (--cpus)",
			"free its CPUs of other work, or give it others (--cpus)"},
	} {
		r := new(result.Result)
		r.Generator.Reasons = []string{"why"}
		r.Generator.Doubts = []result.Doubt{{Cause: c.cause, Kind: result.OtherLoad, Verdict: result.Suspect}}
		if got := Reasons(r)[0]; got != "why; "+c.none {
			t.Errorf("%s: %s", c.cause, got)
		}
		c.given(&r.Plan)
		if got := Reasons(r)[0]; got != "why; "+c.after {
			t.Errorf("%s, given: %s", c.cause, got)
		}
	}
}

// A replay has no -R, no --warmup and no longer -d: what is advised names what it has.
func TestRemediesOfAReplay(t *testing.T) {
	const speed = "lower the speed of the replay (dyno from access-log --replay)"
	for _, test := range []struct {
		cause           result.Cause
		kind            result.Kind
		rate, of, again string // remedies of -R and of a replay; the next step after the latter
	}{
		{result.NeverSent, result.OtherLoad, "raise -c, or lower -R", "raise -c, or " + speed, speed + ", or give more connections (-c)"},
		{result.SendLag, result.Limit, "give it CPUs of its own, or lower -R", "give it CPUs of its own, or " + speed, ""},
		{result.Spacing, result.HeldUp, "give the generator CPUs of its own, or lower -R",
			"give the generator CPUs of its own, or " + speed, ""},
		{result.TooShort, result.Short, "give a longer -d or a larger -n", "replay more of the log",
			"measure for longer: replay more of the log"},
	} {
		r := reporttest.Late()
		r.Generator.Reasons = []string{"why"}
		r.Generator.Doubts = []result.Doubt{{Cause: test.cause, Kind: test.kind, Verdict: result.Suspect}}
		if test.kind == result.Short {
			r.Generator.Verdict = result.OK
		}
		if got := Reasons(r)[0]; got != "why; "+test.rate {
			t.Errorf("%s: %s", test.cause, got)
		}
		r.Plan.Replay, r.Plan.Rate = loadplan.Seconds(10e9), 0
		if got := Reasons(r)[0]; got != "why; "+test.of {
			t.Errorf("%s of a replay: %s", test.cause, got)
		}
		next, _ := nextStep(r, RunAnswer(r))
		if test.again != "" && next.Says != test.again {
			t.Errorf("%s of a replay: the next step is %q", test.cause, next.Says)
		}
	}
	r := reporttest.Late()
	r.Generator.Verdict, r.Generator.Reasons = result.OK, nil
	r.Plan.Replay, r.Plan.Rate = loadplan.Seconds(10e9), 0
	r.Objectives = []result.Outcome{{Expr: "p99<1us"}}
	next, _ := nextStep(r, RunAnswer(r))
	if next.Says != speed+" until the objective is met" || next.Command != "" {
		t.Errorf("after a missed objective: %q", next.Says) // dyno find refuses times
	}
}
