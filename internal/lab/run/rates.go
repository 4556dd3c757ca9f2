package run

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
)

// pilotTime is how long the capacity of a variant is measured, of which the first third is warm-up.
const pilotTime = 1500 * time.Millisecond

// chooseRates chooses the rates of levels that are shares of the smallest capacity: each variant is
// started and loaded as fast as it answers, on as many connections as the first of these levels
// has. All such levels have rates of the same capacity, so that they are comparable.
func (r *running) chooseRates(ctx context.Context) error {
	levels := slices.DeleteFunc(slices.Clone(r.Experiment.Levels), func(l experiment.Level) bool {
		return l.Share == 0
	})
	if len(levels) == 0 {
		return nil
	}
	chosen := &lab.ChosenRates{Rates: map[string]float64{}}
	for _, a := range r.loadableArms() {
		if a.Control {
			continue
		}
		r.Tell(Event{Step: "pilot", Arm: a.Name, Level: levels[0].Name})
		x, err := r.pilotCapacity(ctx, a, levels[0])
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			return fmt.Errorf("the rates of %s are shares of the smallest capacity, and that of %s could "+
				"not be measured: %w", levels[0].Name, a.Name, err)
		}
		if chosen.Arm == "" || x < chosen.Capacity {
			chosen.Arm, chosen.Capacity = a.Name, x
		}
	}
	for _, l := range levels {
		chosen.Rates[l.Name] = roundedRate(float64(l.Share) * chosen.Capacity)
	}
	r.record.Chosen = chosen
	r.setRates(chosen)
	return nil
}

// setRates gives levels the rates that were chosen.
func (r *running) setRates(c *lab.ChosenRates) {
	if c != nil {
		r.Experiment = design.WithRates(r.Experiment, c.Rates)
		r.record.Experiment = r.Experiment
	}
}

// roundedRate has two digits, which the pilot measurement carries, and is at least 0.001.
func roundedRate(perSecond float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(max(perSecond, 0.01)))-1)
	return max(math.Round(perSecond/unit)*unit, 0.001)
}

// pilotCapacity is the throughput of an arm's server in a short closed workload.
func (r *running) pilotCapacity(ctx context.Context, a *arm, l experiment.Level) (float64, error) {
	l.Share, l.Arrival, l.Requests = 0, "", 0
	stand, err := r.start(ctx, Setting{Arm: a.Name, Variant: a.variant, Level: l,
		Trial: lab.FileName("pilot", a.Name), Aside: true})
	if err != nil {
		return 0, err
	}
	defer stand.Stop()
	p, _, err := r.plans(a, l, stand.URL(), r.record.CPUs.Generator)
	if err != nil {
		return 0, err
	}
	p.Warmup = loadplan.Seconds(pilotTime / 3)
	p.Duration = loadplan.Seconds(pilotTime - pilotTime/3)
	result, err := r.runnerFor(stand)(ctx, p, func(loadresult.Interval) {})
	if err != nil {
		return 0, err
	}
	if result.Requests.Completed == 0 {
		return 0, nothingCompleted(result)
	}
	return result.Rate.Completed, nil
}
