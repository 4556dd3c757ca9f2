package run

import (
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
)

// Requests do not keep step with the ticks at which a profile is taken.
func TestArrivalsUnderProfile(t *testing.T) {
	for _, c := range []struct {
		plan    loadplan.Plan
		atTicks bool
		want    string
	}{
		{loadplan.Plan{}, true, ""}, // a closed loop
		{loadplan.Plan{Rate: 500_000}, true, loadplan.Poisson},
		{loadplan.Plan{Stages: []loadplan.Stage{{Rate: 500_000}}, Arrival: loadplan.Even}, true,
			loadplan.Poisson},
		{loadplan.Plan{Rate: 500_000, Arrival: loadplan.Even}, false, loadplan.Even},
	} {
		plan := c.plan
		underProfile(&plan, 10*time.Second, c.atTicks)
		if plan.Arrival != c.want || time.Duration(plan.Duration) != 17*time.Second {
			t.Errorf("%+v: %q for %v, want %q", c.plan, plan.Arrival, time.Duration(plan.Duration), c.want)
		}
	}
}
