package experiment

import (
	"strings"

	"dyno/internal/nearest"
)

// orAllowed goes on after what was given: with the name that was meant, or with
// all that are allowed.
func orAllowed(given string, allowed []string) string {
	if n := nearest.ClosestName(given, allowed); n != "" {
		return "; did you mean " + n + "?"
	}
	return "; allowed are " + strings.Join(allowed, ", ")
}
