package load

import (
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
)

// leftOver is a worker of p at the end, of which so many arrivals have been sent.
func leftOver(p *loadplan.Plan, i, n int, sent int64) *worker {
	w := &worker{plan: p, flow: flow{schedule: p.NewSchedule(i, n), left: -1}}
	w.start = 1000 * s
	w.from = w.start + int64(p.Warmup)
	w.end = w.from + int64(p.Duration)
	w.now = w.end + s
	w.advanceArrival()
	for range sent {
		w.advanceArrival()
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
	till := min(w.end, w.now)
	for !w.over && n != w.left && w.start+w.next < till {
		if w.start+w.next >= w.from {
			n++
		}
		w.advanceArrival()
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
								func(*worker) {}, func(w *worker) { w.left = 100 },
								func(w *worker) { w.now = w.start + 1_234_567_890; w.end = w.now },
								func(w *worker) {
									w.schedule = loadplan.ChangeAt(w.schedule, part.ScheduleFrom(i, 3, 2_345_678_901), 2_345_678_901)
								},
							} {
								got, want := leftOver(&part, i, 3, sent), leftOver(&part, i, 3, sent)
								change(got)
								change(want)
								if g, w := got.backlog(got.now, &got.window), walked(want); g != w {
									t.Fatalf("%s %v, %s, after %d, worker %d: %d waiting, want %d", name, weights, arrival,
										sent, i, g, w)
								}
							}
						}
					}
				}
			}
		}
	}
}
