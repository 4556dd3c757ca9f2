package objective

import (
	"math"
	"strconv"
	"strings"

	"dyno/internal/result"
	"dyno/internal/result/scripted"
)

// needs is how many values the percentile takes that the objective is about: as many as that one
// lies beyond it. It is 0 if r has so many, or if the objective is about no percentile. With fewer
// values the percentile is only the longest of them.
func (o Objective) needs(r *result.Result) int64 {
	whose, statistic := "latency", o.name
	if at := strings.IndexByte(o.name, '.'); at >= 0 && !isPercentile(o.name) {
		whose, statistic = o.name[:at], o.name[at+1:]
	}
	var have int64
	switch whose {
	case "route":
		at := strings.LastIndexByte(statistic, '.')
		for _, route := range r.Routes {
			if at > 0 && route.Name == statistic[:at] {
				have = route.Completed
			}
		}
		statistic = statistic[at+1:]
	case "metric":
		have, statistic = valuesOf(r, statistic)
	default:
		if of := distributions[whose]; of != nil && of(r) != nil {
			have = of(r).Count
		}
	}
	percent, err := strconv.ParseFloat(strings.TrimPrefix(statistic, "p"), 64)
	if err != nil || !isPercentile(statistic) || percent <= 0 || percent >= 100 {
		return 0
	}
	// A little more than 1 of 100 exceeds p99, in floating point.
	if least := int64(math.Ceil(100/(100-percent) - 1e-6)); have < least {
		return least
	}
	return 0
}

// valuesOf is how many values a script's histogram has, and which statistic of them is meant.
func valuesOf(r *result.Result, name string) (have int64, statistic string) {
	_, statistic = splitStatistic(name, func(name string) bool {
		m, known := scripted.Find(r.Metrics, name)
		if !known || m.Values == nil {
			return false
		}
		have = m.Values.Count
		return true
	})
	return have, statistic
}
