package run

import (
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
)

// Requests under a profile do not keep step with the clock by which it is taken.
func TestArrivalsUnderProfile(t *testing.T) {
	for _, c := range []struct {
		plan loadplan.Plan
		want string
	}{
		{loadplan.Plan{}, ""}, // a closed loop
		{loadplan.Plan{Rate: 500_000}, loadplan.Poisson},
		{loadplan.Plan{Stages: []loadplan.Stage{{Rate: 500_000}}, Arrival: loadplan.Even}, loadplan.Poisson},
		{loadplan.Plan{Replay: 9}, ""}, // requests have times of their own
	} {
		plan := c.plan
		underProfile(&plan, 10*time.Second)
		if plan.Arrival != c.want || time.Duration(plan.Duration) != 17*time.Second {
			t.Errorf("%+v: %q for %v, want %q", c.plan, plan.Arrival, time.Duration(plan.Duration), c.want)
		}
	}
}
