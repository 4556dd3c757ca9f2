package reporttest

import (
	"math"
	"os"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

// Spread is a distribution around a median of us µs.
func Spread(n int64, us float64) *result.Distribution {
	return &result.Distribution{Count: n, Min: us / 4, Mean: us * 1.1, Stdev: us / 5, P50: us,
		P75: us * 1.2, P90: us * 1.3, P95: us * 1.4, P99: us * 1.6, P999: us * 4, P9999: us * 13,
		Max: us * 21, HDR: "HISTFAAA"}
}

// Plan is the plan of 100 connections to a URL.
func Plan(url string) loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Threads, p.Connections = 2, 100
	p.Target = loadplan.Target{URL: url, Host: "127.0.0.1", Port: 8080}
	p.Requests = []loadplan.Request{{Name: "GET /", Weight: 1,
		Request: proto.Request{Method: "GET", Authority: "127.0.0.1:8080", Path: "/"}}}
	return p
}

// Closed is a run of a closed workload, without errors.
func Closed() *result.Result {
	r := &result.Result{Format: result.Format, ID: "20260102-150405-4f2a", Dyno: "0.1.0",
		Plan: Plan("http://127.0.0.1:8080/"), Model: result.ClosedLoop, Ended: "duration",
		Host: result.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPU: "Some CPU", CPUs: 4,
			Go: "go1.26.0"},
		Window: result.Window{Started: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), WarmupS: 1,
			MeasuredS: 10, DrainedS: 0.00123},
		Requests: result.Requests{Sent: 3_320_140, Completed: 3_320_140, Retried: 2},
		Rate:     result.Rate{Sent: 332_014, Completed: 332_014},
		Latency:  Spread(3_320_140, 289),
		Service:  Spread(3_320_140, 289),
		Phases:   result.Phases{FirstByte: Spread(3_320_140, 287), Connect: Spread(100, 45)},
		Traffic: result.Traffic{Status: map[string]int64{"200": 3_320_140},
			Errors:      []result.Error{},
			Bytes:       result.Bytes{Sent: 146_086_160, Received: 507_981_420},
			Connections: result.Connections{Asked: 100, Opened: 102, Served: 100, Reconnects: 2}},
		Generator: result.Generator{CPUPerRequest: 2.93, CPUPercent: 97.3, BusyPercent: 48.9,
			GCPauseMax: 61.2, Ring: "epoll", Threads: 2, Little: new(1.001), Verdict: result.OK,
			Reasons: []string{}},
	}
	for i := range 3 {
		r.Series = append(r.Series, result.Point{T: float64(i + 1), Sent: 332_014,
			Completed: 332_014, InFlight: 100,
			LatencyTimes: loadresult.LatencyTimes{Mean: 318.5, P50: 289, P99: 462.4, Max: 6069},
			Received:     50_798_142, Written: 14_608_616})
	}
	r.Series = append(r.Series, result.Point{T: 3.00123})
	return r
}

// Late is a run of an open workload, whose generator sent late.
func Late() *result.Result {
	r := Closed()
	r.Model, r.Plan.Rate = result.OpenLoop, loadplan.RatePerSecond(20_000)
	r.Requests = result.Requests{Sent: 200_000, Completed: 200_000, Waiting: new(int64(0)),
		Late: new(int64(37)), LateMax: new(4100.0)}
	r.Rate = result.Rate{Offered: new(20_000.0), Sent: 20_000, Completed: 20_000}
	r.Status = map[string]int64{"200": 200_000}
	r.Latency, r.Service = Spread(200_000, 120), Spread(200_000, 92)
	r.Phases = result.Phases{FirstByte: Spread(200_000, 91)}
	g := &r.Generator
	g.Little, g.SendLagP99, g.SendLagMax = nil, new(1150.0), new(4080.0)
	g.Verdict, g.Reasons = result.Suspect, []string{"the generator sent 1 % of the requests " +
		"more than 1.15 ms late, which counts as latency (mean 132 µs): give it CPUs of its " +
		"own, or lower -R"}
	return r
}

// Shopping is a run of an open workload of iterations, of three steps each, whose checks did not
// all pass.
func Shopping() *result.Result {
	r := Late()
	r.Plan.Requests, r.Plan.Steps = nil, []string{"login", "list", "buy|now"}
	r.Plan.Checks = []string{"token", "price", "receipt"}
	r.Plan.Rate, r.Plan.Users = loadplan.RatePerSecond(500), 200
	r.Requests = result.Requests{Sent: 14_700, Completed: 14_590, Errors: 90, Unfinished: 20,
		Late: new(int64(37)), LateMax: new(4100.0), SentAfter: new(int64(9))}
	r.Rate = result.Rate{Sent: 1_470, Completed: 1_459, ErrorAnswers: new(9.0)}
	r.Latency, r.Service, r.ErrorLatency = Spread(14_590, 120), Spread(14_590, 92), Spread(90, 60)
	r.Status = map[string]int64{"200": 14_680}
	r.Errors = []result.Error{{Phase: "check", Kind: "receipt", Address: "127.0.0.1:8080",
		Detail: "the answer did not pass the check", Count: 90}}
	r.Scenario = result.Scenario{Iterations: &result.Iterations{Users: 200, Started: 4_910,
		Completed: 4_800, Failed: 90, Unfinished: 20, Warmup: 500, Due: new(int64(5_000)),
		Waiting: new(int64(90)), StartedAfter: new(int64(3)),
		Rate: result.IterationRate{Offered: new(500.0), Started: 490.7, Completed: 479.7},
		Time: Spread(4_800, 310_000), FailedTime: Spread(90, 205_000)},
		Checks: []result.CheckCount{{Name: "token", Passed: 4_910}, {Name: "price", Passed: 4_900},
			{Name: "receipt", Passed: 4_800, Failed: 90}}}
	for i := range 3 {
		r.Series[i].Iterations, r.Series[i].IterationsFailed = 480, int64(9*i)
	}
	r.Objectives = []result.Outcome{
		{Expr: "iteration.p95<2s", Value: new(434_000.0), Unit: "us", Met: true},
		{Expr: "checks>99.9%", Value: new(99.387), Unit: "percent"}}
	return r
}

// Failing is a run with errors of several kinds, at the generator's limit.
func Failing() *result.Result {
	r := Closed()
	r.Requests = result.Requests{Sent: 9000, Completed: 7000, Errors: 1990, Unfinished: 10}
	r.Rate = result.Rate{Sent: 900, Completed: 700, ErrorAnswers: new(100.0)}
	r.Status = map[string]int64{"200": 7000, "404": 1, "503": 999}
	r.Latency, r.ErrorLatency = Spread(7000, 2890), Spread(1000, 410)
	r.Phases = result.Phases{}
	r.Plan.Requests = append(r.Plan.Requests, r.Plan.Requests[0])
	r.Plan.Requests[1].Name = "POST /buy|now"
	r.Errors = []result.Error{
		{Phase: "expect", Kind: "status", Address: "127.0.0.1:8080", Detail: "503", Count: 999},
		{Phase: "expect", Kind: "status", Address: "127.0.0.1:8080", Detail: "404", Count: 1},
		{Phase: "read", Kind: "reset", Address: "127.0.0.1:8080", Detail: "connection reset", Count: 980},
		{Phase: "protocol", Kind: "garbage", Address: "[::1]:8080",
			Detail: "a status line \x1b[2J\"HTTP/9\"", Count: 10},
		{Phase: "connect", Kind: "refused", Address: "127.0.0.1:8080", Detail: "connection refused",
			Count: 1234}}
	r.Routes = []result.Route{
		{Name: "GET /", Completed: 7000, Errors: 1989, Mean: 3000, P50: 2890, P90: 3500, P99: 4624,
			Max: 60690},
		{Name: "POST /buy|now", Errors: 1}}
	AddWarning(r, fact.ErrorAnswers{Count: 1000, Percent: 12.5, Of: []string{"404", "503"}},
		fact.Remedy{Setting: "expect", Value: fact.Some})
	AddWarning(r, fact.RequestsFailed{Percent: 11})
	r.Generator.Verdict = result.ClientBound
	AddDoubt(r, result.Busy, result.Limit, fact.Fact{Severity: fact.Error,
		Args:     fact.Busy{Percent: 98},
		Remedies: []fact.Remedy{{Setting: "threads", Value: fact.Higher}}})
	AddDoubt(r, result.Files, result.Resource, fact.Fact{Severity: fact.Warning,
		Args:     fact.NoFile{Times: 4},
		Remedies: []fact.Remedy{{Setting: "connections", Value: fact.Lower}}})
	return r
}

// Unreachable is a run that no connection could be opened for.
func Unreachable() *result.Result {
	r := Closed()
	r.ID, r.Ended, r.Cause = "", "unreachable", "connect 127.0.0.1:8080: connection refused"
	r.Window.WarmupS, r.Window.MeasuredS, r.Window.DrainedS = 0, 0, 0
	r.Requests, r.Rate, r.Bytes = result.Requests{}, result.Rate{}, result.Bytes{}
	r.Latency, r.Service, r.Phases, r.Series = nil, nil, result.Phases{}, []result.Point{}
	r.Status = map[string]int64{}
	r.Errors = []result.Error{{Phase: "connect", Kind: "refused", Address: "127.0.0.1:8080",
		Detail: "connection refused", Count: 100}}
	r.Connections = result.Connections{Asked: 100}
	r.Generator = result.Generator{Ring: "epoll", Threads: 2, Verdict: result.Suspect,
		Reasons: []string{"nothing was measured: no connection could be opened (" + r.Cause + ")"}}
	return r
}

// Full is a writer to which nothing can be written.
type Full struct{}

// Write always fails with os.ErrClosed.
func (Full) Write([]byte) (int, error) { return 0, os.ErrClosed }

// Nasty is what somebody may call a thing.
const Nasty = "a <b>&\"c\"/d e\x1b[2J]]>é"

// Watched is a run whose server has several processes, of which not all is told.
func Watched() *result.Result {
	r := Closed()
	part := func(name string, pid int, share probe.Value) result.Usage {
		return result.Usage{Name: name, PID: pid, CPU: 6 * share, User: 2 * share, System: 4 * share,
			Wait: 1.5 * share, Percent: 190 * share, Memory: 50e6 * share, RSS: 80e6 * share,
			Count: 1, Threads: 4 * share, FDs: probe.Value(math.NaN()), Voluntary: 9000 * share,
			Involuntary: 400 * share}
	}
	r.Server = &result.Server{
		Processes: []result.Usage{part("", 0, 1), part("nginx", 10, 1),
			part("nginx: nginx master process", 10, 0), part("nginx: nginx worker process", 11, 0.5),
			part("nginx: nginx worker process", 12, 0.5)},
		Host: probe.HostUse{CPUs: 4, WallS: 10, Busy: 30e9, SoftIRQ: 5, Steal: 1.25,
			Foreign: 3e9},
		Sampler:     probe.Cost{Share: 0.31, Samples: 50},
		Unavailable: []string{"fds of nginx: permission denied; run as its user"}}
	share := func(of float64) profile.Part { return profile.Part{Share: of, Samples: 900} }
	r.Profile = &result.Profile{Kind: profile.CPU, DurationS: 10.01, Samples: 1900,
		File: "/home/me/.local/share/dyno/results/20260102-150405-4f2a.cpu.pb.gz",
		Top: []profile.Line{{Function: "syscall.Syscall6", Flat: share(0.47), Cumulative: share(0.47)},
			{Function: "net/http.(*conn).serve", Flat: share(0.004), Cumulative: share(0.93)}}}
	return r
}

// Hostile is a result whose every text has commands to a terminal.
func Hostile() *result.Result {
	const bad = "\x1b[2J\r\n\x00"
	r := Failing()
	r.Plan.Target.URL, r.Plan.Requests[0].Method, r.ID = bad, bad, bad
	r.Plan.Target.Unix, r.Plan.HTTP, r.Cause, r.Warnings = bad, bad, bad, []string{bad}
	r.Generator.Ring, r.Generator.Verdict, r.Generator.Reasons = bad, bad, []string{bad}
	r.Routes[0].Name, r.Status[bad], r.Dyno, r.Host.CPU = bad, 1, bad, bad
	r.Errors[0] = result.Error{Phase: bad, Kind: bad, Address: bad, Detail: bad, Count: 1}
	r.Server, r.Profile = Watched().Server, Watched().Profile
	r.Server.Processes[1].Name, r.Server.Unavailable = bad, []string{bad}
	r.Scenario = Shopping().Scenario
	r.Checks[0].Name, r.Plan.Steps, r.Plan.Checks = bad, []string{bad, bad}, []string{bad, bad, bad}
	r.Profile.Kind, r.Profile.File, r.Profile.Top[0].Function = bad, bad, bad
	return r
}
