package objective

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/goodput"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/nearest"
	"dyno/internal/result"
	"dyno/internal/result/scripted"
	"dyno/internal/say"
)

// parseMetric finds the quantity metric.NAME, a counter of the run's script, or metric.NAME.p99 and
// the like, of a histogram. of is nil if the name means something else.
func parseMetric(name string) (of func(*result.Result) reading, err error) {
	metric, is := strings.CutPrefix(name, "metric.")
	switch {
	case !is:
		return nil, nil
	case metric == "":
		return nil, errors.New("of a metric: write metric.NAME<3, or metric.NAME.p99<3 of a histogram")
	}
	return func(r *result.Result) reading {
		if m, known := scripted.Find(r.Metrics, metric); known && m.Value != nil {
			return reading{value: *m.Value, ok: true}
		}
		var values *scripted.Values
		_, statistic := splitStatistic(metric, func(name string) bool {
			m, known := scripted.Find(r.Metrics, name)
			values = m.Values
			return known && values != nil
		})
		if statistic == "" {
			return reading{}
		}
		return statisticOf(values, statistic)
	}, nil
}

// splitStatistic parts the name of a histogram and that of its statistic, which both may have dots.
// statistic is "" if no part is a histogram.
func splitStatistic(metric string, isHistogram func(name string) bool) (name, statistic string) {
	for i := len(metric) - 1; i > 0; i-- {
		if metric[i] == '.' && isHistogram(metric[:i]) {
			return metric[:i], metric[i+1:]
		}
	}
	return "", ""
}

// statisticOf is a statistic of a histogram.
func statisticOf(v *scripted.Values, name string) reading {
	known := map[string]float64{"count": float64(v.Count), "min": v.Min, "mean": v.Mean,
		"stdev": v.Stdev, "max": v.Max}
	if value, is := known[name]; is {
		return reading{value: value, ok: true}
	}
	percent, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
	if !isPercentile(name) || err != nil || percent <= 0 || percent >= 100 {
		return reading{}
	}
	value, ok := v.Percentile(percent)
	return reading{value: value, ok: ok, percent: percent, known: v.Count}
}

// Names are those of what a run will have measured beside its latencies.
type Names struct {
	Checks, Counters, Histograms []string
	More                         bool // there may be counters and histograms of other names
}

// Unknown is why no result of a run with these names can meet the objective; nil if one can.
func (o Objective) Unknown(of Names) error {
	check, ofCheck := strings.CutPrefix(o.name, "checks.")
	name, ofMetric := strings.CutPrefix(o.name, "metric.")
	switch {
	case (ofCheck || o.name == "checks") && len(of.Checks) == 0:
		return say.Wrong(fact.NotMeasured{Lacks: fact.NoChecks})
	case ofCheck && !slices.Contains(of.Checks, check):
		return lacking(fact.NoCheck, check, of.Checks)
	case !ofMetric || of.More:
		return nil
	case len(of.Counters)+len(of.Histograms) == 0:
		return say.Wrong(fact.NotMeasured{Lacks: fact.NoMetrics})
	}
	return of.unknownMetric(name)
}

// lacking is the error of a name that there is not among all.
func lacking(what fact.Lack, name string, all []string) error {
	return say.Wrong(fact.NotMeasured{Lacks: what, Name: name, Has: all,
		Meant: nearest.ClosestName(name, all)})
}

// unknownMetric is Unknown of a counter, or a histogram and its statistic.
func (n Names) unknownMetric(name string) error {
	isHistogram := func(name string) bool { return slices.Contains(n.Histograms, name) }
	histogram, statistic := splitStatistic(name, isHistogram)
	switch {
	case slices.Contains(n.Counters, name):
		return nil
	case histogram != "" && !isStatistic(statistic):
		return say.Wrong(fact.NotMeasured{Lacks: fact.NoStatistic, Name: histogram,
			Statistic: statistic})
	case histogram != "":
		return nil
	case isHistogram(name):
		return say.Wrong(fact.NotMeasured{Lacks: fact.NotOne, Name: name})
	}
	return lacking(fact.NoMetric, name, slices.Concat(n.Counters, n.Histograms))
}

// noStatistic is the error of a name that is no statistic.
func noStatistic(name string) error {
	if distributions[name] != nil || streamTime(cmp.Or(goodput.Aliases[name], name)) != nil {
		return fmt.Errorf("%q has several statistics: write %[1]s.p99", name)
	}
	return fmt.Errorf("%q is not one of min, mean, stdev, max, errors, rps, checks and "+
		"percentiles such as p99 and p99.9; those of something else are named after it, as in "+
		"service.p99, connect.p99, first_byte.p99 and error_latency.p99", name)
}

// isStatistic reports whether histograms of scripts have a value of that name.
func isStatistic(name string) bool {
	h := metric.NewHistogram(metric.Fine)
	h.Record(1)
	all := scripted.From([]metric.Named{{Name: name, Histogram: h}})
	return statisticOf(all[0].Values, name).ok
}
