package labanswer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/answer"
	"dyno/internal/view/reporttest"
)

// runs are results of about a rate, in turns with those that begin at another minute.
func runs(minute, n int, rate float64) (all []*result.Result) {
	for i := range n {
		r := reporttest.Closed()
		r.ID = ""
		r.Window.Started = r.Window.Started.Add(time.Duration(minute+2*i) * time.Minute)
		r.Rate.Completed = rate * (1 + float64(i%3)/1000)
		r.Latency = reporttest.Spread(3_000_000, 1e8/r.Rate.Completed)
		all = append(all, r)
	}
	return all
}

// A comparison of stored results has a sentence, a box that is the worst caution, and a next step;
// single runs decide nothing, however far they are apart.
func TestComparisons(t *testing.T) {
	bound := runs(1, 6, 100_000)
	for _, r := range bound {
		r.Generator.Verdict, r.Generator.BusyPercent = result.ClientBound, 99
		r.Generator.Reasons = []string{"it was busy"}
	}
	failing := func(n int) []*result.Result {
		all := runs(1, n, 400_000)
		for _, r := range all {
			r.Requests.Errors = r.Requests.Sent / 2
		}
		return all
	}
	const failed = "50 % of the requests of new (B) FAILED, which no rate or latency counts; "
	vary := func(minute int, rate float64) []*result.Result { // too much for a verdict
		all := runs(minute, 6, rate)
		for i, r := range all {
			r.Rate.Completed *= 1 + float64(i)/20
			r.Latency = reporttest.Spread(3_000_000, 1e8/r.Rate.Completed)
		}
		return all
	}
	for name, c := range map[string]struct {
		a, b           []*result.Result
		differing      []string
		sentence, next string
		box            answer.Severity
		has            string
	}{
		"slower": {runs(0, 6, 200_000), runs(1, 6, 180_000), nil, "new (B) answers fewer requests/s than base (A): −10.0 % [−10.2, −9.8]",
			"nothing more is needed", answer.Clear, ""},
		"alike": {runs(0, 6, 200_000), runs(1, 6, 200_100), nil, "new (B) is like base (A) in throughput: the difference is below 2 %",
			"nothing more is needed", answer.Clear, ""},
		"one after the other": {runs(0, 6, 200_000), runs(100, 6, 180_000), nil, "new (B) answers fewer requests/s than base (A): −10.0 %",
			"in turns", answer.Doubt, answer.Conditions},
		"undecided, one after the other": {vary(0, 200_000), vary(100, 180_000), nil, "do not show whether new (B) differs",
			"measure them in turns, as an experiment does", answer.Doubt, answer.Conditions},
		"undecided": {vary(0, 200_000), vary(1, 180_000), nil, "do not show whether new (B) differs",
			"if this estimate holds; or repeat them in turns as an experiment does", answer.Note, ""},
		"other loads": {runs(0, 6, 200_000), runs(1, 6, 180_000), []string{"connections", "host.cpus"}, "new (B) answers fewer requests/s than base (A): −10.0 %",
			"nothing more is needed", answer.Doubt, answer.Conditions},
		"few": {runs(0, 2, 200_000), runs(1, 2, 180_000), nil, "These runs do not show whether new (B) differs from base (A) in throughput: " +
			"−10 %, too few runs for an interval", "a verdict takes 6 runs of each, in turns: 4 more runs of A and 4 more runs of B", answer.Doubt, answer.FewRounds},
		"single": {runs(0, 1, 200_000), runs(1, 1, 100_000), nil, "new (B) was worse than base (A) in throughput (−50 %), p50 latency (+100 %) and p99 latency (+100 %); " +
			"one run each does not show whether that is more than chance", "in turns", answer.Doubt, answer.OneRun},
		"failing":         {runs(0, 6, 200_000), failing(6), nil, failed + "new (B) answers ", "", answer.Bad, answer.Failing},
		"failing, single": {runs(0, 1, 200_000), failing(1), nil, failed + "new (B) was better than base (A) in", "in turns", answer.Bad, answer.Failing},
		"at the limit": {runs(0, 6, 200_000), bound, nil, "The servers cannot be told apart in throughput, p50 latency and p99 latency: " +
			"the generator was the limit", "more runs will not help", answer.Doubt, answer.AtLimit},
	} {
		u, err := judge.CompareGroups([]judge.Group{judge.GroupResults("base", c.a), judge.GroupResults("new", c.b)}, nil, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		a := OfComparison(u, c.differing)
		if !strings.Contains(a.Sentence, c.sentence) {
			t.Errorf("%s: %q", name, a.Sentence)
		}
		if !strings.Contains(a.Next.Says, c.next) {
			t.Errorf("%s: next is %q", name, a.Next.Says)
		}
		if a.Box != c.box || c.has != "" && !a.Has(c.has) {
			t.Errorf("%s: the box is %s: %+v", name, a.Box, a.Cautions)
		}
		said := map[string]bool{}
		for _, one := range a.Cautions {
			if said[one.Says] {
				t.Errorf("%s: %q is said twice", name, one.Says)
			}
			said[one.Says] = true
		}
		for _, g := range a.Groups {
			for _, f := range g.Findings {
				if name == "single" && f.Verdict != answer.Undecided || name == "at the limit" && f.Verdict != answer.NotValid {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
	}
}

// onServer are results of a server at a port, with what else of the plan a test sets.
func onServer(port uint16, rs []*result.Result, set func(*loadplan.Plan)) judge.Group {
	for _, r := range rs {
		r.Plan.Target.URL = fmt.Sprintf("http://127.0.0.1:%d/a?b=c", port)
		r.Plan.Target.Host, r.Plan.Target.Port = "127.0.0.1", port
		set(&r.Plan)
	}
	return judge.GroupResults(fmt.Sprint(port), rs)
}

// Servers have their names where they differ, and dyno vs repeats what differs in nothing else.
func TestComparedServers(t *testing.T) {
	same := func(*loadplan.Plan) {}
	withFlags := func(p *loadplan.Plan) { p.Users, p.Follow, p.Resend = 90, 3, loadplan.ResendUnsafe }
	for name, c := range map[string]struct {
		ports      [2]uint16
		set        func(*loadplan.Plan) // of the second
		n          int
		rates      [2]float64
		says, next string
	}{
		"single": {[2]uint16{8080, 8081}, same, 1, [2]float64{100_000, 200_000}, "127.0.0.1:8081 (B) was better than 127.0.0.1:8080 (A) in " +
			"throughput (+100 %), p50 latency (−50 %) and p99 latency (−50 %)", "dyno vs 'http://127.0.0.1:8080/a?b=c' 'http://127.0.0.1:8081/a?b=c'"},
		"few": {[2]uint16{8080, 8081}, same, 2, [2]float64{200_000, 100_000}, "whether 127.0.0.1:8081 (B) differs from 127.0.0.1:8080 (A)",
			"dyno vs 'http://127.0.0.1:8080/a?b=c' 'http://127.0.0.1:8081/a?b=c'"},
		"enough":     {[2]uint16{8080, 8081}, same, 6, [2]float64{200_000, 100_000}, "127.0.0.1:8081 (B) answers fewer requests/s than 127.0.0.1:8080 (A): −50.0 %", ""},
		"one server": {[2]uint16{8080, 8080}, same, 1, [2]float64{200_000, 100_000}, "other (B) was worse than 8080 (A) in ", "dyno lab init"},
		"other load": {[2]uint16{8080, 8081}, func(p *loadplan.Plan) { p.Connections++ }, 1, [2]float64{200_000, 100_000}, "(B) was worse than", "dyno lab init"},
		"flags of vs": {[2]uint16{8080, 8081}, withFlags, 1, [2]float64{200_000, 100_000}, "(B) was worse than",
			"dyno vs 'http://127.0.0.1:8080/a?b=c' 'http://127.0.0.1:8081/a?b=c' -c 100 -t 2 --retry-unsafe --users 90 --follow 3"},
		"no flag of vs": {[2]uint16{8080, 8081}, func(p *loadplan.Plan) { p.ConnectRate = 5 }, 1, [2]float64{200_000, 100_000}, "(B) was worse than", "dyno lab init"},
	} {
		a, b := onServer(c.ports[0], runs(0, c.n, c.rates[0]), same), onServer(c.ports[1], runs(1, c.n, c.rates[1]), c.set)
		switch name {
		case "flags of vs":
			a = onServer(c.ports[0], a.Results(), c.set)
		case "one server":
			b.Name, b.Samples[0].Name = "other", "other"
		}
		u, err := judge.CompareGroups([]judge.Group{a, b}, nil, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		got := OfComparison(u, nil)
		if !strings.Contains(got.Sentence, c.says) || !strings.HasPrefix(got.Next.Command, c.next) {
			t.Errorf("%s: %q, next %q", name, got.Sentence, got.Next.Command)
		}
	}
}

// armOf is an arm of an experiment that was run for n rounds: a with about 1,000 requests/s, b with
// that share of them.
func armOf(t *testing.T, dir, arm string, n int, share func(round int) float64) judge.Group {
	t.Helper()
	s := lab.Folder{Dir: dir}
	r := lab.Record{Format: lab.ExperimentFormat, Progress: lab.Progress{Name: "x", State: lab.Complete},
		Preparation: lab.Preparation{Arms: []lab.Arm{{Name: "a"}, {Name: "b", Baseline: "a"}}}}
	for i := range n {
		for k, name := range []string{"a", "b"} {
			one := &lab.Trial{Format: lab.TrialFormat, Attempt: 1, Grade: lab.GradeA,
				Slot: lab.Slot{Round: i + 1, Position: 2*i + k + 1, Arm: name, Level: "c"}, Result: runs(2*i+k, 1, 1000)[0]}
			if name == "b" {
				one.Result.Rate.Completed *= share(i)
			}
			one.Started = one.Result.Window.Started
			if one.ID = one.FileID(1); arm == "a" {
				if err := s.StoreTrial(one); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := s.WriteJSON(lab.RecordFile, r); err != nil {
		t.Fatal(err)
	}
	g, err := judge.ReadGroup(dir+":"+arm, dir, arm)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Arms of one experiment lack rounds, not runs, and the next step adds them to that experiment.
func TestComparedArms(t *testing.T) {
	for name, c := range map[string]struct {
		rounds         int
		share          func(round int) float64
		sentence       string
		says, more     string
		lacking, scope string
	}{
		"few": {4, func(int) float64 { return 0.9 }, "These trials do not show whether b (B) differs from a (A) in throughput: −10 %, too few rounds for an interval",
			"2 rounds more, which is the least for a verdict", " --rounds +2", "Too few rounds for a verdict", "4 rounds of b (B)"},
		"slower": {8, func(i int) float64 { return 0.9 + float64(i%3)/1000 }, "b (B) answers fewer requests/s than a (A): −9.9 %", "see all tables of the experiment", "", "", ""},
		"open": {8, func(i int) float64 { return 1 + float64(i%4-1)/40 }, "These trials do not show whether b (B) differs from a (A) in throughput",
			"rounds more would decide throughput", " --rounds +", "", ""},
	} {
		s, err := lab.CreateFolder(t.TempDir() + "/of")
		if err != nil {
			t.Fatal(err)
		}
		u, err := judge.CompareGroups([]judge.Group{armOf(t, s.Dir, "a", c.rounds, c.share), armOf(t, s.Dir, "b", c.rounds, c.share)},
			lab.Measures[:1], 0.02)
		if err != nil {
			t.Fatal(err)
		}
		a := OfComparison(u, nil)
		if !strings.HasPrefix(a.Sentence, c.sentence) || !strings.Contains(a.Next.Says, c.says) ||
			!strings.Contains(a.Next.Command, s.Dir+c.more) || strings.Contains(a.Next.Says, "run") {
			t.Errorf("%s: %q, next %q %q", name, a.Sentence, a.Next.Says, a.Next.Command)
		}
		for _, caution := range a.Cautions {
			if caution.Kind == answer.FewRounds && (caution.Says != c.lacking || caution.Scope != c.scope) {
				t.Errorf("%s: %+v", name, caution)
			}
		}
		if a.Has(answer.FewRounds) != (c.lacking != "") {
			t.Errorf("%s: %+v", name, a.Cautions)
		}
	}
}

// Throughput that an open load fixed is no finding: the sentence is about what the load did not fix.
func TestFixedThroughputIsNoHeadline(t *testing.T) {
	for _, n := range []int{1, 3, 6} {
		of := func(first int, latency float64) []*result.Result {
			all := runs(first, n, 200_000)
			for i, r := range all {
				r.Model, r.Rate.Completed = result.OpenLoop, 500
				r.Latency = reporttest.Spread(3_000_000, latency*(1+float64(i%3)/1000))
			}
			return all
		}
		u, err := judge.CompareGroups([]judge.Group{judge.GroupResults("base", of(0, 100)),
			judge.GroupResults("new", of(1, 200))}, nil, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		if a := OfComparison(u, nil); strings.Contains(a.Sentence, "throughput") || !strings.Contains(a.Sentence, "p50 latency") ||
			!strings.Contains(a.Sentence, "new (B)") {
			t.Errorf("%d runs: %s", n, a.Sentence)
		}
	}
}
