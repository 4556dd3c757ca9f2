package grade

import (
	"math"
	"strings"
	"syscall"
	"testing"

	"dyno/internal/lab"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// soundTrial is one that nothing speaks against.
func soundTrial() *lab.Trial {
	offered := 1000.0
	return &lab.Trial{
		Warmup: &lab.Warmup{TookS: 3, Steady: lab.Yes},
		Result: &result.Result{
			Requests:  result.Requests{Sent: 1000, Completed: 1000},
			Rate:      result.Rate{Sent: 1000, Completed: 1000, Offered: &offered},
			Latency:   &result.Distribution{Count: 1000, P50: 100, P99: 300, P999: 900},
			Generator: result.Generator{Verdict: result.OK},
			Host:      result.Host{CPUs: 2},
			Observed: result.Observed{Server: &result.Server{Processes: []result.Usage{{}},
				Host: probe.HostUse{CPUs: 2, WallS: 1, Busy: 1e9, Steal: 0.2, Foreign: 20e6}}},
		},
		Steadiness: stats.Flat,
	}
}

// setAnswers has so many answers of 100 bytes in its window of a second, so many bytes, and so many
// answers after it.
func setAnswers(t *lab.Trial, answers, received, after int64) {
	t.Wire = 100
	t.Result.Window.MeasuredS = 1
	t.Result.Requests = result.Requests{Sent: answers + after, Completed: answers + after}
	t.Result.Bytes.Received = received // of the window, as in each result
	t.Result.Series = []result.Point{{T: 0.5, Completed: answers / 2, Received: received / 2},
		{T: 1, Completed: answers / 2, Received: received / 2}, {T: 1.4, Completed: after}}
}

// setArrivals has so many requests that were due in its window of a second, so many that were
// ever sent, and so many of these that were sent after it.
func setArrivals(t *lab.Trial, due, sent, after int64) {
	waiting := due - sent
	t.Result.Window.MeasuredS = 1
	t.Result.Requests = result.Requests{Sent: sent, Completed: sent, Waiting: &waiting, SentAfter: &after}
	t.Result.Rate.Sent = float64(sent - after)
}

// setConnections has so many connections of which so many were opened and served, and so many
// requests.
func setConnections(t *lab.Trial, model string, asked, opened, served int, requests int64) {
	t.Result.Model = model
	t.Result.Connections = result.Connections{Asked: asked, Opened: int64(opened), Served: served}
	t.Result.Requests = result.Requests{Sent: requests, Completed: requests}
}

func TestGrade(t *testing.T) {
	if g, reasons := Of(soundTrial()); g != lab.GradeA || reasons != nil {
		t.Fatalf("a sound trial is of grade %s: %v", g, reasons)
	}
	for _, c := range []struct {
		Name  string
		Spoil func(*lab.Trial)
		Grade lab.Grade
		Says  string
		Again bool
	}{
		{"some steal", func(t *lab.Trial) { t.Result.Server.Host.Steal = 3 }, lab.GradeB, "hypervisor took 3 % of the CPUs' time", false},
		{"much steal", func(t *lab.Trial) { t.Result.Server.Host.Steal = 6 }, lab.GradeF, "hypervisor took 6 % of the CPUs' time", true},
		{"steal that nobody counts", func(t *lab.Trial) { t.Result.Server.Host.Steal = probe.Value(math.NaN()) }, lab.GradeA,
			"", false},
		{"others", func(t *lab.Trial) { t.Result.Server.Host.Foreign = 0.2e9 }, lab.GradeB, "other programs used at least 10 % of the machine's CPUs", false},
		{"many others", func(t *lab.Trial) { t.Result.Server.Host.Foreign = 1e9 }, lab.GradeF, "other programs used at least 50 % of the machine's CPUs", true},
		{"interrupts, not others", func(t *lab.Trial) { t.Result.Server.Host.Foreign, t.Result.Server.Host.SoftIRQ = 0.2e9, 9 }, lab.GradeA,
			"", false},
		{"client-bound", func(t *lab.Trial) {
			t.Result.Generator = result.Generator{Verdict: result.ClientBound, Reasons: []string{"busy"}}
		}, lab.GradeB, "generator: busy", false},
		{"a window too short", func(t *lab.Trial) {
			t.Arm = "go"
			t.Result.Generator = result.Generator{Verdict: result.OK, Reasons: []string{"too short to judge"},
				Doubts: []result.Doubt{{Cause: result.TooShort, Kind: result.Short, Verdict: result.OK}}}
			t.Result.Facts = []fact.Fact{{Severity: fact.Note, Args: fact.TooShort{Answers: 5},
				Remedies: []fact.Remedy{{Setting: "duration", Value: fact.Higher}}}}
		}, lab.GradeB, "too short to judge; measure for longer (design: {measure: ...})", false},
		{"errors", func(t *lab.Trial) { t.Result.Requests.Errors = 1 }, lab.GradeF, "1 of 1,000 requests failed",
			false},
		{"errors and steal", func(t *lab.Trial) { t.Result.Requests.Errors, t.Result.Server.Host.Steal = 1, 9 }, lab.GradeF,
			"failed", false},
		{"behind", func(t *lab.Trial) { setArrivals(t, 1000, 980, 0) }, lab.GradeF, "2.0 % of the requests due were not",
			false},
		{"hardly behind", func(t *lab.Trial) { setArrivals(t, 1000, 992, 0) }, lab.GradeA, "", false},
		{"sent after the window", func(t *lab.Trial) { setArrivals(t, 1000, 1000, 30) }, lab.GradeF,
			"3.0 % of the requests due were not", false},
		{"behind, and the server was gone", func(t *lab.Trial) {
			setArrivals(t, 1000, 500, 0)
			t.Result.Window.OutageS = t.Result.Window.MeasuredS / 2
		}, lab.GradeF, "50.0 % of the requests due were not sent in time, because for", false},
		{"nearly all sent", func(t *lab.Trial) { setArrivals(t, 1000, 990, 0) }, lab.GradeA, "", false},
		{"not quite nearly all", func(t *lab.Trial) { setArrivals(t, 1000, 989, 0) }, lab.GradeF,
			"1.1 % of the requests due were not sent in time", false},
		{"behind by its own fault", func(t *lab.Trial) {
			setArrivals(t, 1000, 980, 0)
			lag, worst := 60e3, 61e3
			t.Result.Generator.SendLagMax, t.Result.Requests.LateMax = &lag, &worst
		}, lab.GradeF, "2.0 % of the requests due were not sent in time, because the generator was late", false},
		{"fewer drawn than offered, and all sent", func(t *lab.Trial) { setArrivals(t, 962, 962, 0) }, lab.GradeA, "",
			false},
		{"more drawn than offered, and some not sent", func(t *lab.Trial) { setArrivals(t, 1030, 1010, 0) }, lab.GradeF,
			"1.9 % of the requests due were not", false},
		{"another answer", func(t *lab.Trial) {
			t.Changed = []fairness.Difference{{Aspect: "status", Before: "200", After: "503"}}
		}, lab.GradeF, "status was 200 and is 503", false},
		{"unsteady", func(t *lab.Trial) { t.Warmup.Steady, t.Warmup.CoV = lab.No, 0.2 }, lab.GradeB,
			"not steady after 3.0 s", false},
		{"nobody could tell", func(t *lab.Trial) { t.Warmup.Steady = lab.Unknown }, lab.GradeA, "", false},
		{"larger answers", func(t *lab.Trial) { setAnswers(t, 1000, 102_000, 0) }, lab.GradeF,
			"102 bytes were received for each request, but 100 when", false},
		{"smaller answers", func(t *lab.Trial) { setAnswers(t, 1000, 98_000, 0) }, lab.GradeF,
			"98 bytes were received for each request, but 100 when", false},
		{"too few answers for a mean size", func(t *lab.Trial) { setAnswers(t, 998, 102_000, 0) }, lab.GradeA, "", false},
		{"answers behind redirects", func(t *lab.Trial) {
			setAnswers(t, 1000, 302_000, 0)
			t.Result.Plan.Follow = 5
		}, lab.GradeA, "", false},
		{"as large as before", func(t *lab.Trial) { setAnswers(t, 1000, 100_500, 0) }, lab.GradeA, "", false},
		{"answers of which a part came before the window", func(t *lab.Trial) {
			setAnswers(t, 1000, 92_000, 0)
			t.Result.Plan.Connections, t.Result.Requests.WarmupInWindow = 100, 10
		}, lab.GradeA, "", false},
		{"larger answers to requests that waited", func(t *lab.Trial) {
			setAnswers(t, 1000, 122_000, 0)
			t.Result.Requests.WarmupInWindow = 180
		}, lab.GradeF, "103 bytes were received for each request, but 100 when", false},
		{"answers to requests that waited since the warm-up", func(t *lab.Trial) {
			setAnswers(t, 1000, 118_000, 0)
			t.Result.Requests.Warmup, t.Result.Requests.WarmupInWindow = 300, 180
		}, lab.GradeA, "", false},
		{"answers after the window", func(t *lab.Trial) { setAnswers(t, 1000, 100_000, 900) }, lab.GradeA, "", false},
		{"larger answers, and some after the window", func(t *lab.Trial) { setAnswers(t, 1000, 102_000, 900) }, lab.GradeF,
			"102 bytes were received for each request, but 100 when", false},
		{"answers of which only a part is in the window", func(t *lab.Trial) {
			setAnswers(t, 1000, 101_900, 5)
			t.Result.Plan.Connections, t.Result.Plan.Pipeline = 1, 5
		}, lab.GradeA, "", false},
		{"full queue", func(t *lab.Trial) { t.Result.Server.Host.ListenOverflow = 3 }, lab.GradeB, "3 connections were dropped",
			false},
		{"nobody's server", func(t *lab.Trial) {
			t.Result.Server.Processes, t.Result.Server.Host.Foreign = nil, 1.9e9
		}, lab.GradeA, "", false},
		{"no server for half of it", func(t *lab.Trial) {
			t.Result.Window.MeasuredS, t.Result.Window.UnavailableS = 10, 5
		}, lab.GradeF, "50 % of the load could not be applied", false},
		{"no server for a moment", func(t *lab.Trial) {
			t.Result.Window.MeasuredS, t.Result.Window.UnavailableS = 10, 0.05
		}, lab.GradeB, "0.5 % of the load could not be applied", false},
		{"no server for nearly nothing", func(t *lab.Trial) {
			t.Result.Window.MeasuredS, t.Result.Window.UnavailableS = 10, 0.01
		}, lab.GradeA, "", false},
		{"fewer connections", func(t *lab.Trial) { setConnections(t, result.ClosedLoop, 9, 9, 7, 1000) }, lab.GradeF,
			"2 of 9 connections never completed", false},
		{"fewer requests than connections", func(t *lab.Trial) { setConnections(t, result.ClosedLoop, 50, 50, 7, 7) },
			lab.GradeA, "", false},
		{"fewer requests, and still fewer connections", func(t *lab.Trial) {
			setConnections(t, result.ClosedLoop, 50, 50, 5, 7)
		}, lab.GradeF, "2 of 50 connections never completed", false},
		{"a low rate on many connections", func(t *lab.Trial) { setConnections(t, result.OpenLoop, 50, 50, 30, 30) },
			lab.GradeA, "", false},
		{"a rate of which chance left some out", func(t *lab.Trial) {
			setConnections(t, result.OpenLoop, 50, 50, 48, 70)
		}, lab.GradeA, "", false},
		{"connections that never were", func(t *lab.Trial) { setConnections(t, result.OpenLoop, 50, 47, 30, 30) },
			lab.GradeF, "3 of 50 connections could not be opened", false},
		{"still warming", func(t *lab.Trial) { t.Transient = &lab.Transient{CutS: 3, Change: 0.05, Errors: 9} }, lab.GradeB,
			"first 3 s of the trial's window were still warm-up (MSER-5): without them throughput would be 5.0 % higher",
			false},
		{"a cut that changes nothing", func(t *lab.Trial) { t.Transient = &lab.Transient{CutS: 3, Change: 0.005, Errors: 9} },
			lab.GradeA, "", false},
		{"throttled once", func(t *lab.Trial) {
			t.Result.Server.Host.Throttled, t.Result.Server.Host.Throttlings = 8e6, 1
		}, lab.GradeB, "quota of dyno's cgroup took 0.4 % of the CPUs' time, in 1 period", false},
		{"throttled much", func(t *lab.Trial) {
			t.Result.Server.Host.Throttled, t.Result.Server.Host.Throttlings = 0.2e9, 9
		}, lab.GradeF, "took 10 %", true},
		{"throttled on few of many CPUs", func(t *lab.Trial) {
			t.Result.Server.Host.CPUs = 64
			t.Result.Server.Host.Throttled, t.Result.Server.Host.Throttlings = 0.2e9, 9
		}, lab.GradeF, "took 10 %", true},
		{"throttling that nobody counts", func(t *lab.Trial) { t.Result.Server.Host.Throttled = probe.Value(math.NaN()) },
			lab.GradeA, "", false},
		{"short of memory", func(t *lab.Trial) { t.Result.Server.Host.PressureMemory = 2 }, lab.GradeB,
			"processes waited for memory 2 % of the time", false},
		{"very short of memory", func(t *lab.Trial) { t.Result.Server.Host.PressureMemory = 20 }, lab.GradeF,
			"processes waited for memory 20 % of the time", true},
		{"waiting for storage", func(t *lab.Trial) { t.Result.Server.Host.PressureIO = 97 }, lab.GradeA, "", false},
		{"waiting for CPUs", func(t *lab.Trial) { t.Result.Server.Host.PressureCPU = 99 }, lab.GradeA, "", false},
		{"hot", func(t *lab.Trial) { t.Result.Server.Host.TooHot = 2 }, lab.GradeB, "slowed down 2 times", false},
		{"slowing down", func(t *lab.Trial) { t.Steadiness = stats.Slowdown }, lab.GradeB, "slowdown", false},
		{"killed", func(t *lab.Trial) { t.Killed = []string{"app"} }, lab.GradeB, `the process "app" had to be killed`, false},
		{"failed", func(t *lab.Trial) { t.Failure = &lab.Failure{Phase: "start", Reason: "gone"}; t.Result = nil },
			lab.GradeF, "start: gone", false},
	} {
		trial := soundTrial()
		c.Spoil(trial)
		trial.Grade, trial.Reasons = Of(trial)
		says := ""
		for _, r := range trial.Reasons {
			says += r.Says + "\n"
		}
		if trial.Grade != c.Grade || !strings.Contains(says, c.Says) || trial.SpoiledByMachine() != c.Again {
			t.Errorf("%s: grade %s, again %v, %q", c.Name, trial.Grade, trial.SpoiledByMachine(), says)
		}
	}
}

// What can be done about a failure is said of the file: requests that were refused, and the generator's reasons.
func TestFailuresNameKeys(t *testing.T) {
	const want = "raise the limit of open files (ulimit -n), or lower the level's connections"
	trial := soundTrial()
	trial.Arm = "go"
	trial.Result.Errors = []result.Error{{Phase: string(loadresult.Check), Kind: loadresult.Refused, Count: 1,
		Detail: failure.Describe(syscall.EMFILE), Remedies: failure.Remedies(syscall.EMFILE)}}
	trial.Result.Generator = result.Generator{Verdict: result.Suspect, Reasons: []string{"nothing was measured"},
		Doubts: []result.Doubt{{Cause: result.Ended, Verdict: result.Suspect}}}
	trial.Result.Facts = []fact.Fact{{Severity: fact.Warning, Args: fact.Ended{}, Remedies: failure.Remedies(syscall.EMFILE)}}
	_, reasons := Of(trial)
	said := 0
	for _, why := range reasons {
		if strings.HasSuffix(why.Says, "; "+want) {
			said++
		}
	}
	if said != 2 {
		t.Errorf("%+v", reasons)
	}
}

// A reason of the generator's self-check is its fact, too, unless an older dyno measured.
func TestReasonsHaveFacts(t *testing.T) {
	trial := soundTrial()
	trial.Result.Generator = result.Generator{Verdict: result.Suspect, Reasons: []string{"busy"},
		Doubts: []result.Doubt{{Cause: result.Busy, Kind: result.Limit, Verdict: result.Suspect}}}
	for _, facts := range [][]fact.Fact{nil, {{Severity: fact.Warning, Args: fact.Busy{Percent: 85}}}} {
		trial.Result.Facts = facts
		_, all := Of(trial)
		if len(all) != 1 || (all[0].Fact != nil) != (facts != nil) || facts != nil && all[0].Fact.Args != facts[0].Args {
			t.Errorf("%+v", all)
		}
	}
}

// Percentiles need as many exchanges as a 95 % interval of them does.
func TestMeasures(t *testing.T) {
	trial := soundTrial()
	for name, want := range map[string]bool{"throughput": true, "p50": true, "p99": true,
		"p99.9": false, "cpu": false, "memory": false} {
		m, known := lab.MeasureNamed(name)
		if !known {
			t.Fatalf("%s is no measure", name)
		}
		if _, ok := m.Value(trial); ok != want {
			t.Errorf("%s: %v", name, ok)
		}
	}
	setAnswers(trial, 500, 50_000, 400)
	bytes, _ := lab.MeasureNamed("bytes")
	if v, _ := bytes.Value(trial); v != 100 {
		t.Errorf("an answer of 100 bytes has %v", v)
	}
	for _, m := range experiment.Metrics {
		if _, known := lab.MeasureNamed(string(m)); !known {
			t.Errorf("an experiment can ask for %s, which is never measured", m)
		}
	}
	trial.Failure = &lab.Failure{}
	if v, ok := lab.Measures[0].Value(trial); ok {
		t.Errorf("a failed trial has a throughput of %v", v)
	}
}

// A reason says whether the server spoiled the trial, or something else: the machine, or the
// generator.
func TestWhoSpoiled(t *testing.T) {
	for name, c := range map[string]struct {
		spoil   func(*lab.Trial)
		server  bool
		starved int64
	}{
		"connections without an answer": {func(x *lab.Trial) {
			x.Result.Connections = result.Connections{Asked: 16, Opened: 16, Served: 4}
		}, true, 12},
		"connections that were never opened, without a file descriptor": {func(x *lab.Trial) {
			x.Result.Connections = result.Connections{Asked: 16, Opened: 4, Served: 4}
			x.Result.Errors = []result.Error{{Phase: "connect", Kind: "no-file", Count: 12}}
		}, false, 0},
		"gone, without a port": {func(x *lab.Trial) {
			x.Result.Window = result.Window{MeasuredS: 1, UnavailableS: 8}
			x.Result.Connections = result.Connections{Asked: 16, Opened: 16, Served: 16}
			x.Result.Errors = []result.Error{{Phase: "connect", Kind: "no-port", Count: 12}}
		}, false, 0},
		"late on all connections": {func(x *lab.Trial) { setArrivals(x, 1000, 780, 0) }, true, 0},
		"late without a port": {func(x *lab.Trial) {
			setArrivals(x, 1000, 780, 0)
			x.Result.Errors = []result.Error{{Phase: "connect", Kind: "no-port", Count: 12}}
		}, false, 0},
		"late with all users busy or thinking": {func(x *lab.Trial) {
			setArrivals(x, 1000, 780, 0)
			x.Result.Plan.Connections, x.Result.Plan.Pipeline, x.Result.Plan.Users = 100, 1, 20
		}, false, 0},
		"failed":            {func(x *lab.Trial) { x.Result.Requests.Errors = 7 }, true, 0},
		"changed":           {func(x *lab.Trial) { x.Changed = []fairness.Difference{{Aspect: "body"}} }, true, 0},
		"other programs":    {func(x *lab.Trial) { x.Result.Server.Host.Foreign = 1e9 }, false, 0},
		"not counted alike": {func(x *lab.Trial) { x.Served = &lab.Served{Server: 900, Clients: 1000} }, false, 0},
	} {
		x := soundTrial()
		c.spoil(x)
		x.Grade, x.Reasons = Of(x)
		why := x.Summary().SpoiledByServer()
		if x.Grade != lab.GradeF || (why != nil) != c.server || why != nil && why.Starved != c.starved {
			t.Errorf("%s: %s, %+v", name, x.Grade, x.Reasons)
		}
	}
}
