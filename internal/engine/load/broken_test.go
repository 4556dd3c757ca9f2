package load

import (
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// A run that is broken off sends nothing more, and takes the answers that come in a moment:
// none of its requests is lost by the interruption.
func TestBrokenOff(t *testing.T) {
	const stop = 1005 * ms
	for name, c := range map[string]struct {
		rate, connections int
		answer, drain     int64
		warmup            int64
		heard             int64 // after it was broken off
		sent, unfinished  int64
		waiting           int64
		measured, drained int64
	}{
		"answered at once": {100, 10, ms / 5, 2 * s, 0, 0, 101, 0, 0, 1005 * ms, 5 * ms},
		"on its way":       {100, 10, 30 * ms, 2 * s, 0, 0, 101, 0, 0, 1005 * ms, 25 * ms},
		"long after":       {100, 100, 300 * ms, 2 * s, 0, 0, 101, 24, 0, 1005 * ms, 55 * ms},
		"a shorter drain":  {100, 100, 300 * ms, 5 * ms, 0, 0, 101, 29, 0, 1005 * ms, 10 * ms},
		"no drain":         {100, 10, 15 * ms, 0, 0, 0, 101, 1, 0, 1005 * ms, 0},
		"a backlog":        {100, 1, 20 * ms, 2 * s, 0, 0, 51, 0, 50, 1005 * ms, 15 * ms},
		"in the warm-up":   {100, 10, 30 * ms, 2 * s, 2 * s, 0, 0, 0, 0, 0, 0},
		"of a closed loop": {0, 1, 10 * ms, 2 * s, 0, 0, 101, 0, 0, 1005 * ms, 5 * ms},
		"heard late":       {100, 10, ms / 5, 2 * s, 0, 20 * ms, 103, 0, 0, 1020*ms + ms/5 + 1, 10*ms - ms/5 - 1},
		"a silent server":  {0, 1, 20 * s, 2 * s, 0, 0, 1, 1, 0, 1005 * ms, 55 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			p := simPlan(func(p *loadplan.Plan) {
				p.Connections, p.Duration = c.connections, loadplan.Seconds(20*s)
				if p.Drain, p.Warmup = loadplan.Seconds(c.drain), loadplan.Seconds(c.warmup); c.rate > 0 {
					p.Rate = loadplan.RatePerSecond(float64(c.rate))
				}
				p.Timeout = loadplan.Seconds(60 * s)
			})
			r := simulateWith(t, p, func(g *gate) ring.Ring {
				return told{steady(c.answer), func(now int64) {
					if now >= stop+c.heard {
						g.Stop.CompareAndSwap(0, stop)
					}
				}}
			})
			if r.Ended != loadresult.Interrupted || r.Total.Sent != c.sent || r.Unfinished != c.unfinished {
				t.Errorf("%s: %d sent, %d unfinished; want %d and %d", r.Ended, r.Total.Sent,
					r.Unfinished, c.sent, c.unfinished)
			}
			if r.Waiting != c.waiting {
				t.Errorf("%d were due and never sent; want %d", r.Waiting, c.waiting)
			}
			if r.Measured != time.Duration(c.measured) || r.Drained != time.Duration(c.drained) {
				t.Errorf("measured %v, drained %v; want %v and %v", r.Measured, r.Drained,
					time.Duration(c.measured), time.Duration(c.drained))
			}
		})
	}
}
