package fleet

import (
	"errors"
	"fmt"
	"slices"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// checkScenario returns why what a final says of users and checks cannot be true, or nil.
func (r *fleetRun) checkScenario(part *result.Result) error {
	i := part.Iterations
	if r.plan.CountsIterations() { // else result.Check has refused iterations
		if i == nil {
			return errors.New("its result has no iterations")
		}
		if open := r.plan.Open(); (i.Due != nil) != open || (i.Waiting != nil) != open ||
			(i.StartedAfter != nil) != open {
			return errors.New("its iterations are of another model of load")
		}
	}
	return r.checkChecks(part)
}

// checkChecks returns why the checks of a final cannot be true, or nil: they must be those of the
// plan, and each error of a check is a check that failed.
func (r *fleetRun) checkChecks(part *result.Result) error {
	if n := len(part.Checks); n < r.plan.LeastChecks() || n > len(r.plan.Checks) {
		return fmt.Errorf("its result has %d checks, and the plan has %d", n, len(r.plan.Checks))
	}
	failed, wrong := 0.0, -float64(part.Refused())
	least := r.plan.LeastChecks()
	for k, c := range part.Checks {
		if k < least && c.Name != r.plan.Checks[k] ||
			k >= least && !slices.Contains(r.plan.Checks[least:], c.Name) {
			return errors.New("its result has a check that the plan does not have")
		}
		failed += float64(c.Failed)
	}
	for _, e := range part.Errors {
		if e.Phase == string(loadresult.Check) {
			wrong += float64(e.Count)
		}
	}
	if wrong > failed {
		return fmt.Errorf("its result has %.6g errors of checks, and %.6g failed", wrong, failed)
	}
	return nil
}

// scenarioClaims returns the claims about users, their iterations and checks. A user has one
// iteration at a time.
func (r *fleetRun) scenarioClaims(m *member, part *result.Result, all float64) (claims []claim) {
	const us, rounded = 1e6, 1.001
	i, in, most := part.Iterations, part.Window.MeasuredS, countPerSecondMax*all
	answers := float64(part.Answers()) // a response passes or fails each check once
	for _, c := range part.Checks {
		claims = append(claims, claim{"checks passed", float64(c.Passed), answers},
			claim{"checks failed", float64(c.Failed), answers},
			claim{"checks made", float64(c.Passed) + float64(c.Failed), answers})
	}
	if i == nil {
		return claims
	}
	started, warm, after := most, countPerSecondMax*part.Window.WarmupS, 0.0
	early, users := float64(m.reported.sum.EarlyIterations), float64(m.part.UserCount())
	if r.plan.Open() {
		peak := r.peakOf(m)
		after, warm = float64(*i.StartedAfter), arrivalsMax(peak, part.Window.WarmupS)
		claims = append(claims, claim{"iterations due", float64(*i.Due), arrivalsMax(peak, in)})
	}
	if m.part.Requested > 0 {
		started = float64(m.part.Requested)
	}
	claims = append(claims, claim{"users", float64(i.Users), users},
		claim{"iterations", float64(i.Started), started},
		claim{"iterations at once", float64(i.Unfinished), float64(i.Users)},
		claim{"iterations before the window", float64(i.Warmup), warm})
	for _, d := range []*result.Distribution{i.Time, i.FailedTime} {
		if d != nil {
			claims = append(claims, claim{"µs of an iteration", d.Max, all * us})
		}
	}
	for _, x := range []struct {
		what           string
		rate, n, after float64 // after the window
	}{
		{"iterations begun in the window", i.Rate.Started, float64(i.Started), after},
		{"iterations completed in the window", i.Rate.Completed, float64(i.Completed) + early,
			after + users},
	} {
		claims = append(claims, claim{x.what, x.rate * in, x.n*rounded + 1 + in},
			claim{"fewer " + x.what, max(x.n-x.rate*in, 0), x.after + x.n*(rounded-1) + 1 + in})
	}
	return claims
}

// peakOf returns the highest rate of a member, in what -R counts per second. It may get others'
// shares.
func (r *fleetRun) peakOf(m *member) float64 {
	if r.onLoss == Rebalance {
		return r.plan.Peak().PerSecond()
	}
	return m.part.Peak().PerSecond()
}
