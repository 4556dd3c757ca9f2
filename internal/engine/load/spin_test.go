package load

import (
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
)

// A spinRing is a simulated one on which a turn takes 1 µs, and a send 3.
type spinRing struct{ *ring.Sim }

func (r spinRing) Wait(deadline int64) error { return r.Sim.Wait(deadline + us) }

func (r spinRing) IdleTime() int64 { return 0 }

func (r spinRing) Send(fd int, b []byte) bool {
	r.Sim.Send(fd, b)
	r.Sim.Wait(r.Sim.Now() + 3*us)
	return true
}

// A thread that spins is busy while it sends, and not while it finds nothing.
func TestSpinIsIdle(t *testing.T) {
	r := simulate(t, simPlan(func(p *loadplan.Plan) { p.Spin, p.Duration = true, loadplan.Seconds(100*ms) }),
		spinRing{steady(10 * us)})
	if r.Total.Completed != 10_000 {
		t.Errorf("%d completed", r.Total.Completed)
	}
	if r.Busy < 0.3 || r.Busy > 0.5 {
		t.Errorf("busy for %v of the time, of which sending took 0.3", r.Busy)
	}
}
