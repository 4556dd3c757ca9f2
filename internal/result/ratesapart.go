package result

import (
	"dyno/internal/result/runfacts"
	"dyno/internal/say"
)

// RatesApartText is runfacts.RatesApart of results, in words; "" if there is nothing to know.
func RatesApartText(results []*Result) string {
	older := 0
	for _, r := range results {
		if r.Window.Rates != RatesEnded {
			older++
		}
	}
	if f := runfacts.RatesApart(older, len(results)); f != nil {
		return say.Sentence(*f)
	}
	return ""
}
