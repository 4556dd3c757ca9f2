package load

import (
	"bytes"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// A run ends with its drain, however long its scenario looks at an answer and however many have
// come by then: the rest are unfinished, as answers that have not come are.
func TestJudgingEndsWithTheRun(t *testing.T) {
	const judging, interrupted = 600 * ms, 50 * ms
	for name, tc := range map[string]struct {
		change func(p *loadplan.Plan)
		stop   int64 // when the run is interrupted; 0: it is not
		ends   int64 // at the latest, when the last answer was judged that was begun in time
		judged int64
	}{
		"connections":     {func(p *loadplan.Plan) { p.Connections = 50 }, 0, 3*s + judging, 6},
		"one receive":     {func(p *loadplan.Plan) { p.Pipeline = 50 }, 0, 3*s + judging, 6},
		"without a drain": {func(p *loadplan.Plan) { p.Connections, p.Drain = 50, 0 }, 0, 2*s + judging, 4},
		"interrupted":     {func(p *loadplan.Plan) { p.Connections = 50 }, s, s + interrupted + judging, 2},
	} {
		t.Run(name, func(t *testing.T) {
			sim := &ring.Sim{Server: func(p *ring.Peer, b []byte) {
				p.Reply(10*ms, bytes.Repeat(hello, bytes.Count(b, []byte("\r\n\r\n"))))
			}}
			judged := int64(0)
			script := thinking(0)
			var g *gate
			script.check = func(int, *scenario.Response) {
				judged++
				sim.Advance(sim.Now() + judging)
				if tc.stop > 0 && sim.Now() >= tc.stop {
					g.Stop.CompareAndSwap(0, tc.stop)
				}
			}
			p := scenarioPlan(script, 1, func(p *loadplan.Plan) {
				p.Duration, p.Drain = loadplan.Seconds(2*s), loadplan.Seconds(1*s)
				tc.change(p)
			})
			r := simulateWith(t, p, func(is *gate) ring.Ring { g = is; return sim })
			if sim.Now() > tc.ends+20*ms || judged != tc.judged {
				t.Errorf("%d answers judged until %d ms", judged, sim.Now()/ms)
			}
			if x := r.Total; x.Completed != judged || r.Unfinished != x.Sent-judged || x.Failed != 0 {
				t.Errorf("%d completed, %d unfinished of %d", x.Completed, r.Unfinished, x.Sent)
			}
		})
	}
}

// An answer of which a scenario has seen only a part when the run ended is unfinished, too.
func TestAnswersThatAreNotJudgedWhole(t *testing.T) {
	sim := steady(10 * ms)
	looked := 0
	script := thinking(0)
	one := &partly{script, func(u *scenario.User, r *scenario.Response) {
		for ; !r.Unjudged; looked++ {
			sim.Advance(sim.Now() + 600*ms)
			r.Check(0, false)
			r.Unjudged = u.Spend(scenario.MaxSteps)
		}
	}}
	r := simulate(t, scenarioPlan(one, 1, func(p *loadplan.Plan) {
		p.Checks, p.Duration, p.Drain = []string{"c"}, loadplan.Seconds(2*s), loadplan.Seconds(1*s)
	}), sim)
	if sim.Now() > 3*s+620*ms || looked != 6 || r.Unfinished != 1 || r.Total.Failed != 0 || r.Scenario.Unfinished != 1 {
		t.Errorf("looked %d times until %d ms: %d unfinished, %+v", looked, sim.Now()/ms, r.Unfinished, r.Scenario)
	}
}

// A partly is a script that looks at a response until the run is over.
type partly struct {
	*script
	look func(*scenario.User, *scenario.Response)
}

func (s *partly) Make(scenario.Share) (scenario.Scenario, error) { return s, nil }
func (s *partly) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	s.look(u, r)
	return s.script.Next(u, r)
}
