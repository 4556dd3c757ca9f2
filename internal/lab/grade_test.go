package lab

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// soundTrial is one that nothing speaks against.
func soundTrial() *Trial {
	offered := 1000.0
	return &Trial{
		Warmup: &Warmup{TookS: 3, Steady: Yes},
		Result: &result.Result{
			Requests:  result.Requests{Sent: 1000, Completed: 1000},
			Rate:      result.Rate{Sent: 1000, Completed: 1000, Offered: &offered},
			Latency:   &result.Distribution{Count: 1000, P50: 100, P99: 300, P999: 900},
			Generator: result.Generator{Verdict: result.OK},
			Server: &result.Server{Processes: []result.Usage{{}}, Host: probe.HostUse{CPUs: 2, WallS: 1,
				Busy: 1e9, Steal: 0.2, Foreign: 20e6}},
		},
		Steadiness: stats.Flat,
	}
}

// sized has so many answers of 100 bytes in its window of a second, so many bytes, and so many
// answers after it.
func (t *Trial) sized(answers, received, after int64) {
	t.Wire = 100
	t.Result.Window.MeasuredS = 1
	t.Result.Requests = result.Requests{Sent: answers + after, Completed: answers + after}
	t.Result.Bytes.Received = received // of the window, as in each result
	t.Result.Series = []result.Point{{T: 0.5, Completed: answers / 2, Received: received / 2},
		{T: 1, Completed: answers / 2, Received: received / 2}, {T: 1.4, Completed: after}}
}

// arrived has so many requests that were due in its window of a second, so many that were
// ever sent, and so many of these that were sent after it.
func (t *Trial) arrived(due, sent, after int64) {
	waiting := due - sent
	t.Result.Window.MeasuredS = 1
	t.Result.Requests = result.Requests{Sent: sent, Completed: sent, Waiting: &waiting, SentAfter: &after}
	t.Result.Rate.Sent = float64(sent - after)
}

// connected has so many connections of which so many were opened and served, and so many requests.
func (t *Trial) connected(model string, asked, opened, served int, requests int64) {
	t.Result.Model = model
	t.Result.Connections = result.Connections{Asked: asked, Opened: int64(opened), Served: served}
	t.Result.Requests = result.Requests{Sent: requests, Completed: requests}
}

func TestGrade(t *testing.T) {
	if g, reasons := grade(soundTrial()); g != GradeA || reasons != nil {
		t.Fatalf("a sound trial is of grade %s: %v", g, reasons)
	}
	for _, c := range []struct {
		name  string
		spoil func(*Trial)
		grade Grade
		says  string
		again bool
	}{
		{"some steal", func(t *Trial) { t.Result.Server.Host.Steal = 3 }, GradeB, "host took 3.0 %", false},
		{"much steal", func(t *Trial) { t.Result.Server.Host.Steal = 6 }, GradeF, "host took 6.0 %", true},
		{"steal that nobody counts", func(t *Trial) { t.Result.Server.Host.Steal = probe.Value(math.NaN()) }, GradeA,
			"", false},
		{"others", func(t *Trial) { t.Result.Server.Host.Foreign = 0.2e9 }, GradeB, "at least 10.0 %", false},
		{"many others", func(t *Trial) { t.Result.Server.Host.Foreign = 1e9 }, GradeF, "at least 50.0 %", true},
		{"interrupts, not others", func(t *Trial) { t.Result.Server.Host.Foreign, t.Result.Server.Host.SoftIRQ = 0.2e9, 9 }, GradeA,
			"", false},
		{"client-bound", func(t *Trial) {
			t.Result.Generator = result.Generator{Verdict: result.ClientBound, Reasons: []string{"busy"}}
		}, GradeB, "generator: busy", false},
		{"a window too short", func(t *Trial) {
			t.Arm = "go"
			t.Result.Generator = result.Generator{Verdict: result.OK, Reasons: []string{"too short to judge"},
				Doubts: []result.Doubt{{Cause: result.TooShort, Kind: result.Short, Verdict: result.OK}}}
		}, GradeB, "too short to judge; give a longer window (design: {measure: ...})", false},
		{"errors", func(t *Trial) { t.Result.Requests.Errors = 1 }, GradeF, "1 of 1000 requests failed",
			false},
		{"errors and steal", func(t *Trial) { t.Result.Requests.Errors, t.Result.Server.Host.Steal = 1, 9 }, GradeF,
			"failed", false},
		{"behind", func(t *Trial) { t.arrived(1000, 980, 0) }, GradeF, "98.0 % of the requests due",
			false},
		{"sent after the window", func(t *Trial) { t.arrived(1000, 1000, 30) }, GradeF,
			"97.0 % of the requests due", false},
		{"behind by its own fault", func(t *Trial) {
			t.arrived(1000, 980, 0)
			lag, worst := 60e3, 61e3
			t.Result.Generator.SendLagMax, t.Result.Requests.LateMax = &lag, &worst
		}, GradeF, "98.0 % of the requests due were sent in time: the generator was late", false},
		{"fewer drawn than offered, and all sent", func(t *Trial) { t.arrived(962, 962, 0) }, GradeA, "",
			false},
		{"more drawn than offered, and some not sent", func(t *Trial) { t.arrived(1030, 1010, 0) }, GradeF,
			"98.1 % of the requests due", false},
		{"another answer", func(t *Trial) {
			t.Changed = []fairness.Difference{{Aspect: "status", Before: "200", After: "503"}}
		}, GradeF, "status was 200 and is 503", false},
		{"unsteady", func(t *Trial) { t.Warmup.Steady, t.Warmup.CoV = No, 0.2 }, GradeB,
			"not steady after 3.0 s", false},
		{"nobody could tell", func(t *Trial) { t.Warmup.Steady = Unknown }, GradeA, "", false},
		{"larger answers", func(t *Trial) { t.sized(1000, 102_000, 0) }, GradeF,
			"102 bytes were received for each request, and 100 when", false},
		{"smaller answers", func(t *Trial) { t.sized(1000, 98_000, 0) }, GradeF,
			"98 bytes were received for each request, and 100 when", false},
		{"as large as before", func(t *Trial) { t.sized(1000, 100_500, 0) }, GradeA, "", false},
		{"answers after the window", func(t *Trial) { t.sized(1000, 100_000, 900) }, GradeA, "", false},
		{"larger answers, and some after the window", func(t *Trial) { t.sized(1000, 102_000, 900) }, GradeF,
			"102 bytes were received for each request, and 100 when", false},
		{"answers of which only a part is in the window", func(t *Trial) {
			t.sized(1000, 101_900, 5)
			t.Result.Plan.Connections, t.Result.Plan.Pipeline = 1, 5
		}, GradeA, "", false},
		{"full queue", func(t *Trial) { t.Result.Server.Host.ListenOverflow = 3 }, GradeB, "3 connections were dropped",
			false},
		{"nobody's server", func(t *Trial) {
			t.Result.Server.Processes, t.Result.Server.Host.Foreign = nil, 1.9e9
		}, GradeA, "", false},
		{"no server for half of it", func(t *Trial) {
			t.Result.Window.MeasuredS, t.Result.Window.UnavailableS = 10, 5
		}, GradeF, "50 % of the load could not be applied", false},
		{"no server for a moment", func(t *Trial) {
			t.Result.Window.MeasuredS, t.Result.Window.UnavailableS = 10, 0.05
		}, GradeB, "0.5 % of the load could not be applied", false},
		{"no server for nearly nothing", func(t *Trial) {
			t.Result.Window.MeasuredS, t.Result.Window.UnavailableS = 10, 0.01
		}, GradeA, "", false},
		{"fewer connections", func(t *Trial) { t.connected(result.ClosedLoop, 9, 9, 7, 1000) }, GradeF,
			"2 of 9 connections never completed", false},
		{"fewer requests than connections", func(t *Trial) { t.connected(result.ClosedLoop, 50, 50, 7, 7) },
			GradeA, "", false},
		{"fewer requests, and still fewer connections", func(t *Trial) {
			t.connected(result.ClosedLoop, 50, 50, 5, 7)
		}, GradeF, "2 of 50 connections never completed", false},
		{"a low rate on many connections", func(t *Trial) { t.connected(result.OpenLoop, 50, 50, 30, 30) },
			GradeA, "", false},
		{"a rate of which chance left some out", func(t *Trial) {
			t.connected(result.OpenLoop, 50, 50, 48, 70)
		}, GradeA, "", false},
		{"connections that never were", func(t *Trial) { t.connected(result.OpenLoop, 50, 47, 30, 30) },
			GradeF, "3 of 50 connections never could be opened", false},
		{"still warming", func(t *Trial) { t.Transient = &Transient{CutS: 3, Change: 0.05, Errors: 9} }, GradeB,
			"first 3 s of its window were still warm-up (MSER-5): without them throughput would be 5.0 % higher",
			false},
		{"a cut that changes nothing", func(t *Trial) { t.Transient = &Transient{CutS: 3, Change: 0.005, Errors: 9} },
			GradeA, "", false},
		{"throttled once", func(t *Trial) {
			t.Result.Server.Host.Throttled, t.Result.Server.Host.Throttlings = 8e6, 1
		}, GradeB, "quota of dyno's cgroup took 0.4 % of the CPUs' time, in 1 periods", false},
		{"throttled much", func(t *Trial) {
			t.Result.Server.Host.Throttled, t.Result.Server.Host.Throttlings = 0.2e9, 9
		}, GradeF, "took 10 %", true},
		{"throttling that nobody counts", func(t *Trial) { t.Result.Server.Host.Throttled = probe.Value(math.NaN()) },
			GradeA, "", false},
		{"short of memory", func(t *Trial) { t.Result.Server.Host.PressureMemory = 2 }, GradeB,
			"memory was short 2.0 % of the time", false},
		{"very short of memory", func(t *Trial) { t.Result.Server.Host.PressureMemory = 20 }, GradeF,
			"memory was short 20.0 % of the time", true},
		{"waiting for storage", func(t *Trial) { t.Result.Server.Host.PressureIO = 97 }, GradeA, "", false},
		{"waiting for CPUs", func(t *Trial) { t.Result.Server.Host.PressureCPU = 99 }, GradeA, "", false},
		{"hot", func(t *Trial) { t.Result.Server.Host.TooHot = 2 }, GradeB, "slowed down 2 times", false},
		{"slowing down", func(t *Trial) { t.Steadiness = stats.Slowdown }, GradeB, "slowdown", false},
		{"killed", func(t *Trial) { t.Killed = []string{"app"} }, GradeB, "app had to be killed", false},
		{"failed", func(t *Trial) { t.fail("start", errors.New("gone")); t.Result = nil },
			GradeF, "start: gone", false},
	} {
		trial := soundTrial()
		c.spoil(trial)
		trial.Grade, trial.Reasons = grade(trial)
		says := ""
		for _, r := range trial.Reasons {
			says += r.Says + "\n"
		}
		if trial.Grade != c.grade || !strings.Contains(says, c.says) || trial.mayPass() != c.again {
			t.Errorf("%s: grade %s, again %v, %q", c.name, trial.Grade, trial.mayPass(), says)
		}
	}
}

// No advice of the laboratory's is a flag: its loads are described in a file.
func TestRemediesNameNoFlag(t *testing.T) {
	for cause, remedy := range remedies {
		for _, word := range strings.Fields(remedy) {
			if strings.HasPrefix(strings.Trim(word, "(),;"), "-") && word != "-n)," {
				t.Errorf("%s: %q in %q", cause, word, remedy)
			}
		}
	}
}

// That the generator was at its limit is said of throughput and latency alone, and not of a
// generator that was held up.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name, metric string
		doubts       []result.Doubt
		limit        bool
		disturbed    int
		other        int
	}{
		{"sound", "throughput", nil, false, 0, 0},
		{"limit", "throughput", []result.Doubt{{Kind: result.Limit, Verdict: result.ClientBound}}, true, 0, 0},
		{"limit", "p99", []result.Doubt{{Kind: result.Limit, Verdict: result.ClientBound}}, true, 0, 0},
		{"limit", "memory", []result.Doubt{{Kind: result.Limit, Verdict: result.ClientBound}}, false, 0, 0},
		{"limit", "cpu", []result.Doubt{{Kind: result.Limit, Verdict: result.ClientBound}}, false, 0, 0},
		{"near it", "throughput", []result.Doubt{{Kind: result.Limit, Verdict: result.Suspect}}, false, 0, 0},
		{"held up", "throughput", []result.Doubt{{Kind: result.HeldUp, Verdict: result.ClientBound}}, false, 1, 0},
		{"held up", "memory", []result.Doubt{{Kind: result.HeldUp, Verdict: result.ClientBound}}, false, 0, 0},
		{"held up a little", "p99", []result.Doubt{{Kind: result.HeldUp, Verdict: result.Suspect}}, false, 0, 0},
		{"both", "throughput", []result.Doubt{{Kind: result.HeldUp, Verdict: result.ClientBound},
			{Kind: result.Limit, Verdict: result.ClientBound}}, true, 0, 0},
		{"another load", "p99", []result.Doubt{{Kind: result.OtherLoad, Verdict: result.ClientBound}}, false, 0, 1},
		{"another load", "cpu", []result.Doubt{{Kind: result.OtherLoad, Verdict: result.ClientBound}}, false, 0, 0},
	} {
		var trials []*Trial
		for round := 1; round <= 3; round++ {
			for _, arm := range []string{"go", "nginx"} {
				x := soundTrial()
				x.Slot = Slot{Round: round, Arm: arm, Level: "c16"}
				x.Result.Server.Processes[0] = result.Usage{CPU: 9, Memory: 1 << 20}
				trials = append(trials, x)
			}
		}
		g := &trials[3].Result.Generator
		for _, d := range c.doubts {
			g.Doubts, g.Reasons = append(g.Doubts, d), append(g.Reasons, "why")
			if d.Verdict == result.ClientBound || g.Verdict == result.OK {
				g.Verdict = d.Verdict
			}
		}
		m, _ := measure(c.metric)
		p := pair(sortTrials(trials), m, "c16", "go", "nginx")
		if len(p.logs) != 3 || p.ClientBound != c.limit || p.Disturbed != c.disturbed ||
			p.OtherLoad != c.other {
			t.Errorf("%s, %s of %d pairs: at its limit %v, %d disturbed", c.name, c.metric, len(p.logs),
				p.ClientBound, p.Disturbed)
		}
		var u Comparison
		u.values(Sample{Trials: trials}, m)
		if u.ClientBound != c.limit || u.Disturbed != c.disturbed || u.OtherLoad != c.other {
			t.Errorf("%s, %s of runs: at its limit %v, %d disturbed", c.name, c.metric, u.ClientBound,
				u.Disturbed)
		}
	}
}

// Percentiles need as many exchanges as a 95 % interval of them does.
func TestMeasures(t *testing.T) {
	trial := soundTrial()
	for name, want := range map[string]bool{"throughput": true, "p50": true, "p99": true,
		"p99.9": false, "cpu": false, "memory": false} {
		m, known := measure(name)
		if !known {
			t.Fatalf("%s is no measure", name)
		}
		if _, ok := m.Of(trial); ok != want {
			t.Errorf("%s: %v", name, ok)
		}
	}
	trial.sized(500, 50_000, 400)
	bytes, _ := measure("bytes")
	if v, _ := bytes.Of(trial); v != 100 {
		t.Errorf("an answer of 100 bytes has %v", v)
	}
	for _, m := range experiment.Metrics {
		if _, known := measure(string(m)); !known {
			t.Errorf("an experiment can ask for %s, which is never measured", m)
		}
	}
	trial.Failure = &Failure{}
	if v, ok := Measures[0].Of(trial); ok {
		t.Errorf("a failed trial has a throughput of %v", v)
	}
}

// seconds runs a load whose seconds have the given rates, without taking any.
func seconds(rates []float64) result.Runner {
	return func(ctx context.Context, p load.Plan, each func(load.Interval)) (*result.Result, error) {
		n := 0
		for i, rate := range rates {
			if ctx.Err() != nil || time.Duration(i)*time.Second >= time.Duration(p.Duration) {
				break
			}
			each(load.Interval{From: time.Duration(i) * time.Second,
				To: time.Duration(i+1) * time.Second, Completed: int64(rate)})
			n++
		}
		return &result.Result{Window: result.Window{MeasuredS: float64(n)},
			Requests: result.Requests{Completed: 1}}, nil
	}
}

func TestWarm(t *testing.T) {
	rule := func(least, most time.Duration) experiment.Warmup {
		return experiment.Warmup{Min: experiment.Duration(least), Max: experiment.Duration(most), CoV: 0.02}
	}
	const s = time.Second
	flat := make([]float64, 60)
	rising := make([]float64, 60)
	jagged := make([]float64, 60)
	for i := range flat {
		flat[i], rising[i], jagged[i] = 1000, 1000*(1-math.Exp(-float64(i)/4)), 1000+float64(i%2)*300
	}
	for _, c := range []struct {
		name   string
		rates  []float64
		rule   experiment.Warmup
		took   float64
		steady Answer
	}{
		{"at once", flat, rule(0, 30*s), 5, Yes},
		{"not before the least", flat, rule(10*s, 30*s), 10, Yes},
		{"when it is", rising, rule(0, 30*s), 14, Yes},
		{"never", jagged, rule(0, 30*s), 30, No},
		{"too short to tell", flat, rule(0, 2*s), 2, Unknown},
		{"short", flat, rule(0, 4*s), 4, Yes},
	} {
		w, _, err := warm(t.Context(), seconds(c.rates), load.Plan{}, c.rule)
		if err != nil || math.Abs(w.TookS-c.took) > 2*float64(map[string]int{"when it is": 1}[c.name]) ||
			w.Steady != c.steady {
			t.Errorf("%s: %+v, %v", c.name, w, err)
		}
	}
	if w, _, err := warm(t.Context(), nil, load.Plan{}, rule(0, 0)); w != nil || err != nil {
		t.Errorf("no warm-up took %+v, %v", w, err)
	}
}
