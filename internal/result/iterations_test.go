package result

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/redact"
)

// scenarioRun is closedRun or openRun of ten users who did two steps in each of 505 iterations: 500
// completed, in 2 to 1,001 ms, 3 failed in 5 ms, for 1 wrong status and 2 failed checks, and 2 were
// not over.
func scenarioRun(open bool) *loadresult.Result {
	r := closedRun()
	if open {
		r = openRun()
	}
	r.Plan.Steps, r.Plan.Checks, r.Plan.Users = []string{"a", "b"}, []string{"body", "price"}, 10
	r.Total.Failed, r.Total.Sent = 4, 1005
	r.Total.ErrorLatency.Record(int64(50 * time.Microsecond))
	r.Total.ErrorLatency.Record(int64(50 * time.Microsecond))
	r.Failures = append(r.Failures, loadresult.Failure{Phase: loadresult.Check, Kind: "price",
		Address: "1.2.3.4:443", Detail: "the answer did not pass the check", Count: 2})
	s := &loadresult.ScenarioTotals{Users: 10, Warmup: 7, Started: 505, Completed: 500, Failed: 3,
		Unfinished: 2, Time: metric.NewHistogram(metric.Fine),
		FailedTime: metric.NewHistogram(metric.Fine),
		Checks:     []loadresult.CheckTotals{{Name: "body", Passed: 1000}, {Name: "price", Passed: 498, Failed: 2}}}
	for i := range int64(500) {
		s.Time.Record((2*i + 2) * 1e6)
	}
	for range 3 {
		s.FailedTime.Record(5e6)
	}
	if open {
		s.StartedAfter, s.CompletedAfter = 5, 4
	}
	r.Scenario = s
	r.Intervals[0].Iterations, r.Intervals[0].IterationsFailed = 300, 3
	r.Intervals[1].Iterations = 200
	return r
}

func TestFromIterations(t *testing.T) {
	closed, open := from(t, scenarioRun(false)), from(t, scenarioRun(true))
	c, o := *closed.Iterations, *open.Iterations
	for _, test := range []struct{ what, got, want any }{
		{"users", c.Users, 10},
		{"counts", [4]int64{c.Started, c.Completed, c.Failed, c.Unfinished}, [4]int64{505, 500, 3, 2}},
		{"warm-up", c.Warmup, int64(7)},
		{"rate", c.Rate, IterationRate{Started: 252.5, Completed: 250}},
		{"time", [3]float64{c.Time.Min, c.Time.Mean, c.Time.Max}, [3]float64{2e3, 501e3, 1000e3}},
		{"median", c.Time.P50 > 497e3 && c.Time.P50 < 503e3, true},
		{"failed time", [2]float64{float64(c.FailedTime.Count), c.FailedTime.P99}, [2]float64{3, 5e3}},
		{"open only", c.Due == nil && c.Waiting == nil && c.StartedAfter == nil, true},
		{"idle by design", closed.Generator.Little, (*float64)(nil)},
		{"checks", closed.Checks, []CheckCount{{"body", 1000, 0}, {"price", 498, 2}}},
		{"offered", *o.Rate.Offered, 500.5},
		{"offered, of whichever", *open.Offered(), 500.5},
		{"rate in the window", [2]float64{o.Rate.Started, o.Rate.Completed}, [2]float64{250, 248}},
		{"due", [3]int64{*o.Due, *o.Waiting, *o.StartedAfter}, [3]int64{511, 6, 5}},
		{"of requests", open.Requests.Due == nil && open.Requests.Waiting == nil &&
			open.Rate.Offered == nil, true},
		{"steps sent after", *open.Requests.SentAfter, int64(203)},
		{"checked", Check(closed), error(nil)},
		{"checked, open", Check(open), error(nil)},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s: %v, want %v", test.what, test.got, test.want)
		}
	}
	if share, ok := open.InTime(); !ok || share != 500.0/511 {
		t.Errorf("begun in time: %v, %v", share, ok)
	}
	if _, ok := closed.InTime(); ok {
		t.Error("in a closed workload nothing is due at a time")
	}
}

// With one step and no checks an iteration is a request, and nothing is written twice.
func TestIterationsOfOneStep(t *testing.T) {
	for _, c := range []struct {
		steps, checks []string
		apart         bool
	}{
		{[]string{"a"}, nil, false},
		{[]string{"a"}, []string{"body"}, true},
		{[]string{"a", "b"}, nil, true},
	} {
		run := scenarioRun(true)
		run.Plan.Steps, run.Plan.Checks = c.steps, c.checks
		run.Scenario.Checks = run.Scenario.Checks[:len(c.checks)]
		r := from(t, run)
		apart := r.Iterations != nil
		if apart != c.apart || (r.Requests.Due == nil) != c.apart || (r.Rate.Offered == nil) != c.apart ||
			len(r.Checks) != len(c.checks) {
			t.Errorf("%d steps, %d checks: %+v, due %v, %v", len(c.steps), len(c.checks), r.Iterations,
				r.Requests.Due, r.Checks)
		}
	}
}

// What is judged of a load that was asked for in iterations does not compare them with requests.
func TestIterationsAreNotRequests(t *testing.T) {
	reasons := func(r *Result) string {
		return strings.Join(append(r.Generator.Reasons, r.Warnings...), "\n")
	}
	closed := func(served int, opened int64) func(r *loadresult.Result) {
		return func(r *loadresult.Result) { r.Plan.Rate, r.Served, r.Opened = 0, served, opened }
	}
	for what, c := range map[string]struct {
		change func(r *loadresult.Result)
		say    string
		want   bool
	}{
		"later steps belong behind the window": {func(r *loadresult.Result) {
			r.Waiting, r.Scenario.StartedAfter, r.Scenario.CompletedAfter = 0, 0, 0
		}, "after the window, where", false},
		"none is begun behind it": {func(r *loadresult.Result) { r.Waiting = 0 }, "never begun, and 5 were begun only",
			false}, // 5 of 505 are below 1 %
		"some are never begun": {func(r *loadresult.Result) { r.Outage = 0 }, "6 iterations were due but never begun, and 5 were begun " +
			"only after the window: all 10 users or all 2 connections were busy", true},
		"no answer was why connections could not be opened": {func(*loadresult.Result) {}, "the window (reset): requests that were due", true},
		"that is a doubt":                      {func(*loadresult.Result) {}, "1.17 % of the iterations due were never begun", true},
		"users who think need few connections": {closed(1, 3), "connections never", false},
		"those that were never opened":         {closed(1, 2), "1 of 2 connections could not be opened", true},
		"failed checks are named":              {func(*loadresult.Result) {}, `: status 404; check "price" failed`, true},
	} {
		run := scenarioRun(true)
		run.Total.Sent, run.Total.Failed = run.Total.Sent+20, run.Total.Failed+20 // above a hundredth
		for range 20 {
			run.Total.ErrorLatency.Record(1)
		}
		run.Failures[0].Count += 20
		c.change(run)
		r := from(t, run)
		if got := strings.Contains(reasons(r), c.say); got != c.want {
			t.Errorf("%s: %q is there: %v\n%s", what, c.say, got, reasons(r))
		}
	}
	run := scenarioRun(false)
	run.Plan.Requested, run.Plan.Duration, run.Ended = 505, 0, loadresult.Gone
	if share := from(t, run).Unavailable(); share != 0 {
		t.Errorf("all 505 iterations were begun, and %v of the load was not applied", share)
	}
}

// Users of several generators are those of one.
func TestIterationsTogether(t *testing.T) {
	plan := scenarioRun(true).Plan
	plan.Connections, plan.Threads, plan.CPUs, plan.Users = 6, 3, []int{0, 1, 2}, 30
	whole := scenarioRun(true)
	whole.Plan = plan
	var all []*loadresult.Result
	for _, p := range plan.Split(3) {
		part := scenarioRun(true)
		part.Plan = p
		for i := range int64(100 * p.Part) { // each part has iterations of its own length
			part.Scenario.Time.Record(i * 1e5)
			part.Scenario.Started++
			part.Scenario.Completed++
		}
		if p.Part > 0 {
			s, more := whole.Scenario, part.Scenario
			s.Users += more.Users
			s.Warmup += more.Warmup
			s.Started, s.Completed = s.Started+more.Started, s.Completed+more.Completed
			s.Failed, s.Unfinished = s.Failed+more.Failed, s.Unfinished+more.Unfinished
			s.StartedAfter += more.StartedAfter
			s.CompletedAfter += more.CompletedAfter
			s.Time.Merge(more.Time)
			s.FailedTime.Merge(more.FailedTime)
			for i := range s.Checks {
				s.Checks[i].Passed += more.Checks[i].Passed
				s.Checks[i].Failed += more.Checks[i].Failed
			}
			whole.Waiting += part.Waiting
		}
		all = append(all, part)
	}
	got, want := together(t, all...), written(t, from(t, whole))
	if !reflect.DeepEqual(got.Scenario, want.Scenario) {
		t.Errorf("%+v of %+v\nwant %+v of %+v", *got.Iterations, got.Checks, *want.Iterations, want.Checks)
	}
	if p := got.Series; p[0].Iterations != 900 || p[0].IterationsFailed != 9 || p[1].Iterations != 600 {
		t.Errorf("seconds %+v", p)
	}
}

// A result whose iterations contradict each other was not written by dyno.
func TestIterationsThatCannotBe(t *testing.T) {
	for want, c := range map[string]struct {
		change func(r *Result)
		sums   bool // so a part of it is refused
	}{
		"not 501 completed":        {func(r *Result) { r.Iterations.Completed++ }, true},
		"not so many times":        {func(r *Result) { r.Iterations.FailedTime = nil }, true},
		"hdr has 500 values":       {func(r *Result) { r.Iterations.Time.Count++ }, true},
		"iterations.due is 512":    {func(r *Result) { *r.Iterations.Due++ }, false},
		"506 began after":          {func(r *Result) { *r.Iterations.StartedAfter = 506 }, false},
		"a count is below 0":       {func(r *Result) { r.Iterations.Warmup = -1 }, false},
		"iterations.rate is":       {func(r *Result) { r.Iterations.Rate.Completed = 1e15 }, false},
		"check price: -1 is below": {func(r *Result) { r.Checks[1].Failed = -1 }, false},
		"there are 1 checks":       {func(r *Result) { r.Checks = r.Checks[:1] }, false},
		"checks and no iterations": {func(r *Result) { r.Iterations = nil }, false},
		"and the plan has no scenario": {func(r *Result) {
			r.Plan.Steps, r.Plan.Checks, r.Checks = nil, nil, nil
		}, false},
		"requests have what iterations have": {func(r *Result) { r.Rate.Offered = set(1.0) }, false},
		"percentiles do not ascend":          {func(r *Result) { r.Iterations.Time.P90 = 0 }, false},
	} {
		r := written(t, from(t, scenarioRun(true)))
		c.change(r)
		if err := Check(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err := r.CheckSums(); (err != nil) != c.sums {
			t.Errorf("%s: the sums say %v", want, err)
		}
	}
}

// Names of steps and checks may be paths, with what is secret in them.
func TestScenarioIsRedacted(t *testing.T) {
	run := scenarioRun(false)
	const secret = "s3cr3t-0123456789"
	step, check := "GET /a?token="+secret, "GET /b?password="+secret
	run.Plan.Steps, run.Plan.Checks = []string{step, "b"}, []string{"body", check}
	run.Routes[0].Name, run.Scenario.Checks[1].Name, run.Failures[2].Kind = step, check, check
	r := from(t, run)
	if err := r.RestorePlan(run.Plan, redact.PlainMark); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), secret) {
		t.Errorf("it is in %s", b.String())
	}
	for _, name := range []string{r.Plan.Steps[0], r.Routes[0].Name, r.Plan.Checks[1], r.Checks[1].Name} {
		if !strings.Contains(name, redact.Plain) {
			t.Errorf("%q has no mark", name)
		}
	}
	if !slices.ContainsFunc(r.Errors, func(e Error) bool { return e.Kind == r.Checks[1].Name }) {
		t.Errorf("no error has the name of its check: %+v", r.Errors)
	}
}

// shopping is a scenario of two steps, each with a check of its own.
type shopping struct{}

func (shopping) Want() proto.Want { return proto.Want{Body: 16} }
func (shopping) Make(scenario.Share) (scenario.Scenario, error) {
	return shopping{}, nil
}

func (shopping) Start(u *scenario.User) scenario.Step {
	u.State = 0
	return scenario.Step{Message: proto.Message{Request: 0}}
}

func (shopping) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	bought := u.State.(int)
	if r.Check(bought, string(r.Body) == "7"); bought == 1 {
		return scenario.End()
	}
	u.State = bought + 1
	return scenario.Step{Message: proto.Message{Request: 1}, Route: 1}
}

// What a run over a socket counts is in the result, and is valid there.
func TestIterationsOfARun(t *testing.T) {
	lists, buys := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/buy" {
			lists++
		} else if buys++; buys%10 == 0 {
			w.Write([]byte("8"))
			return
		}
		w.Write([]byte("7"))
	}))
	defer server.Close()
	at, _ := url.Parse(server.URL)
	port, _ := strconv.Atoi(at.Port())
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: server.URL + "/", Host: "127.0.0.1", Port: uint16(port)}
	p.Scenario, p.Steps, p.Checks = shopping{}, []string{"list", "buy"}, []string{"price", "receipt"}
	p.Connections, p.Threads, p.Users, p.Requested, p.Duration = 1, 1, 3, 40, 0
	for _, path := range []string{"/list", "/buy"} {
		p.Requests = append(p.Requests, loadplan.Request{Name: path, Weight: 1, Request: proto.Request{
			Method: "GET", Authority: at.Host, Path: path}})
	}
	run, err := load.Run(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	server.Close() // afterwards nobody counts
	r := from(t, run)
	i := r.Iterations
	if i == nil || i.Users != 3 || i.Started != 40 || i.Completed != 36 || i.Failed != 4 || i.Unfinished != 0 ||
		i.Time.Count != 36 || i.FailedTime.Count != 4 {
		t.Fatalf("%+v", i)
	}
	if want := []CheckCount{{"price", 40, 0}, {"receipt", 36, 4}}; !slices.Equal(r.Checks, want) {
		t.Errorf("checks %v", r.Checks)
	}
	if r.Requests.Sent != 80 || lists != 40 || buys != 40 || r.Requests.Errors != 4 || r.wrongAnswers() != 4 {
		t.Errorf("%+v, the server had %d and %d", r.Requests, lists, buys)
	}
	if err := Check(r); err != nil {
		t.Error(err)
	}
}

// Of a server that was gone for a part of the window, most of what was not sent is its fault if in that part as much was due
// as half of it.
func TestWasGone(t *testing.T) {
	for outage, want := range map[float64]bool{0: false, 2.5: false, 2.9: false, 3: true, 9: true} {
		waiting := int64(600)
		r := &Result{Requests: Requests{Sent: 400, Waiting: &waiting}, Window: Window{MeasuredS: 10, OutageS: outage}}
		if got := r.WasGone(); got != want {
			t.Errorf("for %v of 10 s: %v", outage, got)
		}
	}
}
