package fleet

import (
	"testing"

	"dyno/internal/engine/loadplan"
)

// Which ring is an agent's own business, and no matter of the plan that all have.
func TestAgentChoosesItsRing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1, func(a *Agent) {
		a.ChooseRing = func(p loadplan.Plan) string {
			if p.Ring != "auto" || p.Connections != 2 {
				t.Errorf("the ring is chosen for %+v", p)
			}
			return "portable"
		}
	})
	p := w.newPlan(0, 0, 2)
	p.Requested, p.Threads = 500, 1
	r := w.mustRun(w.newController(), p)
	w.checkServed(r)
	if r.Generator.Ring != "portable" || r.Plan.Ring != "auto" {
		t.Errorf("on %s, its plan %s", r.Generator.Ring, r.Plan.Ring)
	}
}
