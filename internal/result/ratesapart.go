package result

import (
	"dyno/internal/fact"
	"dyno/internal/result/runfacts"
)

// RatesApart is runfacts.RatesApart of results; nil if there is nothing to know.
func RatesApart(results []*Result) *fact.Fact {
	older := 0
	for _, r := range results {
		if r.Window.Rates != RatesEnded {
			older++
		}
	}
	return runfacts.RatesApart(older, len(results))
}
