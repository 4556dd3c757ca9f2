package fleet

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/scenario"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// plannedRuns are runs by their plans. To count one takes half a dozen histograms, so each is counted once.
type plannedRuns map[string]plannedRun

// A plannedRun is a run of 4 s of one agent, which has said its last word 1 s after it: 40 requests, of which
// 4 were answered with an error.
type plannedRun struct {
	run    *fleetRun
	member *member
	final  []byte // as it is sent
}

// get is a run of its own of the usual plan, of which change makes another.
func (all plannedRuns) get(t *testing.T, change func(*loadplan.Plan)) (*fleetRun, *member) {
	t.Helper()
	p := loadplan.DefaultPlan()
	p.Target.Host, p.Target.URL, p.Connections, p.Threads = "127.0.0.1", "http://127.0.0.1/", 4, 2
	p.Requests, p.Duration = []loadplan.Request{{Weight: 1, Name: "a"}, {Weight: 1, Name: "b"}}, loadplan.Seconds(4*time.Second)
	change(&p)
	key := string(wire.Encode(p))
	made, is := all[key]
	if !is {
		made = newPlannedRun(t, p)
		all[key] = made
	}
	r, m := *made.run, *made.member
	m.final = &wire.Final{Result: new(result.Result)}
	if err := json.Unmarshal(made.final, m.final.Result); err != nil {
		t.Fatal(err)
	}
	m.reported.sum.Checks = slices.Clone(m.reported.sum.Checks)
	r.members = []*member{&m}
	return &r, &m
}

func newPlannedRun(t *testing.T, p loadplan.Plan) plannedRun {
	t.Helper()
	m := newMember(FoundAgent{Name: "a", Hello: wire.Hello{Host: result.Host{CPUs: 2}}})
	r := &fleetRun{Controller: &Controller{}, members: []*member{m}, clock: clock{origin: time.Now().Add(-time.Hour)},
		plan: p, runPhase: runPhase{armed: true},
		scratch:  metric.NewHistogram(metric.Fine),
		liveView: liveView{mergeInterval: func(int, *loadresult.Interval) {}}}
	m.part, m.reportedAt = p, int64(5*time.Second)+int64(p.Warmup)
	out := &loadresult.Result{Plan: p, Ended: loadresult.ByDuration, Measured: 4 * time.Second, Warmed: time.Duration(p.Warmup),
		Drained: time.Second / 2, CPU: time.Second, Started: time.Now(), Total: metric.NewCounters(), Ring: "epoll",
		Totals: loadresult.Totals{ConnectionTotals: loadresult.ConnectionTotals{
			Opened: 6, Reconnects: 2, Served: 4, Protocols: map[string]int64{loadplan.HTTP11: 6}}}}
	h := metric.NewHistogram(metric.Coarse)
	h.Record(1e6)
	out.Connect, out.FirstByte = h, h
	if out.Ended = loadresult.ByDuration; p.Requested > 0 {
		out.Ended = loadresult.ByRequests
	}
	for _, name := range []string{"a", "b"} {
		out.Routes = append(out.Routes, loadresult.Route{Name: name, Completed: 18, Failed: 2, Latency: h})
	}
	for i := range 4 {
		latency, wrong := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
		for range 9 {
			latency.Record(2e6)
		}
		wrong.Record(3e6)
		iv := loadresult.Interval{Index: i, From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second, Sent: 10,
			Completed: 9, Failed: 1, Latency: latency.ToSparse(), Apart: loadresult.Apart{ErrorLatency: wrong.ToSparse()}, Busy: 0.5,
			Status: map[uint16]int64{200: 9, 503: 1}, Failures: []loadresult.Failure{{Phase: loadresult.Expect, Kind: "status", Detail: "503", Count: 1}}}
		if len(p.Steps) > 0 && i == 0 {
			times := metric.NewHistogram(metric.Fine)
			for range 15 {
				times.Record(2e8)
			}
			iv.Iterations, iv.IterationsFailed, iv.IterationTime = 15, 3, times.ToSparse()
			iv.Checks = []metric.Outcomes{{Passed: 32, Failed: 4}}
		}
		iv.Measure()
		if err := m.reported.checkSecond(&iv, r.currentMax()); err != nil {
			t.Fatal(err)
		}
		m.reported.addSecond(iv, r.scratch)
		out.Total.Latency.Merge(latency)
		out.Total.ErrorLatency.Merge(wrong)
		out.Total.Service.Merge(latency)
	}
	s := m.reported.sum
	out.Total.Sent, out.Total.Completed, out.Total.Failed = s.Sent, s.Completed, s.Failed
	out.Total.Status[200], out.Total.Status[503], out.Failures = 36, 4, s.Failures
	if len(p.Steps) > 0 {
		addUsers(out)
	}
	part, err := result.From(out, loadplan.Version)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.storedPlan(m, 2); err != nil { // which r then has
		t.Fatal(err)
	}
	return plannedRun{r, m, wire.Encode(part)}
}

// addUsers makes the run that of 8 users, who did two steps in each of 20 iterations: 15 completed, 3
// failed and 2 were not over. Its errors are those of a check.
func addUsers(out *loadresult.Result) {
	s := &loadresult.ScenarioTotals{Users: 8, Started: 20, Completed: 15, Failed: 3, Unfinished: 2, Time: metric.NewHistogram(metric.Fine),
		FailedTime: metric.NewHistogram(metric.Fine), Checks: []loadresult.CheckTotals{{Name: "body", Passed: 32, Failed: 4}}}
	for range 15 {
		s.Time.Record(2e8)
	}
	for range 3 {
		s.FailedTime.Record(1e8)
	}
	out.Scenario, out.Failures = s, []loadresult.Failure{{Phase: loadresult.Check, Kind: "body", Count: 4}}
}

// longTimes are so many times of 1,000 s.
func longTimes(t *testing.T, n int) *result.Distribution {
	h := metric.NewHistogram(metric.Fine)
	for range n {
		h.Record(1e12)
	}
	out, err := result.From(&loadresult.Result{Plan: loadplan.DefaultPlan(), Total: &metric.Counters{Latency: h,
		Service: h, ErrorLatency: metric.NewHistogram(metric.Fine)}}, "v")
	if err != nil {
		t.Fatal(err)
	}
	return out.Latency
}

// What is only in an agent's final is held against what can have been.
func TestPossible(t *testing.T) {
	runs := plannedRuns{}
	n, x := func(n int64) *int64 { return &n }, func(x float64) *float64 { return &x }
	closed := func(*loadplan.Plan) {}
	open := func(p *loadplan.Plan) { p.Rate, p.Warmup = loadplan.RatePerSecond(10), loadplan.Seconds(time.Second) }
	some := func(p *loadplan.Plan) { p.Duration, p.Requested = 0, 40 }
	few := func(p *loadplan.Plan) { p.Duration, p.Requested, p.Rate = 0, 40, loadplan.RatePerSecond(0.1) }
	users := func(p *loadplan.Plan) { p.Steps, p.Checks, p.Users = []string{"a", "b"}, []string{"body"}, 8 }
	openUsers := func(p *loadplan.Plan) { open(p); users(p) }
	ownCheck := func(p *loadplan.Plan) { users(p); p.Checks = append(p.Checks, scenario.BodyWithin+"9 bytes") }
	onlyChecks := func(p *loadplan.Plan) { p.Checks = []string{"body"} }
	someUsers := func(p *loadplan.Plan) { users(p); p.Duration, p.Requested = 0, 20 }
	light := func(p *loadplan.Plan) { p.Probe = loadplan.RatePerSecond(5) }
	for _, c := range []struct {
		plan func(*loadplan.Plan)
		lie  func(*result.Result)
		why  string
	}{
		{closed, func(*result.Result) {}, ""}, {open, func(*result.Result) {}, ""}, {some, func(*result.Result) {}, ""},
		{open, func(r *result.Result) { r.Requests.Warmup = 10 }, ""},
		{few, func(r *result.Result) { // the 41st would be due then
			r.Window.MeasuredS, r.Rate.Sent, r.Rate.Completed, r.Rate.ErrorAnswers = 400, 0.1, 0.09, x(0.01)
			r.Generator.CPUPercent = 0.25
		}, ""},
		{some, func(r *result.Result) { r.Window.MeasuredS = 6 }, "is of 6 s"},
		{few, func(r *result.Result) { r.Window.MeasuredS = 1000 }, "is of 1000 s"},
		{closed, func(r *result.Result) { r.Window.MeasuredS = 3 }, "went on for all 4 s"},
		{closed, func(r *result.Result) { r.Ended = "interrupted" }, "nobody had it end"},
		{closed, func(r *result.Result) { r.Ended = "aborted" }, "nobody had it end"},
		{closed, func(r *result.Result) { r.Ended = "tired" }, "a way that there is not"},
		{closed, func(r *result.Result) { r.Window.WarmupS = 1 }, "1 s of warm-up, and possible are 0 to 1e-06"},
		{closed, func(r *result.Result) { r.Window.OutageS = 5.5 }, "without a server"},
		{closed, func(r *result.Result) { r.Window.UnavailableS = 5.5 }, "without connections"},
		{closed, func(r *result.Result) { r.Window.UnavailableLongestS = 5.5 }, "without a connection"},
		{closed, func(r *result.Result) { r.Window.UnavailableFromS = x(-1) }, "until there were no connections"},
		{closed, func(r *result.Result) { r.Requests.Waiting = n(1) }, "another model"},
		{open, func(r *result.Result) { r.Requests.Waiting, r.Requests.Due = nil, nil }, "another model"},
		{open, func(r *result.Result) { r.Requests.Waiting, r.Requests.Due = n(1e9), n(1e9+40) }, "1e+09 requests due, and possible are 0 to 113."},
		{open, func(r *result.Result) { r.Requests.Late = n(41) }, "41 requests sent late, and possible are 0 to 40"},
		{open, func(r *result.Result) { r.Requests.SentAfter = n(41) }, "after the window"},
		{open, func(r *result.Result) { r.Requests.LateMax = x(1e9) }, "µs late at most"},
		{open, func(r *result.Result) { r.Requests.Warmup = 1000 }, "1000 requests before the window, and possible are 0 to 51."},
		{closed, func(r *result.Result) { r.Requests.Warmup = 1 }, "1 requests before the window, and possible are 0 to 0"},
		{open, func(r *result.Result) { r.Requests.WarmupLost = 1 }, "1 requests lost before the window"},
		{open, func(r *result.Result) { r.Requests.WarmupInWindow = 1 }, "does not add up to its reports"},
		{closed, func(r *result.Result) { r.Requests.Retried = 1e6 }, "sent again"},
		{some, func(r *result.Result) { r.Rate.Sent = 0 }, "fewer requests sent in the window"},
		{some, func(r *result.Result) { r.Rate.Completed = 1 }, "fewer requests completed in the window"},
		{closed, func(r *result.Result) { r.Rate.ErrorAnswers = x(0) }, ""}, // each connection may have had one under way
		{closed, func(r *result.Result) { r.Rate.Handshakes = x(50) }, "handshakes in the window"},
		{closed, func(r *result.Result) { r.Connections.Asked = 5 }, "connections asked for"},
		{closed, func(r *result.Result) { r.Connections.Served = 5 }, "that served"},
		{closed, func(r *result.Result) { r.Connections.Opened = 1 << 50 }, "connections opened"},
		{closed, func(r *result.Result) { r.Connections.Reconnects = 7 }, "7 connections opened again, and possible are 0 to 6"},
		{closed, func(r *result.Result) { r.Connections.TLSFull = n(1 << 50) }, "handshakes"},
		{closed, func(r *result.Result) { r.Connections.TLS = []result.Terms{{Count: 1}} }, "of one kind"},
		{closed, func(r *result.Result) { r.Connections.Protocols["h9"] = 7 }, "of a protocol"},
		{closed, func(r *result.Result) { s := 1 << 30; r.Connections.Streams = &s }, "streams at once"},
		{closed, func(r *result.Result) { r.Generator.CPUPercent = 1e6 }, "40000 s of CPU, and possible are 0 to 20."},
		{closed, func(r *result.Result) { r.Generator.CPUPercent = -1 }, "s of CPU"},
		{closed, func(r *result.Result) { r.Generator.CPUPerRequest = 1e9 }, "s of CPU in requests"},
		{closed, func(r *result.Result) { r.Generator.BusyPercent = 101 }, "% busy"},
		{closed, func(r *result.Result) { r.Generator.Unscheduled = 101 }, "% waiting for a CPU"},
		{closed, func(r *result.Result) { r.Generator.GCPauseMax = 1e9 }, "garbage"},
		{closed, func(r *result.Result) { r.Generator.StopMax = -1 }, "without running"},
		{closed, func(r *result.Result) { r.Generator.SchedulingP99 = 1e9 }, "until a goroutine ran"},
		{closed, func(r *result.Result) { r.Generator.CPUWait = 1e9 }, "until a thread ran"},
		{open, func(r *result.Result) { r.Generator.SendLagP99 = x(1e9) }, "sent late by 1 %"},
		{closed, func(r *result.Result) { r.Generator.LocalPorts = 1 << 20 }, "local ports"},
		{closed, func(r *result.Result) { r.Generator.Threads = 5 }, "5 threads, and possible are 0 to 4"},
		{open, func(r *result.Result) { r.Generator.Arrivals = &result.Arrivals{Spans: 1e6} }, "spans"},
		{open, func(r *result.Result) { r.Generator.Arrivals = &result.Arrivals{Spans: 1, A2: x(1e6)} }, "A²"},
		{closed, func(r *result.Result) { r.Routes = make([]result.Route, 100) }, "100 routes, and possible are 0 to 2"},
		{closed, func(r *result.Result) { r.Routes[0].Completed = 37 }, "37 requests of a route completed, and possible are 0 to 36"},
		{closed, func(r *result.Result) { r.Routes[0].Errors = 5 }, "of a route failed"},
		{closed, func(r *result.Result) { r.Routes[1].P99 = 1e9 }, "p99 of a route"},
		{closed, func(r *result.Result) {
			r.Errors = append(r.Errors, result.Error{Phase: "connect", Count: 1 << 55})
		}, "failures of a kind"},
		{closed, func(r *result.Result) {
			r.Service = &result.Distribution{Count: r.Latency.Count, HDR: r.ErrorLatency.HDR}
		}, "service"},
		{closed, func(r *result.Result) {
			for i := range failureKindsMax + 9 {
				r.Errors = append(r.Errors, result.Error{Phase: "connect", Address: fmt.Sprint(i)})
			}
		}, "ways to fail"},
		{users, func(*result.Result) {}, ""}, {openUsers, func(*result.Result) {}, ""}, {someUsers, func(*result.Result) {}, ""},
		{ownCheck, func(*result.Result) {}, ""},
		{ownCheck, func(r *result.Result) { r.Checks = nil }, "does not add up to its reports"},
		{onlyChecks, func(*result.Result) {}, "has 0 checks, and the plan has 1"},
		{onlyChecks, func(r *result.Result) { r.Checks = []result.CheckCount{{Name: "other"}} }, "a check that the plan does not have"},
		{users, func(r *result.Result) {
			r.Errors = append(r.Errors, result.Error{Phase: "check", Kind: loadresult.Refused, Count: 7})
		}, ""},
		{users, func(r *result.Result) { r.Iterations, r.Checks = nil, nil }, "does not add up to its reports"},
		{users, func(r *result.Result) { r.Iterations.Due = n(20) }, "iterations are of another model"},
		{openUsers, func(r *result.Result) { r.Iterations.Waiting = nil }, "iterations are of another model"},
		{openUsers, func(r *result.Result) { r.Iterations.StartedAfter = nil }, "iterations are of another model"},
		{users, func(r *result.Result) { r.Checks = nil }, "does not add up to its reports"},
		{users, func(r *result.Result) { r.Checks[0].Name = "other" }, "does not add up to its reports"},
		{users, func(r *result.Result) { r.Checks[0].Failed = 1 }, "does not add up to its reports"},
		{users, func(r *result.Result) { r.Checks[0].Passed = 1 << 50 }, "does not add up to its reports"},
		{users, func(r *result.Result) { r.Iterations.Users = 9 }, "9 users, and possible are 0 to 8"},
		{users, func(r *result.Result) { r.Iterations.Completed++ }, "does not add up to its reports"},
		{users, func(r *result.Result) { r.Iterations.Started, r.Iterations.Unfinished = 27, 9 }, "9 iterations at once"},
		{users, func(r *result.Result) { r.Iterations.Warmup = 1 }, "1 iterations before the window"},
		{users, func(r *result.Result) { r.Iterations.Rate.Started = 1e6 }, "iterations begun in the window"},
		{users, func(r *result.Result) { r.Iterations.Rate.Completed = 0 }, "fewer iterations completed"},
		{users, func(r *result.Result) { r.Iterations.FailedTime = longTimes(t, 3) }, "µs of an iteration"},
		{openUsers, func(r *result.Result) { r.Iterations.Waiting, r.Iterations.Due = n(1e9), n(1e9+20) }, "1e+09 iterations due"},
		{someUsers, func(r *result.Result) { r.Iterations.Started, r.Iterations.Unfinished = 21, 3 }, "21 iterations, and possible are 0 to 20"},
		{closed, func(r *result.Result) { r.Iterations = &result.Iterations{} }, "the plan has no scenario"},
		{light, func(r *result.Result) { r.Probe = &result.Probe{Requests: result.Requests{Sent: 20, Completed: 20}} }, ""},
		{light, func(r *result.Result) { // its connections were lost 2 ms after the beginning
			r.Probe = &result.Probe{Requests: result.Requests{Sent: 3, Completed: 1, Errors: 2},
				Rate: result.Rate{Sent: 1500, Completed: 500}, Errors: []result.Error{{Phase: "connect", Count: 9}}}
		}, ""},
		{light, func(r *result.Result) {
			r.Probe = &result.Probe{Requests: result.Requests{Sent: 3}, Rate: result.Rate{Sent: 1e7},
				Errors: []result.Error{{Phase: "connect", Count: 9}}}
		}, "10 requests of the probe in a microsecond, and possible are 0 to 3"},
		{light, func(r *result.Result) {
			r.Probe = &result.Probe{Requests: result.Requests{Sent: 3}, Rate: result.Rate{Completed: 1},
				Errors: []result.Error{{Phase: "connect", Count: 9}}}
		}, "requests of the probe completed in a microsecond"},
		{light, func(r *result.Result) { r.Probe = &result.Probe{Requests: result.Requests{Sent: 1000}} }, "requests of the probe"},
		{light, func(r *result.Result) { r.Probe = &result.Probe{Rate: result.Rate{Sent: 1e6}} }, "requests of the probe in the window"},
		{light, func(r *result.Result) { r.Probe = &result.Probe{Latency: &result.Distribution{Count: 1}} }, "latencies of the probe"},
	} {
		r, m := runs.get(t, c.plan)
		c.lie(m.final.Result)
		r.acceptFinal(m)
		if (m.result != nil) != (c.why == "") || (m.lost == "") != (c.why == "") || !strings.Contains(m.lost, c.why) {
			t.Errorf("lost %q, want %q", m.lost, c.why)
		}
	}
}

// An agent that reports outcomes of checks that cannot be is not believed when its result says the
// same.
func TestPossibleChecks(t *testing.T) {
	for why, lie := range map[string]metric.Outcomes{"checks passed": {Passed: 1 << 30, Failed: 4},
		"4 errors of checks, and 1 failed": {Passed: 32, Failed: 1}} {
		r, m := plannedRuns{}.get(t, func(p *loadplan.Plan) { p.Steps, p.Checks, p.Users = []string{"a", "b"}, []string{"body"}, 8 })
		c := &m.final.Result.Checks[0]
		m.reported.sum.Checks[0], c.Passed, c.Failed = lie, lie.Passed, lie.Failed
		if r.acceptFinal(m); !strings.Contains(m.lost, why) {
			t.Errorf("lost %q, want %q", m.lost, why)
		}
	}
}

// Each number that a final can have has a limit far below what can be written, or is not believed but
// computed again: these are listed.
func TestEveryNumberHasALimit(t *testing.T) {
	again := []string{"Window.Started", "Rate.Offered", "Scenario.Iterations.Rate.Offered", "Generator.Little", "Plan.", "Series", "Host."}
	computed := []string{".Stdev", ".P50", ".P75", ".P90", ".P95", ".P99", ".P999", ".P9999"} // from a histogram
	tried, runs := 0, plannedRuns{}
	for _, change := range []func(*loadplan.Plan){func(*loadplan.Plan) {}, func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(10) },
		func(p *loadplan.Plan) {
			p.Rate, p.Steps, p.Checks = loadplan.RatePerSecond(10), []string{"a", "b"}, []string{"body"}
		}} {
		_, m := runs.get(t, change)
		for i, l := range numberLeaves(reflect.ValueOf(m.final.Result).Elem(), "") {
			ends := func(end string) bool { return strings.HasSuffix(l.name, end) }
			if slices.ContainsFunc(again, func(s string) bool { return strings.HasPrefix(l.name, s) }) ||
				!strings.HasPrefix(l.name, "Routes") && slices.ContainsFunc(computed, ends) {
				continue
			}
			r, m := runs.get(t, change)
			leaf := numberLeaves(reflect.ValueOf(m.final.Result).Elem(), "")[i]
			tried++
			if leaf.v.CanFloat() {
				leaf.v.SetFloat(1e15)
			} else {
				leaf.v.SetInt(1e15)
			}
			if r.acceptFinal(m); m.lost == "" {
				t.Errorf("%s can be 10¹⁵", leaf.name)
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d numbers were tried", tried)
	}
}

// A leaf is a number in a value, by its name there.
type leaf struct {
	name string
	v    reflect.Value
}

func numberLeaves(v reflect.Value, name string) (all []leaf) {
	switch {
	case v.CanInt() || v.CanFloat():
		return []leaf{{name, v}}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return numberLeaves(v.Elem(), name)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			all = append(all, numberLeaves(v.Index(i), name)...)
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				all = append(all, numberLeaves(v.Field(i), strings.TrimPrefix(name+"."+f.Name, "."))...)
			}
		}
	}
	return all
}

// An answer that fails a check is an error with a latency, as one of a wrong status is.
func TestSecondWithFailedChecks(t *testing.T) {
	for count, told := range map[int64]bool{1: true, 2: false} {
		iv := loadresult.Interval{To: time.Second, Sent: 12, Completed: 10, Failed: 2, Latency: sparseOf(t, 10),
			Apart: loadresult.Apart{ErrorLatency: sparseOf(t, 2)}, Status: map[uint16]int64{200: 11, 503: 1}, Failures: []loadresult.Failure{
				{Phase: loadresult.Expect, Kind: "status", Detail: "503", Count: 1}, {Phase: loadresult.Check, Kind: "body", Count: count}}}
		var all reportedSeconds
		err := all.checkSecond(&iv, plausibleMax{sum: 1 << 50, elapsed: 10 * time.Second})
		if (err == nil) != told {
			t.Errorf("%d failed checks: %v", count, err)
		}
	}
}
