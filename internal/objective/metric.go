package objective

import (
	"errors"
	"strconv"
	"strings"

	"dyno/internal/result"
	"dyno/internal/result/scripted"
)

// parseMetric finds the quantity metric.NAME, a counter of the run's script, or metric.NAME.p99 and
// the like, of a histogram. of is nil if the name means something else.
func parseMetric(name string) (of func(*result.Result) (float64, bool), err error) {
	metric, is := strings.CutPrefix(name, "metric.")
	switch {
	case !is:
		return nil, nil
	case metric == "":
		return nil, errors.New("of a metric: write metric.NAME<3, or metric.NAME.p99<3 of a histogram")
	}
	dot := strings.LastIndexByte(metric, '.')
	return func(r *result.Result) (float64, bool) {
		if m, known := scripted.Find(r.Metrics, metric); known && m.Value != nil {
			return *m.Value, true
		}
		m, known := scripted.Find(r.Metrics, metric[:max(dot, 0)])
		if !known || m.Values == nil {
			return 0, false
		}
		return statisticOf(m.Values, metric[dot+1:])
	}, nil
}

// statisticOf is a statistic of a histogram.
func statisticOf(v *scripted.Values, name string) (float64, bool) {
	switch name {
	case "count":
		return float64(v.Count), true
	case "min":
		return v.Min, true
	case "mean":
		return v.Mean, true
	case "stdev":
		return v.Stdev, true
	case "max":
		return v.Max, true
	}
	percent, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
	if !isPercentile(name) || err != nil || percent <= 0 || percent >= 100 {
		return 0, false
	}
	return v.Percentile(percent)
}
