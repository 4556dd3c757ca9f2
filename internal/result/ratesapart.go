package result

import (
	"dyno/internal/fact"
	"dyno/internal/say"
)

// RatesApart is what must be known where results are compared of which some, but not all, have
// rates that count other answers (see Window.Rates); nil if all count the same.
func RatesApart(older, all int) *fact.Fact {
	if older == 0 || older == all {
		return nil
	}
	return &fact.Fact{Severity: fact.Warning, Args: fact.RatesApart{Older: older, All: all}}
}

// RatesApartText is RatesApart of results in words; "" if there is nothing to know.
func RatesApartText(results []*Result) string {
	older := 0
	for _, r := range results {
		if r.Window.Rates != RatesEnded {
			older++
		}
	}
	if f := RatesApart(older, len(results)); f != nil {
		return say.Sentence(*f)
	}
	return ""
}
