package result

import (
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
	"dyno/internal/say"
)

func histogram(digits int, values ...time.Duration) *metric.Histogram {
	h := metric.NewHistogram(digits)
	for _, v := range values {
		h.Record(int64(v))
	}
	return h
}

// closedRun is a run of 1,000 exchanges of 1 to 1,000 µs on 2 connections.
func closedRun() *loadresult.Result {
	plan := loadplan.Plan{
		Target: loadplan.Target{URL: "https://host/a", TLS: true, Host: "host", Port: 443},
		HTTP:   "1.1", Pipeline: 1, Connections: 2, Threads: 1, Ring: "auto",
		Duration: loadplan.Seconds(2 * time.Second), Warmup: loadplan.Seconds(time.Second),
		Timeout: loadplan.Seconds(10 * time.Second), Connecting: loadplan.Seconds(5 * time.Second),
		Expect: []loadplan.Statuses{{From: 200, To: 299}}, CPUs: []int{0},
		TLS: loadplan.TLS{Insecure: true},
		Requests: []loadplan.Request{{Name: "a", Weight: 1, Request: proto.Request{
			Method: "GET", Authority: "host", Path: "/a?token=1", Header: []proto.Field{
				{Name: "authorization", Value: "Basic 1"}, {Name: "Accept", Value: "*/*"},
				{Name: "X-My-Secret", Value: "2"}, {Name: "Proxy-Authorization", Value: "3"},
				{Name: "Cookie", Value: "4"}, {Name: "X-API-Key", Value: "5"},
				{Name: "Csrf-Token", Value: "6"}, {Name: "db_password", Value: "7"},
			}}}, {Name: "b", Weight: 2, Request: proto.Request{Method: "POST", Path: "/b",
			Authority: "host", Body: []byte{0xff}}}},
	}
	total := metric.NewCounters()
	for i := range time.Duration(1000) {
		total.Latency.Record(int64((i + 1) * time.Microsecond))
	}
	total.ErrorLatency.Record(int64(40 * time.Microsecond))
	total.Sent, total.Completed, total.Failed = 1003, 1000, 2
	total.Received, total.Written, total.Status[200], total.Status[404] = 5000, 4000, 1000, 1
	return &loadresult.Result{Plan: plan, Ring: "epoll", Ended: loadresult.ByDuration, Total: total,
		Started: time.Date(2026, 1, 2, 15, 4, 5, 999, time.FixedZone("", 3600)),
		Warmed:  time.Second, Measured: 2 * time.Second, Drained: time.Millisecond, DNS: 3 * time.Millisecond,
		Intervals: []loadresult.Interval{
			{Index: 0, From: 0, To: time.Second, Sent: 600, Completed: 600, InFlight: 2,
				Received: 3000, Written: 2400, LatencyTimes: loadresult.LatencyTimes{Mean: 0.009, P50: 5, P99: 6, Max: 7},
				Heat: metric.Heat{{5, 550}, {6, 50}}, Status: map[uint16]int64{200: 599, 404: 1}},
			{Index: 1, From: time.Second, To: 2 * time.Second, Sent: 403, Completed: 400, Failed: 2},
		},
		Totals: loadresult.Totals{
			ConnectionTotals: loadresult.ConnectionTotals{Opened: 3, Reconnects: 1, Served: 2,
				Connect: histogram(metric.Coarse, time.Microsecond, 3*time.Microsecond)},
			TLSTotals: loadresult.TLSTotals{TLSFull: 2, TLSResumed: 1,
				FullTLS: metric.NewHistogram(metric.Coarse), ResumedTLS: metric.NewHistogram(metric.Coarse)},
			OutageTotals: loadresult.OutageTotals{Outage: 5e8},
			RetryTotals:  loadresult.RetryTotals{Retried: 1}, Warmup: 500, WarmupLost: 3, Unfinished: 1,
			FirstByte: histogram(metric.Coarse, time.Millisecond),
			Failures: []loadresult.Failure{
				{Phase: loadresult.Expect, Kind: "status", Address: "1.2.3.4:443", Detail: "404", Count: 1},
				{Phase: loadresult.Read, Kind: "reset", Address: "1.2.3.4:443", Detail: "reset", Count: 9},
			}},
		Routes: []loadresult.Route{
			{Name: "a", Completed: 999, Failed: 2, Latency: histogram(metric.Coarse, time.Second)},
			{Name: "b", Latency: metric.NewHistogram(metric.Coarse)},
		},
		CPU: 500 * time.Millisecond, Busy: 0.25, GCPauseMax: 70 * time.Microsecond,
		Notices: []fact.Fact{fact.Noticed(fact.PortableRing{Procs: 1, Threads: 2})},
	}
}

func openRun() *loadresult.Result {
	r := closedRun()
	r.Plan.Rate = loadplan.RatePerSecond(500.5)
	r.Total.Service.Merge(histogram(metric.Fine, time.Microsecond))
	r.Lag = histogram(metric.Fine, 20*time.Microsecond, 30*time.Microsecond)
	r.Late, r.LateMax, r.Waiting = 4, int64(5*time.Millisecond), 6
	r.SentAfter, r.CompletedAfter = 203, 200
	return r
}

func from(t *testing.T, r *loadresult.Result) *Result {
	t.Helper()
	out, err := From(r, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFromClosed(t *testing.T) {
	r := from(t, closedRun())
	for _, test := range []struct{ what, got, want any }{
		{"format", r.Format, "dyno.result/1"},
		{"version", r.Dyno, "1.2.3"},
		{"model", r.Model, ClosedLoop},
		{"ended", r.Ended, "duration"},
		{"window", r.Window, Window{Started: time.Date(2026, 1, 2, 14, 4, 5, 999, time.UTC),
			WarmupS: 1, MeasuredS: 2, DrainedS: 0.001, OutageS: 0.5, Rates: RatesEnded}},
		{"requests", r.Requests, Requests{Sent: 1003, Completed: 1000, Errors: 2, Unfinished: 1,
			Retried: 1, Warmup: 500, WarmupLost: 3}},
		{"rate", r.Rate, Rate{Sent: 501.5, Completed: 500, ErrorAnswers: set(0.5)}},
		{"error latency", r.ErrorLatency.Max, 40.0},
		{"mean", r.Latency.Mean, 500.5},
		{"min", r.Latency.Min, 1.0},
		{"max", r.Latency.Max, 1000.0},
		{"service", *r.Service, *r.Latency},
		{"connect", r.Phases.Connect.Mean, 2.0},
		{"dns", r.Phases.DNS.Mean, 3000.0},
		{"tls", r.Phases.TLS, (*Distribution)(nil)},
		{"status", r.Status, map[string]int64{"200": 1000, "404": 1}},
		{"errors", r.Errors[0], Error{"read", "reset", "1.2.3.4:443", "reset", 9, 0, nil, ""}},
		{"bytes", r.Bytes, Bytes{Sent: 4000, Received: 5000}},
		{"points", len(r.Series), 2},
		{"point", r.Series[0], Point{T: 1, Sent: 600, Completed: 600, LatencyTimes: loadresult.LatencyTimes{Mean: 0.009, P50: 5, P99: 6, Max: 7},
			InFlight: 2, Received: 3000, Written: 2400, Status: map[string]int64{"200": 599, "404": 1},
			Heat: metric.Heat{{5, 550}, {6, 50}}}},
		{"silent point", r.Series[1], Point{T: 2, Sent: 403, Completed: 400, Errors: 2}},
		{"route", r.Routes[0], Route{Name: "a", Completed: 999, Errors: 2, Mean: 1e6, P50: 1e6, P90: 1e6, P99: 1e6, Max: 1e6}},
		{"silent route", r.Routes[1], Route{Name: "b"}},
		{"CPU/request", r.Generator.CPUPerRequest, 499.5}, // of 1,001 answers
		{"CPU", r.Generator.CPUPercent, 25.0},
		{"busy", r.Generator.BusyPercent, 25.0},
		{"scenario", r.Generator.ScenarioPercent, (*float64)(nil)},
		{"GC", r.Generator.GCPauseMax, 70.0},
		{"Little", *r.Generator.Little, 0.1251},
		{"ring", r.Generator.Ring, "epoll"},
		{"warnings", r.Warnings, []string{say.Plain(fact.PortableRing{Procs: 1, Threads: 2})}},
		{"open only", r.Requests.Late == nil && r.Rate.Offered == nil, true},
		{"resumed", *r.Connections.TLSResumed, int64(1)},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s: %v, want %v", test.what, test.got, test.want)
		}
	}
}

// Where requests waited for new connections, service time is its own, in the report, in what
// several machines did together, and in exports.
func TestServiceTimeOfAClosedLoop(t *testing.T) {
	run := closedRun()
	if r := from(t, run); r.SentLater() || r.ServiceApart() != nil {
		t.Error("service time is latency, and said to differ")
	}
	run.Total.Service.Merge(run.Total.Latency)
	run.Total.Service.Record(1)
	run.Total.Latency.Record(1e9)
	run.Total.Sent, run.Total.Completed = run.Total.Sent+1, run.Total.Completed+1
	r := from(t, run)
	if !r.SentLater() || r.Service.Min != 0.001 || r.Latency.Max != 1e6 || r.ServiceApart() != r.Service {
		t.Errorf("service time %+v", r.Service)
	}
	m := together(t, halves(func() *loadresult.Result { return run })...)
	if m.Service.Min != 0.001 || m.Service.Count != 2*r.Service.Count || !m.SentLater() {
		t.Errorf("together %+v", m)
	}
}

func TestQuantilesAreThoseOfTheHistogram(t *testing.T) {
	d := from(t, closedRun()).Latency
	h, err := hdrhistogram.Decode([]byte(d.HDR))
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != 1000 || d.Count != 1000 {
		t.Errorf("%d and %d values", h.TotalCount(), d.Count)
	}
	for q, got := range map[float64]float64{50: d.P50, 75: d.P75, 90: d.P90, 95: d.P95, 99: d.P99,
		99.9: d.P999, 99.99: d.P9999} {
		truth := min(10*q, 1000)
		if got < truth*0.999 || got > truth*1.002 {
			t.Errorf("p%v: %v µs, want %v", q, got, truth)
		}
	}
}

func TestFromOpen(t *testing.T) {
	r := from(t, openRun())
	if r.Model != OpenLoop || *r.Rate.Offered != 500.5 || r.Generator.Little != nil {
		t.Errorf("%s, offered %v, Little %v", r.Model, *r.Rate.Offered, r.Generator.Little)
	}
	if *r.Requests.Late != 4 || *r.Requests.LateMax != 5000 || *r.Requests.Waiting != 6 ||
		*r.Requests.Due != 1009 {
		t.Errorf("%+v", r.Requests)
	}
	// 801 answers of the 2 s window and 0.5 s of CPU are its own; the others came after it.
	if *r.Requests.SentAfter != 203 || r.Rate.Sent != 400 || r.Rate.Completed != 400 ||
		r.Generator.CPUPerRequest != 624.22 {
		t.Errorf("%+v, %+v, %+v", r.Requests, r.Rate, r.Generator)
	}
	if *r.Generator.SendLagMax != 30 || *r.Generator.SendLagP99 != 30 {
		t.Errorf("lag %v, %v", *r.Generator.SendLagP99, *r.Generator.SendLagMax)
	}
	if r.Service.Count != 1 || r.Service.Max != 1 {
		t.Errorf("service %+v", *r.Service)
	}
}

func TestFromNothing(t *testing.T) {
	plan := loadplan.DefaultPlan()
	r := from(t, &loadresult.Result{Plan: plan, Ended: loadresult.Unreachable, Cause: "refused"})
	if r.Latency != nil || r.Service != nil || r.Phases != (Phases{}) || r.Rate != (Rate{}) {
		t.Errorf("measured something: %+v", r)
	}
	if r.Status == nil || r.Errors == nil || r.Series == nil || r.Generator.Reasons == nil {
		t.Error("an array or object would be null in JSON")
	}
	if len(r.Generator.Reasons) != 1 || !strings.Contains(r.Generator.Reasons[0], "(refused)") {
		t.Errorf("reasons %q", r.Generator.Reasons)
	}
}

// protocolRun has what only HTTP/2 and FastCGI have.
func protocolRun() *loadresult.Result {
	run := closedRun()
	run.Plan.HTTP, run.Plan.Streams = loadplan.Auto, 100
	run.Protocols, run.Room = map[string]int64{loadplan.HTTP2: 3}, 10
	run.Stderr, run.StderrBytes = []byte("\nit \xff\nhurts"), 5000
	run.Plan.Params = []loadplan.Param{{Name: "APP_SECRET", Value: "1"}, {Name: "APP", Value: "2"}}
	return run
}

func TestFromProtocols(t *testing.T) {
	run := protocolRun()
	r := from(t, run)
	c := r.Connections
	if c.Protocols[loadplan.HTTP2] != 3 || *c.Streams != 10 || len(c.Protocols) != 1 {
		t.Errorf("%+v", c)
	}
	if little := r.Rate.Completed * r.Latency.Mean / 1e6 / 20; math.Abs(*r.Generator.Little-little) > 1e-4 {
		t.Errorf("little %v, want %v", *r.Generator.Little, little)
	}
	if *r.FCGIStderr != (Stderr{"\nit \ufffd\nhurts", 5000}) {
		t.Errorf("stderr %+v", r.FCGIStderr)
	}
	const want = "the application wrote 5,000 bytes to stderr, first: it \ufffd"
	if !slices.Contains(r.Warnings, want) {
		t.Errorf("warnings %q", r.Warnings)
	}
	if p := r.Plan.Params; p[0].Value != "(redacted)" || p[1].Value != "(redacted)" ||
		run.Plan.Params[0].Value != "1" {
		t.Errorf("parameters %+v", p)
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	run := closedRun()
	r := from(t, run)
	for _, f := range r.Plan.Requests[0].Header {
		if secret := f.Name != "Accept"; secret != (f.Value == "(redacted)") {
			t.Errorf("%s: %s", f.Name, f.Value)
		}
	}
	if run.Plan.Requests[0].Header[0].Value != "Basic 1" {
		t.Error("From changed the plan of the run")
	}
}

func TestThisHost(t *testing.T) {
	if h := ThisHost(); h.CPUs < 1 || h.OS != runtime.GOOS || h.Go == "" {
		t.Errorf("%+v", h)
	}
}

// What is but the consequence of another error is behind it, however frequent it is.
func TestCausesFirst(t *testing.T) {
	behind := loadresult.Failure{Phase: loadresult.Read, Kind: loadresult.Behind, Count: 90}
	reset := loadresult.Failure{Phase: loadresult.Read, Kind: "reset", Count: 10}
	broken := loadresult.Failure{Phase: loadresult.Protocol, Kind: "compression", Count: 20}
	got := ""
	for _, e := range NewErrors([]loadresult.Failure{behind, reset, broken}) {
		got += e.Kind + " "
	}
	if got != "compression reset behind " {
		t.Error(got)
	}
}

// The scenario's share of the time is that of the thread in which it took the longest, and none of
// a load without one. It decides what the verdict says of a generator at its limit.
func TestScenarioPercent(t *testing.T) {
	run := closedRun()
	run.Busy, run.Scenario = 0.97, &loadresult.ScenarioTotals{TookMost: int64(1400 * time.Millisecond)}
	r, err := From(run, "test")
	if err != nil || r.Generator.ScenarioPercent == nil || *r.Generator.ScenarioPercent != 70 {
		t.Fatal(err, r.Generator.ScenarioPercent)
	}
	has := func(r *Result, cause Cause) bool {
		return slices.ContainsFunc(r.Generator.Doubts, func(d Doubt) bool { return d.Cause == cause && d.Verdict == ClientBound })
	}
	if !has(r, ScenarioTime) || has(r, Busy) {
		t.Errorf("%q", r.Generator.Reasons)
	}
	run.Scenario.TookMost = int64(100 * time.Millisecond)
	if r, err = From(run, "test"); err != nil || *r.Generator.ScenarioPercent != 5 || has(r, ScenarioTime) || !has(r, Busy) {
		t.Errorf("%v %q", err, r.Generator.Reasons)
	}
}

// Rates, and CPU per request, count what ended in the window: without what came after it, and with
// the answers to requests of the warm-up.
func TestRatesCountWhatEnded(t *testing.T) {
	run := closedRun()
	run.CompletedAfter, run.ErrorsAfter = 200, 1
	run.Total.Early, run.Total.EarlyErrors = 300, 3
	r := from(t, run)
	// 1,000 completed, and one answer was an error, in 2 s of which 0.5 s of CPU was dyno's.
	if r.Rate.Completed != 550 || *r.Rate.ErrorAnswers != 1.5 || r.Requests.WarmupInWindow != 303 {
		t.Errorf("%+v, %v errors/s, %+v", r.Rate, *r.Rate.ErrorAnswers, r.Requests)
	}
	if got, want := r.Generator.CPUPerRequest, 499.5*1001/1103; math.Abs(got-want) > 0.01 {
		t.Errorf("%v µs of CPU for a request, want %v", got, want)
	}
	m := together(t, halves(func() *loadresult.Result { return run })...)
	if m.Rate.Completed != 1100 || m.Window.Rates != RatesEnded || m.Requests.WarmupInWindow != 606 {
		t.Errorf("together: %+v of %+v", m.Rate, m.Requests)
	}
}

// Results of older versions, beside others, are a fact.
func TestRatesApart(t *testing.T) {
	older, newer := &Result{}, &Result{Window: Window{Rates: RatesEnded}}
	if all := []*Result{older, newer, newer}; RatesApart(all[:1]) != nil || RatesApart(all[1:]) != nil ||
		RatesApart(all).Args != (fact.RatesApart{Older: 1, All: 3}) {
		t.Error(RatesApart(all))
	}
	r := from(t, closedRun())
	r.Requests.StepsAfter, r.Requests.FailedAfter = 5, 2
	if all := cautions(r); len(all) != 1 || all[0].Args != (fact.StepsFailedAfter{Steps: 5, Failed: 2}) {
		t.Errorf("%+v", all)
	}
}
