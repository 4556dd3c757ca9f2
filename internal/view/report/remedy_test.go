package report

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/view/answer"
	"dyno/internal/view/reporttest"
)

// A reason of a fact is said with what can be done about it; one that an older dyno stored is said as it is.
func TestReasonsWithRemedies(t *testing.T) {
	r := reporttest.Closed()
	r.Generator.Reasons = nil
	reporttest.AddDoubt(r, result.Files, result.Resource, fact.Fact{Severity: fact.Warning, Args: fact.NoFile{Times: 4},
		Remedies: []fact.Remedy{{Setting: "connections", Value: fact.Lower}}})
	reporttest.AddDoubt(r, result.Busy, result.Limit, fact.Fact{Severity: fact.Error, Args: fact.Busy{Percent: 98, AllCPUs: true}})
	want := []string{"the generator was busy 98 % of the time: it was at its limit, and the server may do more; give the generator more CPUs, or use another machine",
		"no file descriptor was left for a connection, 4 times; raise the limit (ulimit -n), or lower -c"}
	if got := Reasons(r); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	r.Facts = r.Facts[:1]
	if got := Reasons(r); len(got) != 2 || strings.Contains(got[0]+got[1], "; ") {
		t.Errorf("of an older dyno: %q", got)
	}
}

// A replay has no -R, no --warmup and no longer -d: what is advised names what it has.
func TestNextStepOfAReplay(t *testing.T) {
	const speed = "lower the speed of the replay (dyno from access-log --replay)"
	for _, test := range []struct {
		cause result.Cause
		kind  result.Kind
		args  fact.Args
		next  string
	}{
		{result.NeverSent, result.OtherLoad, fact.NeverSent{Percent: 10}, speed + ", or raise -c"},
		{result.TooShort, result.Short, fact.TooShort{Answers: 5}, "measure for longer: replay more of the log"},
	} {
		r := reporttest.Late()
		r.Generator.Reasons, r.Plan.Replay, r.Plan.Rate = nil, loadplan.Seconds(10e9), 0
		reporttest.AddDoubt(r, test.cause, test.kind, fact.Fact{Severity: fact.Warning, Args: test.args})
		if test.kind == result.Short {
			r.Generator.Verdict = result.OK
		}
		next, _ := nextStep(r, RunAnswer(r), r.Voice())
		if next.Says != test.next {
			t.Errorf("%s of a replay: the next step is %q", test.cause, next.Says)
		}
	}
	r := reporttest.Late()
	r.Generator.Verdict, r.Generator.Reasons = result.OK, nil
	r.Plan.Replay, r.Plan.Rate = loadplan.Seconds(10e9), 0
	r.Objectives = []result.Outcome{{Expr: "p99<1us"}}
	next, _ := nextStep(r, RunAnswer(r), r.Voice())
	if next.Says != speed+" until the objective is met" || next.Command != "" {
		t.Errorf("after a missed objective: %q", next.Says) // dyno find refuses times
	}
}

// What was not sent in time is said once: as a warning, unless the generator's self-check doubts it.
func TestBacklogIsSaidOnce(t *testing.T) {
	r := reporttest.Late()
	r.Generator.Reasons = nil
	reporttest.AddWarning(r, fact.NotInTime{Never: 500, Shortage: fact.Shortage{Of: fact.OfConnections, Connections: 10}})
	for _, want := range []int{1, 0} {
		n := 0
		for _, c := range RunAnswer(r).Cautions {
			if c.Kind == answer.Warning {
				n++
			}
		}
		if n != want {
			t.Errorf("%d warnings, want %d", n, want)
		}
		reporttest.AddDoubt(r, result.NeverSent, result.OtherLoad, fact.Fact{Severity: fact.Warning, Args: fact.NeverSent{Percent: 10}})
	}
}

// A quieter machine does not mend the generator's own pauses: if they are all that is doubted, a
// second run shows whether they made the highest latencies.
func TestNextAfterPauses(t *testing.T) {
	r := reporttest.Closed()
	r.Generator.Verdict, r.Generator.Reasons, r.Generator.Doubts = result.Suspect, nil, nil
	reporttest.AddDoubt(r, result.Pauses, result.HeldUp, fact.Fact{Severity: fact.Warning, Args: fact.GCPause{LongestUS: 3240}})
	next, _ := nextStep(r, RunAnswer(r), r.Voice())
	if next.Says != "repeat it: if the generator is ok then, the highest latencies are not its own" || next.Command == "" {
		t.Errorf("%+v", next)
	}
	reporttest.AddDoubt(r, result.Unscheduled, result.HeldUp, fact.Fact{Severity: fact.Warning, Args: fact.Unscheduled{Percent: 6}})
	if next, _ = nextStep(r, RunAnswer(r), r.Voice()); next.Says != "repeat it when nothing else is at work on this machine" &&
		!strings.HasPrefix(next.Says, "repeat it: free") {
		t.Errorf("%+v", next)
	}
}

// Why the load ended comes first, for of more than two reasons only -v says the others. Reasons about
// the generator come before those about the load, and of each the worse ones.
func TestOrderOfReasons(t *testing.T) {
	r := reporttest.Closed()
	r.Generator.Reasons = []string{"fewer served", "late", "ended", "busy"}
	r.Generator.Doubts = []result.Doubt{{Cause: result.Unserved, Verdict: result.ClientBound}, {Cause: result.SendLag, Verdict: result.Suspect},
		{Cause: result.Ended, Verdict: result.Suspect}, {Cause: result.Busy, Verdict: result.ClientBound}}
	if got := reasonOrder(r); !slices.Equal(got, []int{2, 3, 1, 0}) {
		t.Error(got)
	}
}
