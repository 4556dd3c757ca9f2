package page

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/result/streamed"
)

func set[T any](v T) *T { return &v }

// hostile would run if it were markup, and has letters of many scripts.
const hostile = `<img src=x onerror=alert(1)> & "quoted" 'Ωμέγα 日本 ` + "\u200f" + `עברית'`

// A sampler makes results that look like those of a server: log-normal service times, a slow
// second group, and a pause every twenty seconds.
type sampler struct {
	random *rand.Rand
	held   *heldUp // the generator, if it was
}

// A heldUp is a generator that sends some requests late. What the server does is not changed by it.
type heldUp struct {
	share         float64           // of the requests
	lags, service *metric.Histogram // what it was late by, and what the server took
	late          int64             // that were sent more than 1 ms late
}

func newSampler() *sampler { return &sampler{random: rand.New(rand.NewPCG(1, 2))} }

// request is the latency of a request in ns: what the server takes, and what it was sent late.
func (s *sampler) request(second int) int64 {
	took := s.draw(second)
	if s.held == nil {
		return took
	}
	lag := int64(30e3 * math.Exp(0.3*s.random.NormFloat64()))
	if s.random.Float64() < s.held.share {
		lag = int64(2e6 + 7e6*s.random.Float64())
	}
	if lag > 1e6 {
		s.held.late++
	}
	s.held.lags.Record(lag)
	s.held.service.Record(took)
	return took + lag
}

func (s *sampler) draw(second int) int64 {
	us := 120 * math.Exp(0.35*s.random.NormFloat64())
	if s.random.Float64() < 0.06 {
		us *= 14
	}
	if second%20 == 13 {
		us += 4000 * s.random.Float64()
	}
	return int64(us * 1e3)
}

func (s *sampler) distribution(h *metric.Histogram) *result.Distribution {
	v := h.View()
	at := func(q float64) float64 { return float64(v.Quantile(q)) / 1e3 }
	return &result.Distribution{Count: h.Count, Min: float64(h.Min) / 1e3, Mean: h.Mean() / 1e3, Stdev: v.Stdev() / 1e3,
		P50: at(0.5), P75: at(0.75), P90: at(0.9), P95: at(0.95), P99: at(0.99), P999: at(0.999), P9999: at(0.9999),
		Max: float64(h.Max) / 1e3, HDR: h.EncodeHDR()}
}

// run has so many seconds of so many requests.
func (s *sampler) run(seconds, rate int) *result.Result {
	all := metric.NewHistogram(metric.Fine)
	r := &result.Result{Format: result.Format, ID: "20260102-150405-4f2a", Dyno: "0.1.0", Plan: plan(), Model: result.ClosedLoop,
		Ended: "duration", Host: result.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPU: "Some CPU", CPUs: 4, Go: "go1.26.0"},
		Window: result.Window{Started: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), WarmupS: 1, MeasuredS: float64(seconds), DrainedS: 0.00123},
		Traffic: result.Traffic{Errors: []result.Error{},
			Connections: result.Connections{Asked: 100, Opened: 102, Served: 100, Reconnects: 2}},
		Generator: result.Generator{CPUPerRequest: 2.93, CPUPercent: 97.3, BusyPercent: 48.9, GCPauseMax: 61.2, Ring: "epoll", Threads: 2,
			Little: set(1.001), Verdict: result.OK, Reasons: []string{}}}
	for i := range seconds {
		h := metric.NewHistogram(metric.Fine)
		for range rate {
			h.Record(s.request(i))
		}
		all.Merge(h)
		v := h.View()
		r.Series = append(r.Series, result.Point{T: float64(i + 1), Sent: int64(rate), Completed: h.Count, LatencyTimes: loadresult.LatencyTimes{Mean: h.Mean() / 1e3,
			P50: float64(v.Quantile(0.5)) / 1e3, P99: float64(v.Quantile(0.99)) / 1e3, Max: float64(h.Max) / 1e3},
			InFlight: int64(100 - s.random.IntN(3)), Received: 153 * h.Count, Written: 44 * h.Count,
			Status: map[string]int64{"200": h.Count}, Heat: h.ToSparse().ToHeat()})
	}
	r.Series = append(r.Series, result.Point{T: float64(seconds) + 0.00123})
	n := int64(seconds * rate)
	r.Requests = result.Requests{Sent: n, Completed: n, Retried: 2}
	r.Rate = result.Rate{Sent: float64(rate), Completed: float64(rate)}
	r.Latency = s.distribution(all)
	r.Service = r.Latency
	r.Phases = result.Phases{FirstByte: s.distribution(all), Connect: s.distribution(few(s, 100))}
	r.Status = map[string]int64{"200": n}
	r.Bytes = result.Bytes{Sent: 44 * n, Received: 153 * n}
	return r
}

func few(s *sampler, n int) *metric.Histogram {
	h := metric.NewHistogram(metric.Coarse)
	for range n {
		h.Record(s.draw(0))
	}
	return h
}

func plan() loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Threads, p.Connections = 2, 100
	p.Target = loadplan.Target{URL: "http://127.0.0.1:8080/", Host: "127.0.0.1", Port: 8080}
	p.Requests = []loadplan.Request{{Name: "GET /", Weight: 1,
		Request: proto.Request{Method: "GET", Authority: "127.0.0.1:8080", Path: "/"}}}
	return p
}

// results are one of each kind that there is.
func results(t testing.TB) map[string]*result.Result {
	s := newSampler()
	closed := s.run(60, 500)
	return map[string]*result.Result{"closed": closed, "open": open(s), "failing": failing(s), "watched": watched(t, s),
		"bare": bare(), "short": s.run(2, 5), "fleet": fleet(t), "agents": agents(s),
		"shopping": shopping(s), "checked": checked(s), "streaming": streaming(s)}
}

// fleet is what a fleet of three measured, of which one was killed in the middle.
func fleet(t testing.TB) *result.Result {
	b, err := os.ReadFile("testdata/fleet.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := result.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agents is of a fleet that is larger than what is drawn, of which some did not do well.
func agents(s *sampler) *result.Result {
	const seconds, each = 12, 20
	weights := []int{2, 1, 1}
	r := s.run(seconds, 10*each*4)
	r.Fleet = &result.Fleet{Run: "R", OnAgentLoss: "rebalance", StartSpread: set(812.4), OffsetBound: 61.5, DriftBound: 70.4, Planned: 360, Covered: 354.4,
		Rebalanced: []result.Rebalanced{{After: 7.5, Agents: []string{"web00", hostile}}}}
	for k := range 30 {
		n := int64(each * weights[k%3])
		a := result.Agent{Name: fmt.Sprintf("web%02d", k), Host: r.Host, Weight: weights[k%3], Connections: 4 * weights[k%3], Threads: 2,
			OffsetBound: 35 + float64(k), Late: set(0.25 * float64(k)), Requests: result.Requests{Sent: n * seconds, Completed: n * seconds},
			Covered: seconds, Reports: seconds, Final: true, AddsUp: set(true)}
		switch k {
		case 3:
			a.Name, a.ClockOff, a.Drift = hostile, -10800.25, set(-412.5)
		case 27:
			a.AddsUp = set(false)
		case 28:
			a.Lost, a.LostAfter, a.Final, a.AddsUp = "unheard for 5s "+hostile, set(6.4), false, nil
			a.Late, a.OffsetBound, a.Covered, a.Repeated = nil, 0, 6.4, 3
		case 29:
			a.Name = "a-name-that-is-far-longer-than-what-there-is-room-for-in-any-plot.region-7.internal.example"
		}
		r.Fleet.Agents = append(r.Fleet.Agents, a)
		for i := range seconds {
			p := &r.Series[i]
			p.ByPart = append(p.ByPart, set(n))
			if k == 28 && i >= 6 {
				p.ByPart[k] = nil
			}
		}
	}
	return r
}

// open is an open loop with stages, somewhat late.
func open(s *sampler) *result.Result {
	r := s.run(30, 1500)
	r.Model, r.Plan.Rate, r.Plan.Arrival, r.Plan.Seed = result.OpenLoop, loadplan.RatePerSecond(1000), loadplan.Poisson, 7
	r.Plan.Stages = []loadplan.Stage{{Duration: loadplan.Seconds(10 * time.Second), Rate: loadplan.RatePerSecond(2000)},
		{Duration: loadplan.Seconds(20 * time.Second), Rate: loadplan.RatePerSecond(1500)}}
	r.Requests.Waiting, r.Requests.Late, r.Requests.SentAfter = set(int64(0)), set(int64(37)), set(int64(2))
	r.Requests.LateMax, r.Rate.Offered = set(4100.0), set(1500.0)
	r.Service = s.distribution(few(s, 9000))
	g := &r.Generator
	g.Little, g.SendLagP99, g.SendLagMax, g.Verdict = nil, set(1150.0), set(4080.0), result.Suspect
	g.Reasons = []string{"the generator sent 1 % of the requests more than 1.15 ms late: give it CPUs of its own"}
	g.Arrivals, g.SendLagP50 = &result.Arrivals{Spans: 1200, A2: set(1.7)}, set(12.5)
	g.StopMax, g.SchedulingP99, g.Unscheduled, g.LocalPorts = 120, 8.2, 0.4, 28232
	r.Plan.Probe = loadplan.RatePerSecond(10)
	r.Probe = &result.Probe{Connections: result.Connections{Asked: 2, Opened: 2, Served: 2}, Requests: result.Requests{Sent: 300, Completed: 300},
		Rate: result.Rate{Offered: set(10.0), Sent: 10, Completed: 10}, Latency: s.distribution(few(s, 300)), Service: s.distribution(few(s, 300)),
		Status: map[string]int64{"200": 300}, Errors: []result.Error{}, SendLagP99: set(11.0)}
	r.Connections.TLS = []result.Terms{{Version: "TLS 1.3", Cipher: "TLS_AES_128_GCM_SHA256", Group: "X25519", Count: 102}}
	r.Phases.TLSFull, r.Rate.Handshakes = s.distribution(few(s, 50)), set(3.5)
	r.Objectives = []result.Outcome{{Expr: "p99<20ms", Value: set(r.Latency.P99), Unit: "us", Met: true},
		{Expr: "errors<0.1%", Value: set(0.25), Unit: "percent"}, {Expr: "rps>=10k", Unit: "per_s"}}
	return r
}

// shopping is an open loop of iterations, of which some failed, with a check whose name would like to be markup.
func shopping(s *sampler) *result.Result {
	r := s.run(10, 600)
	r.Model, r.Plan.Rate, r.Plan.Steps, r.Plan.Checks = result.OpenLoop, loadplan.RatePerSecond(200), []string{"list", "put", "buy"}, []string{"price", hostile}
	r.Requests.Late, r.Requests.LateMax, r.Requests.SentAfter = set(int64(0)), set(0.0), set(int64(17))
	r.Generator.Little = nil
	for i := range 10 {
		r.Series[i].Iterations, r.Series[i].IterationsFailed = int64(185+i), int64(i%3)
	}
	times, failed := few(s, 1900), few(s, 60)
	r.Iterations = &result.Iterations{Users: 40, Started: 1970, Completed: times.Count, Failed: failed.Count, Unfinished: 10, Warmup: 200,
		Due: set(int64(2000)), Waiting: set(int64(30)), StartedAfter: set(int64(4)),
		Rate: result.IterationRate{Offered: set(200.0), Started: 196.6, Completed: 189.7}, Time: s.distribution(times), FailedTime: s.distribution(failed)}
	r.Checks = []result.CheckCount{{Name: "price", Passed: 5890, Failed: 2}, {Name: hostile, Passed: 1900, Failed: 58}}
	return r
}

// checked is a run whose responses are checked, without a scenario.
func checked(s *sampler) *result.Result {
	r := s.run(10, 600)
	r.Plan.Checks = []string{"contains:ok", hostile}
	r.Checks = []result.CheckCount{{Name: "contains:ok", Passed: 99_996, Failed: 4}, {Name: hostile, Passed: 7}}
	r.Errors = []result.Error{{Phase: "check", Kind: "contains:ok", Address: "127.0.0.1:8080", Detail: "the answer did not pass the check",
		Count: 4, Sample: "no <b>such</b> order"}}
	return r
}

// streaming is of answers in pieces, with two routes.
func streaming(s *sampler) *result.Result {
	r := s.run(8, 60)
	r.Plan.Stream.Format = "openai"
	first, gap := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	for i := range 480 {
		first.Record(1e3 * s.draw(i/60))
		for range 20 {
			gap.Record(150 * s.draw(i/60))
		}
	}
	r.Stream = &streamed.Stream{Format: "openai", Events: 9608, Counted: 9600, Arrivals: 9500, Tokens: 9600,
		Rate:  streamed.Rate{Events: 1200, Tokens: 1199},
		First: s.distribution(first), Gap: s.distribution(gap), Token: s.distribution(gap)}
	for i := range 8 {
		r.Series[i].StreamTimes = loadresult.StreamTimes{FirstP50US: 120e3, FirstP99US: float64(1500+i) * 1e3, GapP50US: 18e3, GapP99US: 200e3}
		r.Series[i].Events = 1200
		x := streamed.Sample{Due: float64(i), Each: 1}
		for k := range int64(20) {
			x.Arrivals = append(x.Arrivals, 120e3+20e3*k+1000*int64(i))
		}
		r.Stream.Samples = append(r.Stream.Samples, x)
	}
	for _, name := range []string{"POST /chat", hostile} {
		r.Routes = append(r.Routes, result.Route{Name: name, Completed: 240, P50: 150, P90: 300, P99: 2100, Max: 4000, Mean: 190,
			First: &streamed.Times{Count: 240, P50: 120e3, P99: 1.5e6, Max: 2e6}, Gap: &streamed.Times{Count: 4000, P50: 18e3, P99: 2e5, Max: 4e5}})
	}
	return r
}

// failing is client-bound, has several routes, and names that would like to be markup.
func failing(s *sampler) *result.Result {
	r := s.run(10, 800)
	r.Plan.Target.URL = "http://127.0.0.1:8080/" + hostile
	r.Requests = result.Requests{Sent: 9000, Completed: 8000, Errors: 990, Unfinished: 10}
	r.Status = map[string]int64{"200": 7000, "301": 3, "404": 1, "503": 996}
	for i := range 10 {
		r.Series[i].Errors = int64(99 + i)
		r.Series[i].Status = map[string]int64{"200": int64(700 - 10*i), "503": int64(99 + i)}
	}
	r.Series[4].Status = map[string]int64{"200": 640, "301": 3, "404": 1}
	r.Plan.Requests = nil
	for i := range 12 {
		name := []string{"GET /", "POST /a/rather/long/path/that/does/not/fit/anywhere?with=a&query=too", hostile, "GET /日本語"}[i%4]
		r.Plan.Requests = append(r.Plan.Requests, loadplan.Request{Name: name, Weight: i + 1,
			Request: proto.Request{Method: "GET", Authority: "a", Path: "/", Header: []proto.Field{{Name: "X-A", Value: hostile}}, Body: []byte(hostile)}})
		us := 300 * math.Pow(1.4, float64(i))
		r.Routes = append(r.Routes, result.Route{Name: name, Completed: int64(8000 / (i + 1)), Errors: int64(i), Mean: us * 1.1, P50: us,
			P90: us * 1.7, P99: us * 4, Max: us * 20})
	}
	r.Routes = append(r.Routes, result.Route{Name: "never answered", Errors: 1})
	r.Errors = []result.Error{{Phase: "read", Kind: "reset", Address: "127.0.0.1:8080", Detail: "connection reset", Count: 980},
		{Phase: "protocol", Kind: "garbage", Address: "[::1]:8080", Detail: "a status line " + hostile, Count: 10}}
	r.Warnings = []string{"1000 responses (12.50 %) were errors (404, 503): " + hostile, "11.0 % of the requests failed"}
	r.Generator.Verdict, r.Generator.Reasons = result.ClientBound, []string{"the generator was busy 98 % of the time", hostile}
	r.Generator.BusyPercent, r.FCGIStderr = 98.2, &result.Stderr{Text: "PHP Warning: " + hostile, Bytes: 400}
	r.Connections.TLSFull, r.Connections.TLSResumed = set(int64(5)), set(int64(0))
	r.Connections.Protocols = map[string]int64{loadplan.HTTP11: 2, loadplan.HTTP2: 3}
	return r
}

// watched has a server beside it, of which some readings are not to be had, and its profile.
func watched(t testing.TB, s *sampler) *result.Result {
	r := s.run(20, 1000)
	none := probe.Value(math.NaN())
	use := func(name string, pid int, cpu float64) result.Usage {
		v := probe.Value(cpu)
		return result.Usage{Name: name, PID: pid, CPU: v, User: v * 0.6, System: v * 0.4, Wait: v / 10, Percent: v * 3, Memory: 40e6, RSS: 52e6,
			Count: 1, Threads: 9, FDs: 123, Voluntary: 1000, Involuntary: 20, Read: none, Written: 0}
	}
	r.Server = &result.Server{Processes: []result.Usage{use("", 0, 31), use("nginx", 100, 20), use("nginx: worker "+hostile, 101, 12),
		use("nginx: worker", 102, 8), use("app", 200, 11)},
		Host:        probe.HostUse{CPUs: 4, WallS: 20, Busy: 3e10, User: 30, Sys: 21, SoftIRQ: 4, IRQ: none, Steal: 0.1, Self: 2e10, Foreign: 1e9},
		Unavailable: []string{"IRQ time: this kernel does not tell"}}
	r.Profile = &result.Profile{Kind: "cpu", DurationS: 20, Samples: 4242, File: "/somewhere/" + hostile + ".pb.gz"}
	for i, name := range []string{"runtime.futex", "main.(*Server).handle", "syscall.write", hostile} {
		share := 0.4 / float64(i+1)
		r.Profile.Top = append(r.Profile.Top, profile.Line{Function: name, Kernel: i == 2,
			Flat: profile.Part{Value: int64(share * 1e10), Share: share}, Cumulative: profile.Part{Value: int64(2 * share * 1e10), Share: 2 * share}})
	}
	return r
}

// bare is of a run that reached nothing.
func bare() *result.Result {
	r := &result.Result{Format: result.Format, Dyno: "0.1.0", Plan: plan(), Model: result.ClosedLoop, Ended: "unreachable", Cause: "connection refused",
		Traffic: result.Traffic{Status: map[string]int64{},
			Errors: []result.Error{{Phase: "connect", Kind: "refused", Detail: "connection refused", Count: 3}}},
		Series: []result.Point{}}
	r.Generator.Verdict, r.Generator.Reasons = result.Suspect, []string{"nothing was measured"}
	return r
}
