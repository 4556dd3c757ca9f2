package result

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parseChecks finds the share of passed checks that a name means, in percent: checks of all,
// checks.NAME of one. of is nil if the name means something else.
func parseChecks(name string) (of func(*Result) (float64, bool), err error) {
	check, one := strings.CutPrefix(name, "checks.")
	switch {
	case name == "checks":
		check = ""
	case !one:
		return nil, nil
	case check == "":
		return nil, errors.New("of one check: write checks.NAME>99%")
	}
	return func(r *Result) (float64, bool) {
		share, ok := r.Passed(check)
		return 100 * share, ok
	}, nil
}

// iterationTime is the time of completed iterations, and failedIterationTime of failed ones; nil if
// there were none.
func iterationTime(r *Result) *Distribution {
	if r.Iterations == nil {
		return nil
	}
	return r.Iterations.Time
}

func failedIterationTime(r *Result) *Distribution {
	if r.Iterations == nil {
		return nil
	}
	return r.Iterations.FailedTime
}

// noteFewIterations says that a percentile of iterations is only their longest: fewer than one lies
// beyond it. A load of thousands of requests may have few iterations, and then the verdict finds
// nothing.
func (o Objective) noteFewIterations(r *Result) string {
	whose, statistic, _ := strings.Cut(o.name, ".")
	of := map[string]*Distribution{"iteration": iterationTime(r),
		"failed_iteration": failedIterationTime(r)}[whose]
	percent, err := strconv.ParseFloat(strings.TrimPrefix(statistic, "p"), 64)
	// A little more than 1 of 100 exceeds p99, in floating point.
	if of == nil || err != nil || float64(of.Count)*(1-percent/100) >= 0.999 {
		return ""
	}
	return fmt.Sprintf("of %d iterations, which are too few for %s: it is their longest", of.Count,
		statistic)
}
