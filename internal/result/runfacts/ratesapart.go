package runfacts

import "dyno/internal/fact"

// RatesApart is what must be known where results are compared of which some, but not all, have
// rates that count other answers: those of an older dyno. It is nil if all count the same.
func RatesApart(older, all int) *fact.Fact {
	if older == 0 || older == all {
		return nil
	}
	return &fact.Fact{Severity: fact.Warning, Args: fact.RatesApart{Older: older, All: all}}
}
