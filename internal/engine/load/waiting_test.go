package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// counted is a source of chance that counts how often it was asked: once for an arrival, and
// once more for about one in a hundred.
type counted struct {
	rand.Source
	asked int64
}

func (c *counted) Uint64() uint64 {
	c.asked++
	return c.Source.Uint64()
}

// leftOver is a worker of p at the end, of which so many arrivals have been sent.
func leftOver(p *Plan, i, n int, sent int64) *worker {
	w := &worker{plan: p, flow: flow{schedule: p.newSchedule(i, n), left: -1}}
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
	steady := stagesPlan(333.333, 0, stageOf(3*sec, 333.333))
	steady.Stages, steady.Rate = nil, RatePerSecond(333.333)
	for name, p := range map[string]*Plan{
		"steady":  steady,
		"ramp":    stagesPlan(100, sec, stageOf(3*sec, 2000), stageOf(0, 10), stageOf(2*sec, 0), stageOf(sec, 10)),
		"to zero": stagesPlan(500, 0, stageOf(2*sec, 0), stageOf(2*sec, 0)),
		"warm-up": stagesPlan(1000, 2*sec, stageOf(sec, 1000)),
	} {
		for _, weights := range [][]int{{1}, {4, 2}} {
			for _, part := range p.SplitBy(weights) {
				for _, arrival := range []string{Even, Poisson} {
					part.Arrival, part.Seed = arrival, 7
					for _, sent := range []int64{0, 17, 400} {
						for i := range 3 {
							for _, change := range []func(*worker){
								func(*worker) {}, func(w *worker) { w.left = 100 },
								func(w *worker) { w.now = w.start + 1_234_567_890; w.end = w.now },
								func(w *worker) {
									w.schedule = &changing{w.schedule, part.scheduleFrom(i, 3, 2_345_678_901), 2_345_678_901}
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

// However many are waiting, they are computed: of a constant law and of ramps all, and of a
// Poisson law what is left after walkMost, of which the mean number is right.
func TestWaitingIsComputed(t *testing.T) {
	const hour = time.Hour
	for name, c := range map[string]struct {
		p    *Plan
		want float64
	}{
		"steady": {stagesPlan(1e8, 0, stageOf(24*hour, 1e8)), 1e8 * 86400}, // a walk takes a day
		"ramp":   {stagesPlan(0, 0, stageOf(hour, 1e8), stageOf(hour, 0)), 1e8 * 3600},
	} {
		for _, arrival := range []string{Even, Poisson} {
			c.p.Arrival, c.p.Seed = arrival, 3
			for _, shared := range []bool{false, true} {
				w := leftOver(c.p, 0, 1, 1000)
				draws := &counted{Source: rand.NewPCG(1, 2)}
				later := c.p.scheduleFrom(0, 1, int64(hour))
				for _, s := range []Schedule{w.schedule, later} {
					if p, is := s.(*poisson); is {
						p.coin = rand.New(draws)
					}
				}
				if shared {
					w.schedule = &changing{w.schedule, later, int64(hour)}
				}
				n := float64(w.backlog(w.now, &w.window))
				if draws.asked > 2*walkMost*21/20 {
					t.Errorf("%s, %s: %d draws", name, arrival, draws.asked)
				}
				off := math.Abs(n + 1000 - c.want)
				if arrival == Even && off > 0 || off > 6*math.Sqrt(c.want) {
					t.Errorf("%s, %s: %.0f waiting, want %.0f", name, arrival, n, c.want-1000)
				}
			}
		}
	}
}
