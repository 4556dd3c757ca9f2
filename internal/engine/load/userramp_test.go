package load

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

func rampStage(d, users int64) loadplan.UserStage {
	return loadplan.UserStage{Duration: loadplan.Seconds(d), Users: int(users)}
}

// rampingPlan is a plan whose number of users changes; each iteration has these thinking times.
func rampingPlan(m scenario.Maker, steps, users int, stages ...loadplan.UserStage) loadplan.Plan {
	return scenarioPlan(m, steps, func(p *loadplan.Plan) {
		p.Users, p.UserStages = users, stages
		p.Duration = loadplan.Seconds(p.StagesLength())
		p.Connections = p.UserCount()
	})
}

// Ten users come within a second, stay for one, and leave within one: user k sends from k·100 ms
// until 3 s − k·100 ms, each 10 ms.
func TestUsersComeAndLeave(t *testing.T) {
	p := rampingPlan(thinking(0), 1, 0, rampStage(s, 10), rampStage(s, 10), rampStage(s, 0))
	r := simulate(t, p, timed(10))
	checkIterations(t, r, iterations{started: 2100, completed: 2100, time: 21_000})
	if r.Total.Latency.Min != 10*ms || r.Total.Latency.Max != 10*ms {
		t.Errorf("latency from %d to %d ns", r.Total.Latency.Min, r.Total.Latency.Max)
	}
	var sent []int64
	for _, iv := range r.Intervals[:3] {
		sent = append(sent, iv.Sent)
	}
	if !slices.Equal(sent, []int64{550, 1000, 550}) || r.Scenario.Users != 10 {
		t.Errorf("%v sent in each second, by %d users", sent, r.Scenario.Users)
	}
}

// A warm-up has the users of the plan's start, and the ramp begins with the window.
func TestRampAfterWarmup(t *testing.T) {
	p := rampingPlan(thinking(0), 1, 2, rampStage(s, 4))
	p.Warmup = loadplan.Seconds(s)
	r := simulate(t, p, timed(10))
	checkIterations(t, r, iterations{started: 350, completed: 350, time: 3500})
	if r.Scenario.Warmup != 200 {
		t.Errorf("%d before the window", r.Scenario.Warmup)
	}
}

// Three users begin at once and have one connection: each waits, and that is latency.
func TestRampBeyondTheConnections(t *testing.T) {
	p := rampingPlan(thinking(0), 1, 0, rampStage(0, 3), rampStage(s, 3))
	p.Connections = 1
	r := simulate(t, p, timed(10))
	checkIterations(t, r, iterations{started: 100, completed: 100, time: 10 + 20 + 30*98})
}

// A user who leaves while it thinks ends its iteration before.
func TestUserLeavesAfterItsIteration(t *testing.T) {
	p := rampingPlan(thinking(0, 300), 2, 2, rampStage(100*ms, 1), rampStage(900*ms, 1))
	r := simulate(t, p, timed(10, 10))
	checkIterations(t, r, iterations{started: 5, completed: 5, time: 5 * 320})
}

// spans are when user k takes part in the plan, in pairs.
func spans(p *loadplan.Plan, k int64) (all []int64) {
	from, begin := int64(p.Users), int64(0)
	if k < from {
		all = append(all, 0)
	}
	for _, g := range p.UserStages {
		to, length := int64(g.Users), int64(g.Duration)
		switch {
		case from <= k && k < to:
			all = append(all, begin+length*(k-from)/(to-from))
		case to <= k && k < from:
			all = append(all, begin+length*(from-k)/(from-to))
		}
		from, begin = to, begin+length
	}
	if len(all)%2 == 1 {
		all = append(all, begin)
	}
	return all
}

// However users come, leave and come again, each begins iterations while it takes part, one after
// the other, and no other user does.
func TestRandomRamps(t *testing.T) {
	const takes = 7*ms + 1
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 0))
		var stages []loadplan.UserStage
		for range 1 + random.IntN(8) {
			stages = append(stages, rampStage(random.Int64N(100*ms), random.Int64N(20)))
		}
		p := rampingPlan(thinking(0), 1, 1+random.IntN(9), append(stages, rampStage(50*ms, 5))...)
		sent := make([]int64, p.UserCount())
		m := scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
			if r != nil {
				return scenario.End()
			}
			sent[u.Number]++
			return scenario.Step{}
		})
		p.Scenario = scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) { return m, nil }}
		simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Reply(takes, hello) }})
		for k := range sent {
			want, at := int64(0), int64(0)
			for own := spans(&p, int64(k)); len(own) > 0; own = own[2:] {
				for at = max(at, own[0]); at < own[1]; at += takes {
					want++
				}
			}
			if sent[k] != want {
				t.Errorf("seed %d: user %d began %d iterations, want %d", seed, k, sent[k], want)
			}
		}
	}
}

// A ramp allocates nothing for a request.
func TestRampAllocatesNothing(t *testing.T) {
	p := fillingPlan()
	p.Users, p.UserStages = 1, []loadplan.UserStage{rampStage(int64(p.Duration), 4)}
	w := loopWorker(t, &p, &loop{reply: hello}, func(*metric.Counters) {})
	checkAllocations(t, w, func() int64 { return w.totals.Scenario.Started })
}

// Real threads and rings: all users come.
func TestRampOnThreads(t *testing.T) {
	p := loadplan.DefaultPlan()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	at := netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	p.Target = loadplan.Target{URL: server.URL, Host: at.Addr().String(), Port: at.Port()}
	p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET", Authority: "h", Path: "/"}}}
	p.Threads, p.UserStages = 3, []loadplan.UserStage{rampStage(200*ms, 7), rampStage(120*s, 7)}
	p.Steps, p.Duration = []string{"x"}, loadplan.Seconds(p.StagesLength())
	p.Connections = 7
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var seen sync.Map
	var come atomic.Int32
	p.Scenario = scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) {
		return scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
			if r != nil {
				return scenario.End()
			}
			if _, known := seen.LoadOrStore(u.Number, true); !known && come.Add(1) == 7 {
				stop()
			}
			return scenario.Step{}
		}), nil
	}}
	r, err := Run(ctx, p, nil)
	if err != nil || r.Scenario.Users != 7 || come.Load() != 7 || r.Ended != loadresult.Interrupted {
		t.Errorf("%v: %d users came, ended by %s", err, come.Load(), r.Ended)
	}
}
