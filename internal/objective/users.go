package objective

import (
	"errors"
	"strings"

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
