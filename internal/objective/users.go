package objective

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// parseChecks finds the share of passed checks that a name means, in percent: checks of all,
// checks.NAME of one. of is nil if the name means something else.
func parseChecks(name string) (of func(*result.Result) (float64, bool), err error) {
	check, one := strings.CutPrefix(name, "checks.")
	switch {
	case name == "checks":
		check = ""
	case !one:
		return nil, nil
	case check == "":
		return nil, errors.New("of one check: write checks.NAME>99%")
	}
	return func(r *result.Result) (float64, bool) {
		share, ok := r.Passed(check)
		return 100 * share, ok
	}, nil
}

// noteFewIterations says that a percentile of iterations is only their longest: fewer than one lies
// beyond it. A load of thousands of requests may have few iterations, and then the verdict finds
// nothing.
func (o Objective) noteFewIterations(r *result.Result) string {
	whose, statistic, _ := strings.Cut(o.name, ".")
	of := map[string]*result.Distribution{"iteration": r.IterationTime(),
		"failed_iteration": r.FailedIterationTime()}[whose]
	percent, err := strconv.ParseFloat(strings.TrimPrefix(statistic, "p"), 64)
	// A little more than 1 of 100 exceeds p99, in floating point.
	if of == nil || err != nil || float64(of.Count)*(1-percent/100) >= 0.999 {
		return ""
	}
	return fmt.Sprintf("of %s iterations, which are too few for %s: it is their longest",
		loadresult.CountText(of.Count), statistic)
}
