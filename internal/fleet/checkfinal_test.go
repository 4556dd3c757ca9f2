package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// plannedRun is a run of 4 s of one agent, which has said its last word 1 s after it: 40 requests, of which
// 4 were answered with an error. change makes another of the usual plan.
func plannedRun(t *testing.T, change func(*loadplan.Plan)) (*fleetRun, *member) {
	t.Helper()
	p := loadplan.DefaultPlan()
	p.Target.Host, p.Target.URL, p.Connections, p.Threads = "127.0.0.1", "http://127.0.0.1/", 4, 2
	p.Requests, p.Duration = []loadplan.Request{{Weight: 1, Name: "a"}, {Weight: 1, Name: "b"}}, loadplan.Seconds(4*time.Second)
	change(&p)
	m := newMember(FoundAgent{Name: "a", Hello: wire.Hello{Host: result.Host{CPUs: 2}}})
	r := &fleetRun{Controller: &Controller{}, members: []*member{m}, clock: clock{origin: time.Now().Add(-time.Hour)},
		plan: p, runPhase: runPhase{armed: true}, together: newReports(t)}
	m.part, m.reportedAt = p, int64(5*time.Second)+int64(p.Warmup)
	out := &loadresult.Result{Ended: loadresult.ByDuration, Measured: 4 * time.Second, Warmed: time.Duration(p.Warmup),
		Drained: time.Second / 2, CPU: time.Second, Ring: "epoll", Totals: loadresult.NewTotals()}
	out.Opened, out.Reconnects, out.Served, out.Protocols = 6, 2, 4, map[string]int64{loadplan.HTTP11: 6}
	out.Connect.Record(1e6)
	out.FirstByte.Record(1e6)
	if p.Requested > 0 {
		out.Ended = loadresult.ByRequests
	}
	for _, name := range []string{"a", "b"} {
		out.Routes = append(out.Routes, loadresult.Route{Name: name, Completed: 18, Failed: 2, Latency: out.Connect})
	}
	for i := range 4 {
		second := plannedSecond(i, p)
		if err := checkSecond(r.together.Tally(0), &second, r.currentMax()); err != nil {
			t.Fatal(err)
		}
		r.together.Add(0, second)
	}
	out.Failures = []loadresult.Failure{{Phase: loadresult.Expect, Kind: "status", Detail: "503", Count: 4}}
	if len(p.Steps) > 0 {
		addUsers(out)
	}
	m.final = &wire.Final{Threads: 2, Result: new(loadresult.Result)}
	if err := json.Unmarshal(wire.Encode(out.Told()), m.final.Result); err != nil {
		t.Fatal(err)
	}
	return r, m
}

// plannedSecond is a second of 10 requests.
func plannedSecond(i int, p loadplan.Plan) loadresult.Interval {
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
	return iv
}

// addUsers makes the run that of 8 users, who did two steps in each of 20 iterations: 15 completed, 3
// failed and 2 were not over. Its errors are those of a check.
func addUsers(out *loadresult.Result) {
	out.Scenario = loadresult.NewScenarioTotals(nil)
	out.Scenario.Users, out.Scenario.Started, out.Scenario.Unfinished = 8, 20, 2
	for range 3 {
		out.Scenario.FailedTime.Record(1e8)
	}
	out.Failures = []loadresult.Failure{{Phase: loadresult.Check, Kind: "body", Count: 4}}
}

// What is only in an agent's final adds up to its reports, is within its order, and is no more than
// anybody can count.
func TestCheckFinal(t *testing.T) {
	closed := func(*loadplan.Plan) {}
	open := func(p *loadplan.Plan) { p.Rate, p.Warmup = loadplan.RatePerSecond(10), loadplan.Seconds(time.Second) }
	some := func(p *loadplan.Plan) { p.Duration, p.Requested = 0, 40 }
	few := func(p *loadplan.Plan) { p.Duration, p.Requested, p.Rate = 0, 40, loadplan.RatePerSecond(0.1) }
	users := func(p *loadplan.Plan) { p.Steps, p.Checks, p.Users = []string{"a", "b"}, []string{"body"}, 8 }
	openUsers := func(p *loadplan.Plan) { open(p); users(p) }
	onlyChecks := func(p *loadplan.Plan) { p.Checks = []string{"body"} }
	someUsers := func(p *loadplan.Plan) { users(p); p.Duration, p.Requested = 0, 20 }
	light := func(p *loadplan.Plan) { p.Probe = loadplan.RatePerSecond(5) }
	probe := func(sent int64) *loadresult.Result {
		x := &loadresult.Result{Total: metric.NewCounters()}
		x.Total.Sent, x.Unfinished = sent, sent
		return x
	}
	type counted = loadresult.Result
	for _, c := range []struct {
		plan func(*loadplan.Plan)
		lie  func(*counted)
		why  string
	}{
		{closed, func(*counted) {}, ""}, {open, func(*counted) {}, ""}, {some, func(*counted) {}, ""},
		{users, func(*counted) {}, ""}, {openUsers, func(*counted) {}, ""}, {someUsers, func(*counted) {}, ""},
		{onlyChecks, func(*counted) {}, ""},
		{open, func(r *counted) { r.Warmup = 10 }, ""},
		{few, func(r *counted) { r.Measured = 400 * time.Second }, ""}, // the 41st would be due then
		{light, func(r *counted) { r.Probe = probe(20) }, ""},
		{closed, func(r *counted) { r.Probe = probe(1e9) }, ""}, // which nobody wanted, and nobody reads
		{users, func(r *counted) {
			r.Failures = append(r.Failures, loadresult.Failure{Phase: loadresult.Check, Kind: loadresult.Refused, Count: 7})
		}, ""},

		// No sum of its reports.
		{closed, func(r *counted) { r.Unfinished = 1 }, "does not add up to its reports: part 1 does not add up: 40 requests are not"},
		{closed, func(r *counted) { r.Opened = -1 }, "does not add up"},
		{closed, func(r *counted) { r.Total = metric.NewCounters() }, "what its reports tell"},
		{closed, func(r *counted) { r.Connect = metric.NewHistogram(metric.Fine) }, "a histogram is of another kind"},
		{closed, func(r *counted) { r.Failures[0].Count = 5 }, "5 answers were errors, and 4 have a latency"},
		{users, func(r *counted) { r.Scenario.Started = 21 }, "21 iterations are not 15 completed, 3 failed and 2 unfinished"},
		{users, func(r *counted) { r.Scenario.FailedTime = nil }, "have not so many times"},
		{users, func(r *counted) { r.Scenario = nil }, "has no iterations"},
		{open, func(r *counted) { r.Waiting, r.Waited[20] = 1, 3 }, "requests.waited"},

		// Not within its order.
		{some, func(r *counted) { r.Measured = 6 * time.Second }, "is of 6s"},
		{few, func(r *counted) { r.Measured = 1000 * time.Second }, "is of 16m40s"},
		{closed, func(r *counted) { r.Measured = 3 * time.Second }, "went on for all 4s"},
		{closed, func(r *counted) { r.Measured = 1e15 }, "and the load was shorter"},
		{closed, func(r *counted) { r.Warmed = time.Second }, "and the load was shorter"},
		{closed, func(r *counted) { r.Drained = time.Hour }, "and the load was shorter"},
		{closed, func(r *counted) { r.Ended = loadresult.Interrupted }, "nobody had it end"},
		{closed, func(r *counted) { r.Ended = loadresult.Aborted }, "nobody had it end"},
		{closed, func(r *counted) { r.Ended = loadresult.Faulted }, "a script ended its load"},
		{closed, func(r *counted) { r.Ended = "tired" }, "a way that there is not"},
		{open, func(r *counted) { r.Waiting = 1e9 }, "1000000040 requests or iterations due, and its order was of 113"},
		{open, func(r *counted) { r.Warmup = 1000 }, "1000 requests before the window, and its order was of 52"},
		{closed, func(r *counted) { r.Warmup = 1 }, "1 requests before the window, and its order was of 0"},
		{closed, func(r *counted) { r.Served = 5 }, "5 connections that served, and its order was of 4"},
		{closed, func(r *counted) { r.Routes = make([]loadresult.Route, 100) }, "100 routes that are not the plan's 2"},
		{closed, func(r *counted) { r.Routes[1].Name = "c" }, "2 routes that are not the plan's 2"},
		{closed, func(r *counted) { r.Routes = r.Routes[:1] }, "1 routes that are not the plan's 2"},
		{closed, func(r *counted) { slices.Reverse(r.Routes) }, "2 routes that are not the plan's 2"},
		{closed, func(r *counted) { r.Routes = nil }, ""},
		{closed, func(r *counted) { r.Routes[0].Latency = nil }, ""}, // there was no room for it
		{closed, func(r *counted) { r.RedirectsTo = []loadresult.OriginTotals{{Origin: "https://x"}} }, "redirects to an origin"},
		{users, func(r *counted) { r.Scenario.Measures = []metric.Named{{Name: "x"}} }, "what a script counted"},
		{closed, func(r *counted) { r.Protocols[strings.Repeat("x", 2000)] = 1 }, "a name of it is longer"},
		{users, func(r *counted) { r.Scenario.Users = 9 }, "9 users, and its order was of 8"},
		{openUsers, func(r *counted) { r.Waiting = 1e9 }, "1000000020 requests or iterations due"},
		{someUsers, func(r *counted) { r.Scenario.Started, r.Scenario.Unfinished = 21, 3 }, "21 requests or iterations, and its order was of 20"},
		{light, func(r *counted) { r.Probe = probe(1000) }, "1000 requests of the probe"},

		// More than anybody counts, or reads.
		{closed, func(r *counted) { r.Opened = 1 << 62 }, "nobody can count up to"},
		{closed, func(r *counted) { r.Retried = math.MaxInt64 }, "nobody can count up to"},
		{closed, func(r *counted) { r.Connect.Max = 1 << 62 }, "nobody can count up to"},
		{closed, func(r *counted) { r.Busy = 1e300 }, "nobody can count up to"},
		{closed, func(r *counted) { r.Failures[0].Phase = "x" }, "a failure in the phase"},
		{closed, func(r *counted) {
			for i := range failureKindsMax + 10 {
				r.Failures = append(r.Failures, loadresult.Failure{Phase: loadresult.Connect, Address: fmt.Sprint(i)})
			}
		}, "ways to fail"},
		{closed, func(r *counted) { r.Notices = slices.Repeat([]fact.Fact{fact.Noticed(fact.ShareLate{})}, 1000) }, "a list of it is longer"},
	} {
		r, m := plannedRun(t, c.plan)
		c.lie(m.final.Result)
		r.acceptFinal(m)
		untimed := m.counted != nil && m.counted.Untimed() > 0
		if untimed != (m.result != nil && slices.ContainsFunc(m.result.WarningFacts(), isUntimed)) {
			t.Error("routes without latency are not told")
		}
		if (m.result != nil) != (c.why == "") || (m.lost == "") != (c.why == "") || !strings.Contains(m.lost, c.why) {
			t.Errorf("lost %q, want %q", m.lost, c.why)
		}
	}
}

func isUntimed(f fact.Fact) bool { return f.Kind() == fact.RoutesUntimed{}.Kind() }

// Each number that a final can have has a limit, far below what sums can hold.
func TestEveryNumberHasALimit(t *testing.T) {
	open := func(p *loadplan.Plan) {
		p.Rate, p.Steps, p.Checks = loadplan.RatePerSecond(10), []string{"a", "b"}, []string{"body"}
	}
	r, m := plannedRun(t, open)
	n := len(numberLeaves(reflect.ValueOf(m.final.Result).Elem(), ""))
	for i := range n {
		x := *m.final.Result
		var again loadresult.Result
		if err := json.Unmarshal(wire.Encode(&x), &again); err != nil {
			t.Fatal(err)
		}
		leaf := numberLeaves(reflect.ValueOf(&again).Elem(), "")[i]
		if leaf.v.CanFloat() {
			leaf.v.SetFloat(1e19)
		} else {
			leaf.v.SetInt(1 << 62)
		}
		one := &member{name: "a", part: m.part, hello: m.hello, clockState: m.clockState}
		one.reportedAt, one.final = m.reportedAt, &wire.Final{Result: &again}
		if r.acceptFinal(one); one.lost == "" {
			t.Errorf("%s has no limit", leaf.name)
		}
	}
	if n < 300 {
		t.Errorf("%d numbers were tried", n)
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
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
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
		err := checkSecond(new(loadresult.Tally), &iv, plausibleMax{sum: 1 << 50, elapsed: 10 * time.Second})
		if (err == nil) != told {
			t.Errorf("%d failed checks: %v", count, err)
		}
	}
}
