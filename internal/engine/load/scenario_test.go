package load

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/transport"
)

// A script is a scenario whose steps follow one another: step i sends request i of the plan.
type script struct {
	steps []scenario.Step
	want  proto.Want
	check func(step int, r *scenario.Response)
}

func (s *script) Want() proto.Want                               { return s.want }
func (s *script) Make(scenario.Share) (scenario.Scenario, error) { return s, nil }
func (s *script) Start(u *scenario.User) scenario.Step           { return s.step(u, 0) }
func (s *script) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	at := u.State.(int)
	if s.check != nil {
		s.check(at, r)
	}
	return s.step(u, at+1)
}

func (s *script) step(u *scenario.User, at int) scenario.Step {
	if u.State = at; at == len(s.steps) {
		return scenario.End()
	}
	step := s.steps[at]
	step.Route, step.Message.Request = at, at
	return step
}

// thinking is a script whose steps are due so many ms after the response before them.
func thinking(times ...int64) *script {
	s := &script{}
	for _, t := range times {
		s.steps = append(s.steps, scenario.Step{Think: time.Duration(t * ms)})
	}
	return s
}

// scenarioPlan is a plan for a simulated server, on one connection, whose step i is GET /i.
func scenarioPlan(m scenario.Maker, steps int, change func(p *loadplan.Plan)) loadplan.Plan {
	return simPlan(func(p *loadplan.Plan) {
		p.Scenario, p.Requests = m, nil
		for i := range steps {
			p.Steps = append(p.Steps, fmt.Sprint("step ", i+1))
			p.Requests = append(p.Requests, loadplan.Request{Request: proto.Request{Method: "GET", Authority: "sim",
				Path: fmt.Sprint("/", i)}})
		}
		change(p)
	})
}

// timed answers step i after so many ms.
func timed(times ...int64) *ring.Sim {
	return &ring.Sim{Server: func(p *ring.Peer, b []byte) { p.Reply(times[stepOf(b)]*ms, hello) }}
}

// stepOf is the step whose request b is.
func stepOf(b []byte) int { return int(b[slices.Index(b, '/')+1] - '0') }

// What became of iterations, with their times in ms.
type iterations struct {
	started, completed, failed, unfinished int64
	time, failedTime                       int64 // sums
}

func checkIterations(t *testing.T, r *loadresult.Result, want iterations) {
	t.Helper()
	x := r.Scenario
	got := iterations{x.Started, x.Completed, x.Failed, x.Unfinished, sumOf(x.Time), sumOf(x.FailedTime)}
	if got != want {
		t.Errorf("iterations %+v, want %+v", got, want)
	}
}

// sumOf is the sum of a histogram in whole ms.
func sumOf(h *metric.Histogram) int64 { return int64(h.Sum.Float64()) / ms }

// checkRoutes compares the sums of each step's latencies, in ms.
func checkRoutes(t *testing.T, r *loadresult.Result, want ...int64) {
	t.Helper()
	var got []int64
	for _, route := range r.Routes {
		got = append(got, sumOf(route.Latency))
	}
	if !slices.Equal(got, want) {
		t.Errorf("latencies of the steps add up to %v ms, want %v", got, want)
	}
}

// Five users, each on a connection of its own: an iteration is 10, 100+20 and 200+30 ms.
func TestIterations(t *testing.T) {
	p := scenarioPlan(thinking(0, 100, 200), 3, func(p *loadplan.Plan) {
		p.Connections, p.Duration = 5, loadplan.Seconds(3600*ms)
	})
	r := simulate(t, p, timed(10, 20, 30))
	checkIterations(t, r, iterations{started: 50, completed: 50, time: 50 * 360})
	if x := r.Scenario; x.Time.Min != 360*ms || x.Time.Max != 360*ms || x.Users != 5 {
		t.Errorf("%d users, iterations of %d to %d ns", x.Users, x.Time.Min, x.Time.Max)
	}
	if r.Total.Sent != 150 || r.Total.Completed != 150 || r.Ended != loadresult.ByDuration || r.SentAfter != 0 {
		t.Errorf("%d sent, %d completed, %d after the window, ended by %s", r.Total.Sent,
			r.Total.Completed, r.SentAfter, r.Ended)
	}
	var each []int64
	for _, iv := range r.Intervals {
		each = append(each, iv.Iterations)
	}
	if !slices.Equal(each, []int64{10, 15, 15, 10}) { // they end each 360 ms, and the last at 3.6 s
		t.Errorf("iterations in each second: %v", each)
	}
	for i, want := range []int64{10, 20, 30} {
		x := r.Routes[i]
		if x.Name != p.Steps[i] || x.Completed != 50 || x.Latency.Min != want*ms || x.Latency.Max != want*ms {
			t.Errorf("%s: %d, %d to %d ns", x.Name, x.Completed, x.Latency.Min, x.Latency.Max)
		}
	}
}

// Four users on one connection: who thinks leaves it to the others, and who waits for it has
// latency from when the step was due.
func TestUsersShareAConnection(t *testing.T) {
	p := scenarioPlan(thinking(0, 100, 200), 3, func(p *loadplan.Plan) { p.Users, p.Requested, p.Duration = 4, 4, 0 })
	r := simulate(t, p, timed(10, 20, 30))
	// The first steps are due at 0 and done at 10, 20, 30 and 40 ms; the second ones at 110, 120,
	// 130 and 140, done at 130, 150, 170 and 190; the third at 330, 350, 370 and 390, done at 360,
	// 390, 420 and 450.
	checkIterations(t, r, iterations{started: 4, completed: 4, time: 360 + 390 + 420 + 450})
	checkRoutes(t, r, 10+20+30+40, 20+30+40+50, 30+40+50+60)
	if got := sumOf(r.Total.Service); got != 4*(10+20+30) {
		t.Errorf("service times add up to %d ms", got)
	}
	for q, want := range map[float64]int64{0.25: 360, 0.5: 390, 0.75: 420, 1: 450} {
		if got := quantile(r.Scenario.Time, q); !near(got, want*ms) {
			t.Errorf("p%v of iterations %d ns, want %d ms", q*100, got, want)
		}
	}
	if r.Ended != loadresult.ByRequests || r.Measured != 450*time.Millisecond || r.Opened != 1 {
		t.Errorf("ended by %s after %v on %d connections", r.Ended, r.Measured, r.Opened)
	}
}

// The stall of TestStall in a scenario: 100 iterations/s, the second step is due 500 ms after the
// answer to the first, and the server answers nothing from 5 to 6 s.
func TestScenarioStall(t *testing.T) {
	p := scenarioPlan(thinking(0, 500, 0), 3, func(p *loadplan.Plan) {
		p.Rate, p.Connections, p.Users, p.Duration = loadplan.RatePerSecond(100), 250, 250, loadplan.Seconds(10*s)
	})
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Reply(stallLeft(p.Now()), hello) }})
	// Of 1,000 iterations the 100 due from 5 s on wait 1000, 990 … 10 ms for their first answer;
	// the 50 due from 4.5 s on wait 1000, 990 … 510 ms for their second.
	const first, second = 10 * 100 * 101 / 2, 50 * (1000 + 510) / 2
	checkIterations(t, r, iterations{started: 1000, completed: 1000, time: 1000*500 + first + second})
	checkRoutes(t, r, first, second, 0)
	// The 50 iterations due from 9.5 s on have their other steps after the window.
	if r.Total.Completed != 3*1000-2*50 || r.Scenario.StepsAfter != 2*50 {
		t.Errorf("%d steps in the window, %d after it", r.Total.Completed, r.Scenario.StepsAfter)
	}
	// The longest are 1500, 1500, 1490, 1490 … 1010, 1010, 1000, 990 … 510 ms, and then 500.
	for q, want := range map[float64]int64{0.5: 500, 0.85: 500, 0.9: 1000, 0.99: 1450, 0.999: 1500} {
		if got := quantile(r.Scenario.Time, q); !near(got, want*ms) {
			t.Errorf("p%v of iterations %d ns, want %d ms", q*100, got, want)
		}
	}
	for i, wants := range []map[float64]int64{{0.9: 0, 0.95: 500, 0.99: 900}, {0.94: 0, 0.99: 910}, {1: 0}} {
		for q, want := range wants {
			if got := quantile(r.Routes[i].Latency, q); got < want*ms*99/100 || got > want*ms*101/100 {
				t.Errorf("p%v of step %d: %d ns, want %d ms", q*100, i+1, got, want)
			}
		}
	}
	if r.Late != 0 || r.Lag.Max != 0 || r.Waiting != 0 || r.Law.Off.Count == 0 || r.Law.Off.Max != 0 {
		t.Errorf("%d late, lag %d ns, %d waiting, off by %d of %d", r.Late, r.Lag.Max, r.Waiting,
			r.Law.Off.Max, r.Law.Off.Count)
	}
}

// A connection that is lost ends the iteration if the server may have done what the step asked for,
// and a step that may be repeated is sent again.
func TestScenarioLosesConnections(t *testing.T) {
	for kind, hangup := range map[string]error{"closed": io.EOF, "reset": syscall.ECONNRESET} {
		p := scenarioPlan(thinking(0, 0), 2, func(p *loadplan.Plan) {
			p.Requests[1].Method, p.Requested, p.Duration = "POST", 4, 0
		})
		n := 0
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			if n++; n == 2 || n == 5 { // the first POST, and the third GET
				p.Hangup(5*ms, hangup)
				return
			}
			p.Reply(10*ms, hello)
		}})
		// The first ends at 15 ms, the second at 35; the GET of the third is lost at 40 and
		// answered at 50; it ends at 60, and the fourth at 80.
		checkIterations(t, r, iterations{started: 4, completed: 3, failed: 1, time: 20 + 25 + 20, failedTime: 15})
		checkRoutes(t, r, 10+10+15+10, 3*10)
		if r.Total.Sent != 8 || r.Total.Failed != 1 || r.Retried != 1 || r.Reconnects != 2 || n != 9 {
			t.Errorf("%d sent, %d failed, %d retried, %d reconnects, %d arrived", r.Total.Sent, r.Total.Failed,
				r.Retried, r.Reconnects, n)
		}
		if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Read || f[0].Kind != kind || f[0].Count != 1 {
			t.Errorf("%s: %+v", kind, f)
		}
		if r.Routes[0].Failed != 0 || r.Routes[1].Failed != 1 {
			t.Errorf("%s: failed steps %+v", kind, r.Routes)
		}
	}
}

// A check that fails ends the iteration, unless the step keeps going.
func TestScenarioChecks(t *testing.T) {
	for _, goes := range []bool{false, true} {
		m := thinking(0, 0, 0)
		m.want = proto.Want{Body: 5, Fields: []string{"content-length"}}
		m.steps[1].KeepGoing = goes
		m.check = func(step int, r *scenario.Response) {
			r.Check(0, r.Status == 200 && string(r.Field("content-length")) == "5" && !r.Truncated())
			if step == 1 {
				r.Check(1, string(r.Body) == "hello")
			}
		}
		p := scenarioPlan(m, 3, func(p *loadplan.Plan) {
			p.Checks = []string{"is right", "says hello"}
			p.Requested, p.Duration = 9, 0
		})
		n := 0
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
			answer := hello
			if stepOf(b) == 1 {
				if n++; n%3 == 0 {
					answer = []byte(strings.ToUpper(string(hello)))
				}
			}
			p.Reply(10*ms, answer)
		}})
		want, sent := iterations{9, 6, 3, 0, 6 * 30, 3 * 20}, int64(3*9-3)
		if goes {
			want, sent = iterations{9, 9, 0, 0, 9 * 30, 0}, 3*9
		}
		checkIterations(t, r, want)
		if x := r.Total; x.Sent != sent || x.Failed != 3 || x.Completed != sent-3 || x.ErrorLatency.Count != 3 {
			t.Errorf("%d sent, %d failed, %d completed, %d error latencies", x.Sent, x.Failed, x.Completed,
				x.ErrorLatency.Count)
		}
		checks := []loadresult.CheckTotals{{Name: "is right", Passed: sent}, {Name: "says hello", Passed: 6, Failed: 3}}
		if !slices.Equal(r.Scenario.Checks, checks) {
			t.Errorf("checks %+v, want %+v", r.Scenario.Checks, checks)
		}
		if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Check || f[0].Kind != "says hello" || f[0].Count != 3 {
			t.Errorf("%+v", f)
		}
	}
}

// A status that the plan does not expect is an error of its step, unless any is right for it.
func TestScenarioStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		step    scenario.Step
		want    iterations
		next    string // what the scenario is told
		failed  int64
		nothing bool // it is not asked
	}{
		"an error":         {scenario.Step{}, iterations{3, 0, 3, 0, 0, 30}, "", 3, true},
		"one that goes on": {scenario.Step{KeepGoing: true}, iterations{3, 3, 0, 0, 60, 0}, "expect", 3, false},
		"any":              {scenario.Step{AnyStatus: true}, iterations{3, 3, 0, 0, 60, 0}, "", 0, false},
	} {
		m := &script{steps: []scenario.Step{c.step, {}}}
		var told []string
		m.check = func(step int, r *scenario.Response) {
			if step == 0 {
				told = append(told, fmt.Sprint(r.Status, r.Failed))
			}
		}
		p := scenarioPlan(m, 2, func(p *loadplan.Plan) { p.Requested, p.Duration = 3, 0 })
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
			p.Reply(10*ms, map[int][]byte{0: unavailable, 1: hello}[stepOf(b)])
		}})
		checkIterations(t, r, c.want)
		if r.Total.Failed != c.failed || r.Routes[0].Failed != c.failed {
			t.Errorf("%s: %d failed, %+v", name, r.Total.Failed, r.Routes[0])
		}
		want := slices.Repeat([]string{"503" + c.next}, 3)
		if c.nothing {
			want = nil
		}
		if !slices.Equal(told, want) {
			t.Errorf("%s: the scenario is told %q, want %q", name, told, want)
		}
	}
}

// A step that is lost and keeps going: the scenario is told the phase, and decides.
func TestScenarioIsToldOfFailures(t *testing.T) {
	m := thinking(0, 0)
	m.steps[0].KeepGoing = true
	var told []string
	m.check = func(step int, r *scenario.Response) { told = append(told, fmt.Sprint(step, r.Status, r.Failed)) }
	p := scenarioPlan(m, 2, func(p *loadplan.Plan) { p.Requested, p.Duration, p.Timeout = 2, 0, loadplan.Seconds(50*ms) })
	n := 0
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		if n++; n > 1 { // or it is never answered
			p.Reply(10*ms, hello)
		}
	}})
	checkIterations(t, r, iterations{started: 2, completed: 2, time: 60 + 20})
	if want := []string{"0 0timeout", "1 200", "0 200", "1 200"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// One user for 100 iterations/s that take 40 ms: what is due waits for the user, although there are
// connections, and that is latency.
func TestMoreDueThanUsers(t *testing.T) {
	p := scenarioPlan(thinking(0, 20), 2, func(p *loadplan.Plan) {
		p.Rate, p.Users, p.Connections = loadplan.RatePerSecond(100), 1, 10
		p.Duration, p.Drain = loadplan.Seconds(1*s), loadplan.Seconds(1*s)
	})
	r := simulate(t, p, timed(10, 10))
	// Iteration k is due at 10k ms and begins at 40k; 50 end until the drain does.
	const waits = 30 * 49 * 50 / 2
	checkIterations(t, r, iterations{started: 50, completed: 50, time: waits + 50*40})
	// The second step of iteration k is due at 40k+30, in the window for the first 25.
	checkRoutes(t, r, waits+50*10, 25*10)
	if r.Waiting != 50 || r.SentAfter != 25 || r.CompletedAfter != 25+1 || r.Total.Service.Max != 10*ms {
		t.Errorf("%d waiting, %d sent and %d completed after the window, service time %d ns at most",
			r.Waiting, r.SentAfter, r.CompletedAfter, r.Total.Service.Max)
	}
	if x := r.Scenario; x.StartedAfter != 25 || x.CompletedAfter != 25+1 || x.StepsAfter != 25 {
		t.Errorf("%d begun and %d completed after the window, %d steps", x.StartedAfter, x.CompletedAfter,
			x.StepsAfter)
	}
	if r.Lag.Max != 0 || r.Late != 49 || r.LateMax != 30*49*ms {
		t.Errorf("lag %d ns, %d late, by %d ns at most", r.Lag.Max, r.Late, r.LateMax)
	}
	if x := r.Scenario.Time; x.Max != (30*49+40)*ms {
		t.Errorf("the longest iteration takes %d ns", x.Max)
	}
}

// sleepy is a simulated ring that wakes up 2 ms late.
type sleepy struct{ *ring.Sim }

func (r sleepy) Wait(deadline int64) error {
	err := r.Sim.Wait(deadline)
	r.Sim.Advance(r.Sim.Now() + 2*ms)
	return err
}

// A step that the generator sends late has send lag, also the first of a user.
func TestScenarioLag(t *testing.T) {
	p := scenarioPlan(thinking(0, 5), 2, func(p *loadplan.Plan) {
		p.Rate, p.Connections, p.Duration = loadplan.RatePerSecond(25), 100, loadplan.Seconds(1*s)
	})
	r := simulate(t, p, sleepy{timed(10, 10)})
	// The very first is due when the load begins.
	if r.Lag.Count != 50 || sumOf(r.Lag) != 49*2 || r.Lag.Max != 2*ms {
		t.Errorf("%d lags, in all %d ms, %d ns at most", r.Lag.Count, sumOf(r.Lag), r.Lag.Max)
	}
}

// In a closed workload there is as much under way as there are users, however many connections.
func TestFewUsers(t *testing.T) {
	p := scenarioPlan(thinking(0, 30), 2, func(p *loadplan.Plan) {
		p.Users, p.Connections, p.Duration = 2, 5, loadplan.Seconds(1*s)
	})
	r := simulate(t, p, timed(10, 10))
	checkIterations(t, r, iterations{started: 40, completed: 40, time: 40 * 50})
}

// What an iteration of 360 ms becomes of which the window or the drain has only a part. Its third
// step is due at 690 ms, after the window.
func TestScenarioEndsInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		drain int64 // ms
		want  iterations
		after int64
		ends  int64 // ms
	}{
		{50, iterations{2, 1, 0, 1, 360, 0}, 0, 550},   // it thinks
		{200, iterations{2, 1, 0, 1, 360, 0}, 1, 700},  // it waits for its third answer
		{2000, iterations{2, 2, 0, 0, 720, 0}, 1, 720}, // it has ended
	} {
		p := scenarioPlan(thinking(0, 100, 200), 3, func(p *loadplan.Plan) {
			p.Duration, p.Drain = loadplan.Seconds(500*ms), loadplan.Seconds(c.drain*ms)
		})
		sim := timed(10, 20, 30)
		r := simulate(t, p, sim)
		checkIterations(t, r, c.want)
		if r.Total.Sent != 5 || r.Scenario.StepsAfter != c.after || r.Unfinished != 0 || sim.Now() != c.ends*ms {
			t.Errorf("drain of %d ms: %d sent, %d after, %d unanswered, ended at %d ns", c.drain, r.Total.Sent,
				r.Scenario.StepsAfter, r.Unfinished, sim.Now())
		}
	}
}

// An interruption ends iterations where they are.
func TestScenarioIsInterrupted(t *testing.T) {
	p := scenarioPlan(thinking(0, 100, 200), 3, func(p *loadplan.Plan) { p.Duration = loadplan.Seconds(5 * s) })
	r := simulateWith(t, p, func(g *gate) ring.Ring {
		sim := timed(10, 20, 30)
		answer := sim.Server
		sim.Server = func(p *ring.Peer, b []byte) {
			if p.Now() == 470*ms {
				g.Stop.Store(p.Now())
			}
			answer(p, b)
		}
		return sim
	})
	checkIterations(t, r, iterations{2, 1, 0, 1, 360, 0})
	if r.Ended != loadresult.Interrupted || r.Total.Sent != 5 || r.Unfinished != 0 {
		t.Errorf("ended by %s, %d sent, %d unanswered", r.Ended, r.Total.Sent, r.Unfinished)
	}
}

// An iteration due before the window is of the warm-up to its end, and each of its steps is of the
// window if it is due there.
func TestScenarioWarmup(t *testing.T) {
	for _, open := range []bool{false, true} {
		p := scenarioPlan(thinking(0, 100, 200), 3, func(p *loadplan.Plan) {
			p.Warmup, p.Duration = loadplan.Seconds(400*ms), loadplan.Seconds(1*s)
			if open {
				p.Connections, p.Rate = 10, loadplan.RatePerSecond(2.5)
			}
		})
		r := simulate(t, p, timed(10, 20, 30))
		// Closed: due at 0, 360, 720 and 1080 ms. Open: at 0, 400, 800 and 1200 ms.
		before, warm, in := int64(2), int64(4), int64(7)
		if open {
			before, warm, in = 1, 3, 8
		}
		checkIterations(t, r, iterations{started: 4 - before, completed: 4 - before, time: (4 - before) * 360})
		if r.Scenario.Warmup != before || r.Warmup != warm || r.Total.Sent != in || r.Scenario.StepsAfter != 1 ||
			r.WarmupLost != 0 {
			t.Errorf("%d iterations and %d requests before the window, %d in it", r.Scenario.Warmup, r.Warmup,
				r.Total.Sent)
		}
	}
}

// An iteration may be over before its first step.
func TestScenarioWithoutSteps(t *testing.T) {
	none := scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) {
		return scenario.Func(func(u *scenario.User, _ *scenario.Response) scenario.Step {
			if u.Iteration%2 == 1 {
				return scenario.Fail()
			}
			return scenario.End()
		}), nil
	}}
	p := scenarioPlan(none, 1, func(p *loadplan.Plan) { p.Requested, p.Duration = 5001, 0 })
	r := simulate(t, p, timed(0))
	checkIterations(t, r, iterations{started: 5001, completed: 2501, failed: 2500})
	if r.Total.Sent != 0 || r.Ended != loadresult.ByRequests {
		t.Errorf("%d sent, ended by %s", r.Total.Sent, r.Ended)
	}
}

// A request that a scenario cannot make is an error, though none was sent; those of the warm-up are
// none of the window.
func TestScenarioRefuses(t *testing.T) {
	refusing := scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) {
		return scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
			if u.Iteration%4 == 3 {
				return scenario.Refuse(fmt.Errorf("row %d has a line end", u.Iteration))
			}
			return scenario.Step{End: r != nil}
		}), nil
	}}
	p := scenarioPlan(refusing, 1, func(p *loadplan.Plan) { p.Requested, p.Duration = 400, 0 })
	r := simulate(t, p, timed(0))
	checkIterations(t, r, iterations{started: 400, completed: 300, failed: 100})
	want := loadresult.Failure{Phase: loadresult.Check, Kind: "value", Detail: "row 3 has a line end", Count: 100}
	if r.Total.Sent != 300 || len(r.Failures) != 1 || !reflect.DeepEqual(r.Failures[0], want) {
		t.Errorf("%d sent, errors %+v", r.Total.Sent, r.Failures)
	}
}

// A machine owner's ceiling is of requests, each once: 10 iterations/s of three steps are held to
// 20 requests/s.
func TestScenarioCeiling(t *testing.T) {
	for ceiling, most := range map[int64]int64{20: 20*21 + flow.CeilingLeast, 31: 600} {
		p := scenarioPlan(thinking(0, 0, 0), 3, func(p *loadplan.Plan) {
			p.Rate, p.Users, p.Connections, p.OwnerLimit = loadplan.RatePerSecond(10), 50, 50, loadplan.RatePerSecond(float64(ceiling))
			p.Duration, p.Drain = loadplan.Seconds(20*s), 0
		})
		r := simulate(t, p, timed(0, 0, 0))
		if r.Total.Sent > most || r.Total.Sent < most*95/100 {
			t.Errorf("%d sent below %d a second, want %d", r.Total.Sent, ceiling, most)
		}
	}
}

// seen is a scenario of one step that notes which users do it, and which shares there are.
type seen struct {
	sync.Mutex
	users  map[int64]int
	draws  map[int64]uint64
	shares []scenario.Share
}

func (m *seen) Want() proto.Want { return proto.Want{} }
func (m *seen) Make(s scenario.Share) (scenario.Scenario, error) {
	m.Lock()
	defer m.Unlock()
	m.shares = append(m.shares, s)
	return scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
		if r != nil {
			return scenario.End()
		}
		m.Lock()
		defer m.Unlock()
		m.users[u.Number]++
		m.draws[u.Number] = u.Rand.Uint64()
		return scenario.Step{}
	}), nil
}

// simulateThreads is simulate of a plan on so many threads, each with a server of its own.
func simulateThreads(t *testing.T, p loadplan.Plan, n int, sim func() ring.Ring) *loadresult.Result {
	t.Helper()
	r := &run{plan: p, threads: n, result: &loadresult.Result{Plan: p},
		reports: make(chan workerReport, 1000), emptyCounters: make(chan *metric.Counters, 4), gate: newGate(1)}
	protocol, err := transport.NewProtocols(&p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		w, err := newWorker(&p, sim(), []ring.Addr{{Unix: "simulated"}}, protocol, newGate(1), i, n)
		if err != nil {
			t.Fatal(err)
		}
		w.publish = func(s *metric.Counters) *metric.Counters {
			r.reports <- workerReport{from: i, Counters: s}
			return metric.NewCounters()
		}
		w.of = 1 // for the gate, which is its own
		go func() {
			err := w.runLoop()
			r.reports <- workerReport{from: i, worker: w, err: err}
		}()
	}
	if err := r.collectIntervals(); err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, r.result)
	return r.result
}

// As many iterations as users: each has one, however many threads there are. Its random stream is
// that of its number.
func TestEachUserOnce(t *testing.T) {
	for name, rate := range map[string]loadplan.Rate{"closed": 0, "open": loadplan.RatePerSecond(1000)} {
		draws := map[int64]uint64{}
		for _, threads := range []int{1, 3} {
			m := &seen{users: map[int64]int{}, draws: map[int64]uint64{}}
			p := scenarioPlan(m, 1, func(p *loadplan.Plan) {
				p.Connections, p.Users, p.Requested, p.Duration, p.Seed, p.Rate = 10, 100, 100, 0, 7, rate
			})
			r := simulateThreads(t, p, threads, func() ring.Ring { return timed(10) })
			if r.Scenario.Completed != 100 || r.Scenario.Users != 100 || len(m.users) != 100 {
				t.Errorf("%s, %d threads: %d iterations of %d users, %d seen", name, threads,
					r.Scenario.Completed, r.Scenario.Users, len(m.users))
			}
			for n := range int64(100) {
				if m.users[n] != 1 {
					t.Errorf("%s, %d threads: user %d has %d iterations", name, threads, n, m.users[n])
				}
				if first, known := draws[n]; known && first != m.draws[n] {
					t.Errorf("%s: user %d draws %d on one thread, and %d on three", name, n, first, m.draws[n])
				}
				draws[n] = m.draws[n]
			}
		}
		if first := draws[0]; draws[1] == first {
			t.Errorf("%s: two users draw %d", name, first)
		}
	}
}

// The shares of all threads of all generators are blocks of users, and of iterations, that follow
// one another.
func TestScenarioShares(t *testing.T) {
	for _, rate := range []loadplan.Rate{0, loadplan.RatePerSecond(100)} {
		for _, weights := range [][]int{{1}, {1, 1}, {2, 1, 4}} {
			for _, users := range []int{0, 97} {
				whole := scenarioPlan(thinking(0), 1, func(p *loadplan.Plan) {
					p.Rate, p.Connections, p.Threads, p.Users, p.Requested, p.Duration = rate, 23, 7, users, 1234, 0
				})
				var user, iteration int64
				for _, p := range whole.SplitBy(weights) {
					for i := range p.Threads {
						s := p.ScenarioShare(i, p.Threads)
						if s.FirstUser != user || s.FirstIteration != iteration || s.Users < 1 {
							t.Errorf("rate %v, weights %v, thread %d of part %d: %+v after %d users, %d iterations",
								rate, weights, i, p.Part, s, user, iteration)
						}
						user, iteration = user+s.Users, iteration+s.Iterations
					}
				}
				if want := int64(cmp.Or(users, 23)); user != want || iteration != 1234 {
					t.Errorf("rate %v, weights %v: %d of %d users, %d iterations", rate, weights, user, want, iteration)
				}
			}
		}
	}
}

func TestScenarioFlaws(t *testing.T) {
	for want, change := range map[string]func(p *loadplan.Plan){
		"Scenario: the plan has steps": func(p *loadplan.Plan) { p.Scenario = nil },
		"Scenario: has no step":        func(p *loadplan.Plan) { p.Steps, p.Requests = nil, nil },
		"Users: 4194305 is not":        func(p *loadplan.Plan) { p.Users = loadplan.MaxUsers + 1 },
		"Users: 2 cannot be shared":    func(p *loadplan.Plan) { p.Users, p.Threads, p.Connections = 2, 3, 3 },
		"Users: there are too few":     func(p *loadplan.Plan) { p.Users, p.Connections = 1, 2; *p = p.Split(2)[1] },
		"Probe: sends the same":        func(p *loadplan.Plan) { p.Probe = loadplan.RatePerSecond(1) },
		"UsersBefore: -1 is below 0":   func(p *loadplan.Plan) { p.UsersBefore = -1 },
	} {
		p := scenarioPlan(thinking(0), 1, change)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	p := scenarioPlan(thinking(0), 1, func(*loadplan.Plan) {})
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}

// A scenario that is Go code does not go to another process, and nothing is sent in its place.
func TestPackOfAScenario(t *testing.T) {
	p := scenarioPlan(thinking(0), 1, func(*loadplan.Plan) {})
	if _, err := loadplan.Pack(p); err == nil {
		t.Error("it is packed")
	}
}

// A scenario that cannot be made ends the run before anything is sent.
func TestScenarioThatCannotBeMade(t *testing.T) {
	broken := scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) {
		return nil, errors.New("no such file")
	}}
	p := scenarioPlan(broken, 1, func(*loadplan.Plan) {})
	protocol, err := transport.NewProtocols(&p)
	if err != nil {
		t.Fatal(err)
	}
	_, err = newWorker(&p, timed(0), nil, protocol, newGate(1), 0, 1)
	if want := "making the scenario of thread 1: no such file"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// Responses on streams of one connection come in pieces, in turn: each user is given its own.
func TestScenarioOverStreams(t *testing.T) {
	m := thinking(0)
	m.want = proto.Want{Body: 8}
	m.check = func(_ int, r *scenario.Response) {
		r.Check(0, len(r.Body) == 8 && strings.Count(string(r.Body), string(r.Body[:1])) == 8)
	}
	p := h2Plan(func(p *loadplan.Plan) {
		p.Scenario, p.Steps, p.Checks = m, []string{"step"}, []string{"one letter"}
	})
	s := &h2Server{}
	s.answer = func(c *h2Peer) {
		half := []byte(strings.Repeat(string(rune('a'+c.of%26)), 4))
		c.Reply(ms, frame(h2Headers, 4, c.id, 0x88))
		c.Reply(2*ms, frame(0, 0, c.id, half...))
		c.reply(3*ms, frame(0, 1, c.id, half...))
	}
	r := simulate(t, p, s.sim())
	checkIterations(t, r, iterations{started: 100, completed: 100, time: 100 * 3})
	if r.Measured != 10*3*time.Millisecond || r.Scenario.Users != 10 {
		t.Errorf("measured %v with %d users", r.Measured, r.Scenario.Users)
	}
	if want := []loadresult.CheckTotals{{Name: "one letter", Passed: 100}}; !slices.Equal(r.Scenario.Checks, want) {
		t.Errorf("checks %+v", r.Scenario.Checks)
	}
}

// A step that the server says it did not process is sent again, whatever it asks for.
func TestScenarioIsRefused(t *testing.T) {
	p := h2Plan(func(p *loadplan.Plan) {
		p.Scenario, p.Steps, p.Requested, p.Streams = thinking(0), []string{"step"}, 3, 1
		p.Requests[0].Method = "POST"
	})
	s := &h2Server{}
	s.answer = func(c *h2Peer) {
		if c.of == 2 {
			c.reply(ms, frame(h2Reset, 0, c.id, word(7)...)) // REFUSED_STREAM
			return
		}
		c.reply(ms, ok(c.id))
	}
	r := simulate(t, p, s.sim())
	checkIterations(t, r, iterations{started: 3, completed: 3, time: 1 + 2 + 1})
	if r.Retried != 1 || r.Total.Sent != 3 || r.Total.Failed != 0 || s.requests != 4 {
		t.Errorf("%d retried, %d sent, %d failed, %d arrived", r.Retried, r.Total.Sent, r.Total.Failed, s.requests)
	}
}
