package load

import (
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// leftOver is a worker of p at the end, of which so many arrivals have been sent.
func leftOver(p *loadplan.Plan, i, n int, sent int64) *worker {
	w := &worker{server: server{plan: p}, Flow: flow.Flow{Schedule: p.NewSchedule(i, n), Left: -1}}
	w.Start = 1000 * s
	w.From = w.Start + int64(p.Warmup)
	w.End = w.From + int64(p.Duration)
	w.now = w.End + s
	w.AdvanceArrival()
	for range sent {
		w.AdvanceArrival()
	}
	return w
}

// inStages is a plan of these stages, after a warm-up at a rate.
func inStages(rate float64, warmup time.Duration, stages ...loadplan.Stage) *loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Rate, p.Stages, p.Warmup = loadplan.RatePerSecond(rate), stages, loadplan.Seconds(warmup)
	p.Duration = 0
	for _, s := range stages {
		p.Duration += s.Duration
	}
	return &p
}

// walked is how many are waiting, arrival by arrival.
func walked(w *worker) (n int64) {
	till := min(w.End, w.now)
	for !w.Over && n != w.Left && w.Start+w.Next < till {
		if w.Start+w.Next >= w.From {
			n++
		}
		w.AdvanceArrival()
	}
	return n
}

// What is computed is what a walk through all arrivals finds.
func TestWaiting(t *testing.T) {
	const sec = time.Second
	stage := func(d time.Duration, rate float64) loadplan.Stage {
		return loadplan.Stage{Duration: loadplan.Seconds(d), Rate: loadplan.RatePerSecond(rate)}
	}
	steady := inStages(333.333, 0, stage(3*sec, 333.333))
	steady.Stages, steady.Rate = nil, loadplan.RatePerSecond(333.333)
	for name, p := range map[string]*loadplan.Plan{
		"steady":  steady,
		"ramp":    inStages(100, sec, stage(3*sec, 2000), stage(0, 10), stage(2*sec, 0), stage(sec, 10)),
		"to zero": inStages(500, 0, stage(2*sec, 0), stage(2*sec, 0)),
		"warm-up": inStages(1000, 2*sec, stage(sec, 1000)),
	} {
		for _, weights := range [][]int{{1}, {4, 2}} {
			for _, part := range p.SplitBy(weights) {
				for _, arrival := range []string{loadplan.Even, loadplan.Poisson} {
					part.Arrival, part.Seed = arrival, 7
					for _, sent := range []int64{0, 17, 400} {
						for i := range 3 {
							for _, change := range []func(*worker){
								func(*worker) {}, func(w *worker) { w.Left = 100 },
								func(w *worker) { w.now = w.Start + 1_234_567_890; w.End = w.now },
								func(w *worker) {
									w.Schedule = loadplan.ChangeAt(w.Schedule, part.ScheduleFrom(i, 3, 2_345_678_901), 2_345_678_901)
								},
							} {
								got, want, taken := leftOver(&part, i, 3, sent), leftOver(&part, i, 3, sent), leftOver(&part, i, 3, sent)
								change(got)
								change(want)
								change(taken)
								if g, w := got.Backlog(got.now, &got.Window), walked(want); g != w {
									t.Fatalf("%s %v, %s, after %d, worker %d: %d waiting, want %d", name, weights, arrival,
										sent, i, g, w)
								} else if n, by := taken.TakeWaiting(taken.now, &taken.Window); sumOfWaited(by) != n || n != w ||
									taken.Backlog(taken.now, &taken.Window) != 0 {
									t.Fatalf("%s %v, %s, after %d, worker %d: took %d waiting, %v, want %d", name, weights, arrival,
										sent, i, n, by, w)
								}
							}
						}
					}
				}
			}
		}
	}
}

func sumOfWaited(by [63]int64) (n int64) {
	for _, one := range by {
		n += one
	}
	return n
}

// The server of a load at a rate dies: what was due and not sent until the run ended is counted by
// how long it had been due. Where the load ends as planned, it is not.
func TestWaitedForAServer(t *testing.T) {
	for _, ended := range []loadresult.Ending{loadresult.Gone, loadresult.ByDuration} {
		p := simPlan(func(p *loadplan.Plan) {
			p.Connections, p.Rate, p.Duration = 5, loadplan.RatePerSecond(1000), loadplan.Seconds(10*s)
			if p.Connecting = loadplan.Seconds(2 * s); ended == loadresult.ByDuration {
				p.Duration = loadplan.Seconds(3 * s)
				p.Drain = 0
			}
		})
		sim := &ring.Sim{}
		sim.Server = func(p *ring.Peer, _ []byte) {
			if p.Now() >= 2*s {
				p.Hangup(0, syscall.ECONNRESET)
			} else {
				p.Reply(ms, hello)
			}
		}
		sim.Accept = func(int) (int64, error) {
			if sim.Now() >= 2*s {
				return 0, syscall.ECONNREFUSED
			}
			return 0, nil
		}
		r := simulate(t, p, sim)
		if r.Ended != ended || r.Waiting < 900 {
			t.Fatalf("ended by %s, %d waiting", r.Ended, r.Waiting)
		}
		if ended == loadresult.ByDuration {
			if r.Waited != [63]int64{} {
				t.Errorf("%v", r.Waited)
			}
			continue
		}
		if sumOfWaited(r.Waited) != r.Waiting {
			t.Errorf("%d waiting, %d of them counted", r.Waiting, sumOfWaited(r.Waited))
		}
		for at := 27; at <= 30; at++ { // one is due each ms
			longer := sumOfWaited(r.Waited)
			for i := range at {
				longer -= r.Waited[i]
			}
			if want := r.Waiting - int64(1)<<at/ms; longer < want-1 || longer > want+1 {
				t.Errorf("%d had been due for 2^%d ns, want %d", longer, at, want)
			}
		}
	}
}
