package objective

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/metric"
	"dyno/internal/nearest"
	"dyno/internal/result"
	"dyno/internal/result/scripted"
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

// Unknown is why no result of a run with these names can meet the objective; "" if one can.
func (o Objective) Unknown(of Names) string {
	check, ofCheck := strings.CutPrefix(o.name, "checks.")
	name, ofMetric := strings.CutPrefix(o.name, "metric.")
	switch {
	case (ofCheck || o.name == "checks") && len(of.Checks) == 0:
		return "the run checks nothing: bodies or headers that are expected, asserts of a Hurl file, " +
			"and dyno.check of a script would"
	case ofCheck && !slices.Contains(of.Checks, check):
		return fmt.Sprintf("the run has no check %q; %s", check, meant(check, of.Checks))
	case !ofMetric || of.More:
		return ""
	case len(of.Counters)+len(of.Histograms) == 0:
		return "only a script has metrics: dyno.counter and dyno.histogram"
	}
	return of.unknownMetric(name)
}

// unknownMetric is Unknown of a counter, or a histogram and its statistic.
func (n Names) unknownMetric(name string) string {
	isHistogram := func(name string) bool { return slices.Contains(n.Histograms, name) }
	histogram, statistic := splitStatistic(name, isHistogram)
	switch {
	case slices.Contains(n.Counters, name):
		return ""
	case histogram != "" && !isStatistic(statistic):
		return fmt.Sprintf("%q is no value of a histogram; write count, min, mean, stdev, max or a "+
			"percentile, as metric.%s.p99", statistic, histogram)
	case histogram != "":
		return ""
	case isHistogram(name):
		return fmt.Sprintf("%q is a histogram; write which value of it, as metric.%s.p99", name, name)
	}
	return fmt.Sprintf("the script has no counter or histogram %q; %s", name,
		meant(name, slices.Concat(n.Counters, n.Histograms)))
}

// isStatistic reports whether histograms of scripts have a value of that name.
func isStatistic(name string) bool {
	h := metric.NewHistogram(metric.Fine)
	h.Record(1)
	all := scripted.From([]metric.Named{{Name: name, Histogram: h}})
	return statisticOf(all[0].Values, name).ok
}

// meant says which name somebody had in mind, or which there are.
func meant(name string, all []string) string {
	if closest := nearest.ClosestName(name, all); closest != "" {
		return fmt.Sprintf("did you mean %q?", closest)
	}
	const most = 5
	list := "it has"
	for i, one := range all[:min(len(all), most)] {
		if i > 0 {
			list += ","
		}
		list += fmt.Sprintf(" %q", one)
	}
	if len(all) > most {
		list += " and others"
	}
	return list
}
