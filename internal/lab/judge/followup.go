package judge

import (
	"errors"
	"fmt"
	"slices"

	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/stats"
)

// StandingOut are the factors of a screening that make a difference, alone or together with
// another, in the file's order. Of interactions that a screening cannot tell apart it takes the
// factors of the first.
func StandingOut(r *lab.Record) (factors []string) {
	for _, f := range r.Experiment.Factors {
		if slices.ContainsFunc(r.Verdicts, func(c lab.Comparison) bool {
			return c.Verdict == stats.Different && !c.ClientBound && (c.Factor == f.Name || c.With == f.Name)
		}) {
			factors = append(factors, f.Name)
		}
	}
	return factors
}

// FollowUp is the file of the experiment that follows a screening: all combinations of the factors
// that stand out, others at their first value.
func FollowUp(r *lab.Record, source []byte) ([]byte, error) {
	if !r.Experiment.Design.Screen {
		return nil, errors.New("it is no screening (design: {screen: true}), which alone has a follow-up")
	}
	factors := StandingOut(r)
	if len(factors) == 0 {
		return nil, fmt.Errorf("none of its %d factors stands out, so there is nothing to follow up",
			len(r.Experiment.Factors))
	}
	return design.FollowUp(source, r.Name+"-follow-up", factors)
}
