package load

import (
	"bytes"
	"io"
	"math"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/transport"
)

// Everything here happens in virtual time: what is expected is computed, and
// met exactly.

const (
	us = int64(time.Microsecond)
	ms = int64(time.Millisecond)
	s  = int64(time.Second)
)

var hello = []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

// simPlan is a plan for a simulated server.
func simPlan(change func(p *loadplan.Plan)) loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://sim/", Host: "127.0.0.1", Port: 80}
	p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET", Authority: "sim", Path: "/"}}}
	p.Connections, p.Threads = 1, 1
	if change != nil {
		change(&p)
	}
	return p
}

// simulate runs a plan on a simulated server.
func simulate(t testing.TB, p loadplan.Plan, sim ring.Ring) *loadresult.Result {
	t.Helper()
	return simulateWith(t, p, func(*gate) ring.Ring { return sim })
}

// simulateWith is simulate of a ring that has to do with the gate.
func simulateWith(t testing.TB, p loadplan.Plan, sim func(*gate) ring.Ring) *loadresult.Result {
	t.Helper()
	return simulateAt(t, p, []ring.Addr{{Unix: "simulated"}}, sim)
}

// simulateAt is simulateWith of a server with these addresses.
func simulateAt(t testing.TB, p loadplan.Plan, addrs []ring.Addr, sim func(*gate) ring.Ring) *loadresult.Result {
	t.Helper()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	r := &run{plan: p, threads: 1, result: &loadresult.Result{Plan: p},
		reports: make(chan workerReport, 1000), emptyCounters: make(chan *metric.Counters, 4), gate: newGate(1)}
	protocol, err := transport.NewProtocols(&p)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorker(&p, sim(r.gate), addrs, protocol, r.gate, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.addOutposts(simOrigins(t, &p)); err != nil {
		t.Fatal(err)
	}
	w.publish = func(s *metric.Counters) *metric.Counters {
		r.reports <- workerReport{Counters: s}
		return metric.NewCounters()
	}
	go func() {
		err := w.runLoop()
		r.reports <- workerReport{worker: w, err: err}
	}()
	if err := r.collectIntervals(); err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, r.result)
	return r.result
}

// checkAccounts is what must be true of every result.
func checkAccounts(t testing.TB, r *loadresult.Result) {
	t.Helper()
	x := r.Total
	if x.Sent != x.Completed+x.Failed+r.Unfinished {
		t.Errorf("sent %d != completed %d + failed %d + unfinished %d",
			x.Sent, x.Completed, x.Failed, r.Unfinished)
	}
	if x.Latency.Count != x.Completed {
		t.Errorf("%d latencies of %d completed", x.Latency.Count, x.Completed)
	}
	answers := int64(0)
	for _, n := range x.Status {
		answers += n
	}
	if answers != x.Latency.Count+x.ErrorLatency.Count {
		t.Errorf("%d answers have %d latencies and %d of errors", answers, x.Latency.Count,
			x.ErrorLatency.Count)
	}
	if i := r.Scenario; i != nil && (i.Started != i.Completed+i.Failed+i.Unfinished ||
		i.Time.Count != i.Completed || i.FailedTime.Count != i.Failed) {
		t.Errorf("iterations do not add up: %+v", i)
	}
	if i := r.Scenario; i != nil {
		for k, c := range i.Checks {
			if n := x.Checks[k]; n.Passed != c.Passed || n.Failed != c.Failed {
				t.Errorf("check %s: intervals add up to %+v, the total is %+v", c.Name, n, c)
			}
		}
		if r.Plan.CountsIterations() && (x.IterationTime.Count != i.Completed || x.IterationTime.Sum != i.Time.Sum) {
			t.Errorf("intervals have the times of %d iterations, want %d", x.IterationTime.Count, i.Completed)
		}
	}
	var sent, done int64
	for _, iv := range r.Intervals {
		sent, done = sent+iv.Sent, done+iv.Completed
	}
	if sent != x.Sent || done != x.Completed {
		t.Errorf("intervals add up to %d sent, %d completed; the total is %d, %d",
			sent, done, x.Sent, x.Completed)
	}
}

// steady answers every request after the same time.
func steady(after int64) *ring.Sim {
	return &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Reply(after, hello) }}
}

func quantile(h *metric.Histogram, q float64) int64 { return h.View().Quantile(q) }

// near is within what a fine histogram can tell apart.
func near(got, want int64) bool {
	return math.Abs(float64(got-want)) <= float64(want)/1000+1
}

// The published complaint: 1,000/s on 100 connections, the server answers
// nothing for 1 s in every 10 s, and tools report a p99 of 10 ms. In truth a
// tenth of the requests wait from 0 to 1 s.
func TestStall(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Rate, p.Connections = loadplan.RatePerSecond(1000), 100
		p.Duration = loadplan.Seconds(20 * s)
	})
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Reply(stallLeft(p.Now()), hello) }})
	l, v := r.Total.Latency, r.Total.Service
	if r.Total.Sent != 20_000 || r.Total.Completed != 20_000 || r.Waiting != 0 {
		t.Errorf("sent %d, completed %d, waiting %d", r.Total.Sent, r.Total.Completed, r.Waiting)
	}
	// Of 10,000 requests the 1,000 due in the stall wait 1000, 999, … 1 ms.
	if want := 1000 * 1001 / 2 * ms / 10_000; int64(l.Mean()) != want {
		t.Errorf("mean latency %d ns, want %d", int64(l.Mean()), want)
	}
	for q, want := range map[float64]int64{0.5: 0, 0.9: 0, 0.99: 900 * ms, 0.999: 990 * ms, 1: 1000 * ms} {
		if got := quantile(l, q); !near(got, want) {
			t.Errorf("p%v of latency %d ns, want %d", q*100, got, want)
		}
	}
	// 100 connections are sent on; the other 900 leave when the stall is over.
	if want := (1000 + 901) * 100 / 2 * ms / 10_000; int64(v.Mean()) != want {
		t.Errorf("mean service time %d ns, want %d", int64(v.Mean()), want)
	}
	if r.Lag.Max != 0 {
		t.Errorf("send lag %d ns in virtual time", r.Lag.Max)
	}
	if r.Late != 2*899 || r.LateMax != 900*ms { // the one due 1 ms before the end is not late by more than 1 ms
		t.Errorf("%d sent late, worst %d ns", r.Late, r.LateMax)
	}
}

func TestClosedLoop(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 7, loadplan.Seconds(3*s) })
	r := simulate(t, p, steady(10*ms))
	if r.Total.Completed != 7*300 || r.Ended != loadresult.ByDuration || r.Unfinished != 0 {
		t.Errorf("%d completed, ended by %s, %d unfinished", r.Total.Completed, r.Ended, r.Unfinished)
	}
	if l := r.Total.Latency; l.Min != 10*ms || l.Max != 10*ms {
		t.Errorf("latency %d to %d ns", l.Min, l.Max)
	}
	if r.Measured != 3*time.Second || len(r.Intervals) != 4 || r.Intervals[1].Completed != 700 {
		t.Errorf("measured %v in %d intervals: %+v", r.Measured, len(r.Intervals), r.Intervals)
	}
	if r.Served != 7 || r.Opened != 7 || r.Reconnects != 0 {
		t.Errorf("%d served, %d opened, %d reconnects", r.Served, r.Opened, r.Reconnects)
	}
}

func TestExactCount(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Requested, p.Duration = 7, 12345, 0 })
	sim := steady(ms)
	arrived := int64(0)
	answer := sim.Server
	sim.Server = func(p *ring.Peer, b []byte) { arrived++; answer(p, b) }
	r := simulate(t, p, sim)
	if arrived != 12345 || r.Total.Completed != 12345 || r.Ended != loadresult.ByRequests {
		t.Errorf("%d arrived, %d completed, ended by %s", arrived, r.Total.Completed, r.Ended)
	}
	if want := time.Duration((12345 + 6) / 7 * ms); r.Measured != want {
		t.Errorf("measured %v, want %v", r.Measured, want)
	}
}

// All that the server answered is what was sent in the window and before it, each once.
func TestAllThatIsSent(t *testing.T) {
	answered, answers := int64(0), map[int]int{}
	p := simPlan(func(p *loadplan.Plan) {
		p.Connections, p.Warmup, p.Duration = 3, loadplan.Seconds(1*s), loadplan.Seconds(1*s)
	})
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		if answers[p.N]++; answers[p.N] > 10 {
			p.Hangup(ms/2, io.EOF)
			return
		}
		answered++
		p.Reply(ms, hello)
	}})
	if r.Total.Sent+r.Warmup != answered || r.Retried == 0 || r.Warmup < r.Total.Sent/2 {
		t.Errorf("%d sent, %d again, %d before; %d answered", r.Total.Sent, r.Retried, r.Warmup, answered)
	}
}

// What fails in the warm-up is known, too.
func TestWarmupLost(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Connections, p.Warmup, p.Duration, p.Drain = 2, loadplan.Seconds(1*s), loadplan.Seconds(1*s), loadplan.Seconds(1*s)
		p.Timeout = loadplan.Seconds(5 * s)
	})
	answered := int64(0)
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		switch {
		case p.N == 0: // one connection never has an answer, and is still waiting at the end
		case p.Now() < s/10:
			p.Hangup(ms, syscall.ECONNRESET)
		default:
			answered++
			p.Reply(ms, hello)
		}
	}})
	if r.WarmupLost < 2 || r.Unfinished != 0 || r.Total.Failed != 0 || r.Total.Sent+r.Warmup-r.WarmupLost != answered {
		t.Errorf("%d of %d lost before the window, %+v; %d answered", r.WarmupLost, r.Warmup, r.Total, answered)
	}
}

// Warm-up is loaded, and in none of the numbers of the window.
func TestWarmup(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Warmup, p.Duration = loadplan.Seconds(2*s), loadplan.Seconds(1*s) })
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		wait := 10 * ms
		if p.Now() < 2*s {
			wait = 100 * ms
		}
		p.Reply(wait, hello)
	}})
	if r.Warmup != 20 || r.Total.Completed != 100 || r.Total.Latency.Max != 10*ms {
		t.Errorf("%d and then %d completed, longest %d ns", r.Warmup, r.Total.Completed, r.Total.Latency.Max)
	}
	// Bytes count when they pass: the last answer to the warm-up came at the window's
	// start, the last of the window at its end.
	if want := int64(100 * len(hello)); r.Total.Received != want {
		t.Errorf("%d bytes received, want %d", r.Total.Received, want)
	}
}

// Requests that waited in the warm-up are answered in the window. Their bytes count there, so they
// are counted, too.
func TestWarmupWaits(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Rate, p.Connections = loadplan.RatePerSecond(1000), 1
		p.Warmup, p.Duration = loadplan.Seconds(1*s), loadplan.Seconds(2*s)
	})
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		wait := ms / 5
		if p.Now() < s {
			wait = 4 * ms // 250 a second
		}
		p.Reply(wait, hello)
	}})
	// The 250th answer comes at the window's start.
	if r.Warmup != 1000 || r.Total.Early != 751 || r.Total.Completed != 2000 {
		t.Errorf("%d in the warm-up, %d of them answered in the window, and %d of its own",
			r.Warmup, r.Total.Early, r.Total.Completed)
	}
	if want := int64((751 + 2000) * len(hello)); r.Total.Received != want {
		t.Errorf("%d bytes received, want %d", r.Total.Received, want)
	}
}

// A rate that the server cannot follow: what is due waits, and is said to.
func TestOverload(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Rate, p.Duration, p.Drain = loadplan.RatePerSecond(1000), loadplan.Seconds(1*s), loadplan.Seconds(1*s)
	})
	r := simulate(t, p, steady(4*ms)) // 250 a second
	if r.Total.Completed != 500 || r.Waiting != 500 || r.Unfinished != 0 {
		t.Errorf("%d completed, %d waiting, %d unfinished", r.Total.Completed, r.Waiting, r.Unfinished)
	}
	if got := r.Total.Latency.Max; got != 499*3*ms+4*ms {
		t.Errorf("longest %d ns", got)
	}
	if r.Total.Service.Max != 4*ms {
		t.Errorf("longest service time %d ns", r.Total.Service.Max)
	}
	// Or the rate would be twice the server's. The 250th answer comes as the window ends.
	if r.SentAfter != 250 || r.CompletedAfter != 250+1 {
		t.Errorf("after the window %d sent, %d completed", r.SentAfter, r.CompletedAfter)
	}
}

// The server closes after each 10 answers: the requests that were on their way
// then are sent again, and nothing is an error.
func TestServerCloses(t *testing.T) {
	for name, hangup := range map[string]error{"orderly": io.EOF, "reset": syscall.ECONNRESET} {
		t.Run(name, func(t *testing.T) {
			answers := map[int]int{}
			sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
				if answers[p.N]++; answers[p.N] > 10 {
					p.Hangup(ms/2, hangup)
					return
				}
				p.Reply(ms, hello)
			}}
			p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Requested = 3, 300 })
			r := simulate(t, p, sim)
			if r.Total.Completed != 300 || r.Total.Failed != 0 || len(r.Failures) != 0 {
				t.Errorf("%d completed, %d failed: %v", r.Total.Completed, r.Total.Failed, r.Failures)
			}
			if r.Retried != 27 || r.Reconnects != 27 || r.Opened != 30 {
				t.Errorf("%d retried, %d reconnects, %d opened", r.Retried, r.Reconnects, r.Opened)
			}
		})
	}
}

// A rate so low that the last request is answered long before the window's end:
// the window is still as long as was asked.
func TestLowRate(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Rate, p.Duration = loadplan.RatePerSecond(0.5), loadplan.Seconds(3*s) })
	sim := steady(ms)
	r := simulate(t, p, sim)
	if sim.Now() != 3*s || r.Total.Completed != 2 || r.Measured != 3*time.Second {
		t.Errorf("ended at %d ns, %d completed, measured %v", sim.Now(), r.Total.Completed, r.Measured)
	}
}

// The server is away for a while in the middle: that time is an outage.
func TestOutage(t *testing.T) {
	sim := &ring.Sim{}
	away := func() bool { return sim.Now() >= 2*s && sim.Now() < 4*s }
	sim.Server = func(p *ring.Peer, _ []byte) {
		if away() {
			p.Hangup(0, syscall.ECONNRESET)
		} else {
			p.Reply(10*ms, hello)
		}
	}
	sim.Accept = func(int) (int64, error) {
		if away() {
			return 0, syscall.ECONNREFUSED
		}
		return 0, nil
	}
	p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 2, loadplan.Seconds(6*s) })
	r := simulate(t, p, sim)
	if out := time.Duration(r.Outage); out < 1900*time.Millisecond || out > 2500*time.Millisecond {
		t.Errorf("outage %v, want 2 s and at most the pause before a redial more", out)
	}
	if r.Ended != loadresult.ByDuration || r.Total.Failed != 0 {
		t.Errorf("ended by %s, %d failed", r.Ended, r.Total.Failed)
	}
}

// Failures that are failures, by phase and kind.
func TestFailures(t *testing.T) {
	type want struct {
		phase             loadresult.Phase
		kind              string
		completed, failed int64
	}
	nothing := func(*ring.Peer, []byte) {}
	for name, tc := range map[string]struct {
		server func(p *ring.Peer, b []byte)
		want   want
	}{
		"silent":    {nothing, want{loadresult.Timeout, "timeout", 0, 10}},
		"garbage":   {func(p *ring.Peer, _ []byte) { p.Reply(ms, []byte("SSH-2.0-OpenSSH\r\n\r\n")) }, want{loadresult.Protocol, "garbage", 0, 10}},
		"closes":    {func(p *ring.Peer, _ []byte) { p.Hangup(ms, io.EOF) }, want{loadresult.Read, "closed", 0, 10}},
		"resets":    {func(p *ring.Peer, _ []byte) { p.Hangup(ms, syscall.ECONNRESET) }, want{loadresult.Read, "reset", 0, 10}},
		"truncates": {func(p *ring.Peer, _ []byte) { p.Reply(ms, hello[:40]); p.Hangup(2*ms, io.EOF) }, want{loadresult.Read, "truncated", 0, 10}},
		"resets in the body": {func(p *ring.Peer, _ []byte) {
			p.Reply(ms, hello[:len(hello)-2])
			p.Hangup(2*ms, syscall.ECONNRESET)
		}, want{loadresult.Read, "reset", 0, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			p := simPlan(func(p *loadplan.Plan) { p.Requested, p.Duration, p.Timeout = 10, 0, loadplan.Seconds(50*ms) })
			r := simulate(t, p, &ring.Sim{Server: tc.server})
			got := want{completed: r.Total.Completed, failed: r.Total.Failed}
			if len(r.Failures) > 0 {
				got.phase, got.kind = r.Failures[0].Phase, r.Failures[0].Kind
			}
			if got != tc.want || len(r.Failures) != 1 || r.Failures[0].Count != 10 {
				t.Errorf("got %+v, want %+v; %+v", got, tc.want, r.Failures)
			}
		})
	}
}

// A server that refuses every connection ends the run at once, with the cause.
func TestUnreachable(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Connections = 20 })
	r := simulate(t, p, &ring.Sim{Accept: func(int) (int64, error) { return ms, syscall.ECONNREFUSED }})
	if r.Ended != loadresult.Unreachable || len(r.Failures) != 1 || r.Failures[0].Kind != "refused" {
		t.Errorf("ended by %s: %+v", r.Ended, r.Failures)
	}
	if want := "connect simulated: connection refused"; r.Cause != want {
		t.Errorf("cause %q, want %q", r.Cause, want)
	}
}

// A connect that is never answered is given up after the connect timeout.
func TestConnectTimeout(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Connecting = loadplan.Seconds(2 * s) })
	sim := &ring.Sim{Accept: func(int) (int64, error) { return 1000 * s, nil }}
	r := simulate(t, p, sim)
	if r.Ended != loadresult.Unreachable || sim.Now() != 2*s {
		t.Errorf("ended by %s after %d ns", r.Ended, sim.Now())
	}
}

// The server dies in the middle of the run: it ends, with what was measured.
func TestServerDies(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Connections, p.Duration, p.Connecting = 5, loadplan.Seconds(100*s), loadplan.Seconds(1*s)
	})
	sim := &ring.Sim{}
	sim.Server = func(p *ring.Peer, _ []byte) {
		if p.Now() < 2*s {
			p.Reply(10*ms, hello)
		} else {
			p.Hangup(0, syscall.ECONNRESET)
		}
	}
	sim.Accept = func(int) (int64, error) {
		if sim.Now() < 2*s {
			return 0, nil
		}
		return 0, syscall.ECONNREFUSED
	}
	r := simulate(t, p, sim)
	if r.Ended != loadresult.Gone || r.Total.Completed != 1000 || r.Unfinished != 5 {
		t.Errorf("ended by %s, %d completed, %d unfinished", r.Ended, r.Total.Completed, r.Unfinished)
	}
	if at := sim.Now(); at < 3*s || at > 4*s {
		t.Errorf("ended at %v", time.Duration(at))
	}
}

func TestReconnect(t *testing.T) {
	// With 4 a connection 24 lives make 96 requests; both connections begin one more.
	for n, want := range map[int]int64{1: 100, 4: 26} {
		sim := steady(ms)
		p := simPlan(func(p *loadplan.Plan) { p.Requested, p.Connections, p.Reconnect = 100, 2, n })
		r := simulate(t, p, sim)
		if r.Opened != want || r.Total.Completed != 100 || r.Retried != 0 {
			t.Errorf("reconnect %d: %d opened, want %d; %d completed", n, r.Opened, want, r.Total.Completed)
		}
	}
}

func TestPipeline(t *testing.T) {
	deepest, waiting := 0, 0
	sim := &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		n := len(b) / 45 // each request is GET / HTTP/1.1, Host: sim, User-Agent
		waiting += max(n, 1)
		deepest = max(deepest, waiting)
		for range max(n, 1) {
			p.Reply(ms, hello)
			waiting--
		}
	}}
	p := simPlan(func(p *loadplan.Plan) { p.Requested, p.Pipeline = 1000, 16 })
	r := simulate(t, p, sim)
	if r.Total.Completed != 1000 || deepest < 16 {
		t.Errorf("%d completed, at most %d at once", r.Total.Completed, deepest)
	}
}

func TestRoutes(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Requested = 400
		p.Requests = append(p.Requests, p.Requests[0], p.Requests[0])
		p.Requests[0].Name, p.Requests[0].Weight = "a", 2
		p.Requests[1].Name, p.Requests[1].Weight = "b", 1
		p.Requests[2].Name, p.Requests[2].Weight = "a", 1
	})
	r := simulate(t, p, steady(ms))
	if len(r.Routes) != 2 || r.Routes[0].Completed != 300 || r.Routes[1].Completed != 100 {
		t.Errorf("%+v", r.Routes)
	}
}

func TestConnectRate(t *testing.T) {
	var opened []int64
	sim := steady(ms)
	sim.Accept = func(int) (int64, error) { opened = append(opened, sim.Now()); return 0, nil }
	p := simPlan(func(p *loadplan.Plan) {
		p.Connections, p.ConnectRate, p.Duration = 20, loadplan.RatePerSecond(100), loadplan.Seconds(1*s)
	})
	r := simulate(t, p, sim)
	for i, at := range opened {
		if at != int64(i)*10*ms {
			t.Fatalf("connection %d opened at %d ns", i, at)
		}
	}
	if len(opened) != 20 || r.Total.Completed != 20*1000 {
		t.Errorf("%d opened, %d completed", len(opened), r.Total.Completed)
	}
}

// The simulated turn, once warm, allocates nothing in the worker, whatever the answers are.
func TestTurnAllocatesNothing(t *testing.T) {
	for name, reply := range map[string][]byte{"answers": hello, "errors": unavailable} {
		t.Run(name, func(t *testing.T) { allocatesNothing(t, reply) })
	}
}

func allocatesNothing(t *testing.T, reply []byte) {
	p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 4, loadplan.Seconds(1000*s) })
	w := loopWorker(t, &p, &loop{reply: reply}, func(*metric.Counters) {})
	checkAllocations(t, w, func() int64 { return w.counters.Completed + w.counters.Failed })
}

// loopWorker is a worker of the plan on a ring that answers at once.
func loopWorker(t testing.TB, p *loadplan.Plan, g ring.Ring, publish func(*metric.Counters)) *worker {
	protocol, err := transport.NewProtocols(p)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorker(p, g, []ring.Addr{{Unix: "loop"}}, protocol, newGate(1), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.publish = func(s *metric.Counters) *metric.Counters { publish(s); s.Reset(); return s }
	w.beginRun()
	return w
}

// turn is one turn of a worker's loop.
func (w *worker) turn() {
	w.ring.Wait(w.nextWakeUp())
	w.runTurn()
}

// checkAllocations checks that a turn, once warm, allocates nothing, and that something is done in
// each.
func checkAllocations(t *testing.T, w *worker, done func() int64) {
	t.Helper()
	for range 100 {
		w.turn()
	}
	before := done()
	if n := testing.AllocsPerRun(100, w.turn); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
	if n := done() - before; n < 100 {
		t.Errorf("only %d in 100 turns", n)
	}
}

// TestStandsTogether has what each request touches of a connection end before the rest.
func TestStandsTogether(t *testing.T) {
	c := conn{}
	if n := unsafe.Offsetof(c.attempts) + unsafe.Offsetof(c.attempts.served); n >= 4*64 {
		t.Errorf("served, the last of it, stands at byte %d", n)
	}
}

// loop answers everything at once and, unlike Sim, allocates nothing.
type loop struct {
	reply []byte
	now   int64
	user  [128]uint64
	fds   int
	queue []ring.Completion
	taken int
}

func (l *loop) Now() int64      { l.now += us; return l.now }
func (l *loop) IdleTime() int64 { return 0 }
func (l *loop) Connect(_ int, user uint64) (int, error) {
	l.user[l.fds] = user
	l.fds++
	l.queue = append(l.queue, ring.Completion{Op: ring.Connected, User: user})
	return l.fds - 1, nil
}
func (l *loop) Send(fd int, b []byte) bool {
	l.queue = append(l.queue, ring.Completion{Op: ring.Received, User: l.user[fd], Data: l.reply})
	return true
}
func (l *loop) Close(int, bool)        {}
func (l *loop) Gather(int64, int) bool { return false }
func (l *loop) Wait(int64) error       { return nil }
func (l *loop) Next() (ring.Completion, bool) {
	n := len(l.queue)
	if l.taken++; n == 0 || l.taken%64 == 0 { // or the turn would not end
		return ring.Completion{}, false
	}
	c := l.queue[n-1]
	l.queue = l.queue[:n-1]
	return c, true
}

func BenchmarkExchange(b *testing.B) {
	b.Run("answers", func(b *testing.B) { benchmarkExchange(b, 1, hello) })
	b.Run("pipelined", func(b *testing.B) { benchmarkExchange(b, 16, bytes.Repeat(hello, 16)) })
	b.Run("errors", func(b *testing.B) { benchmarkExchange(b, 1, unavailable) })
}

// benchmarkExchange measures exchanges of which that many are sent together and answered by reply.
func benchmarkExchange(b *testing.B, together int, reply []byte) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Connections, p.Pipeline, p.Duration = 4, together, loadplan.Seconds(1000*s)
	})
	total := metric.NewCounters()
	w := loopWorker(b, &p, &loop{reply: reply}, func(s *metric.Counters) { total.Merge(s) })
	for b.Loop() {
		w.turn()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(total.Completed+total.Failed+
		w.counters.Completed+w.counters.Failed), "ns/exchange")
}
