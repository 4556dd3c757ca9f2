package experiment

import (
	"strings"

	"dyno/internal/nearest"
)

// orAllowed completes a message about what was given: with the name that was probably meant, or
// with all allowed names.
func orAllowed(given string, allowed []string) string {
	if n := nearest.ClosestName(given, allowed); n != "" {
		return "; did you mean " + n + "?"
	}
	return "; allowed are " + strings.Join(allowed, ", ")
}
