// Package scripted has what a run's script measured itself: counters and histograms, as results
// have them. Values have no unit, because only the script knows it.
package scripted

import (
	"errors"
	"fmt"
	"math"

	"dyno/internal/engine/metric"
)

// A Metric is a counter or a histogram of a script, of all threads and generators together. Those
// of a result are in the order of their names.
type Metric struct {
	Name   string   `json:"name"`
	Value  *float64 `json:"value,omitempty"`  // of a counter: what was added
	Values *Values  `json:"values,omitempty"` // of a histogram that has some
}

// Values are those of a histogram, to a thousandth. HDR has them in thousandths.
type Values struct {
	Count int64   `json:"count"`
	Min   float64 `json:"min"`
	Mean  float64 `json:"mean"`
	Stdev float64 `json:"stdev"`
	P50   float64 `json:"p50"`
	P75   float64 `json:"p75"`
	P90   float64 `json:"p90"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99_9"`
	P9999 float64 `json:"p99_99"`
	Max   float64 `json:"max"`
	HDR   string  `json:"hdr"`
}

// perUnit is how many of what a metric.Named counts are 1.
const perUnit = 1000

// From converts what a run counted.
func From(all []metric.Named) (metrics []Metric) {
	for _, n := range all {
		m := Metric{Name: n.Name}
		if sum := n.Sum; n.Histogram == nil {
			m.Value = &sum
		} else if n.Histogram.Count > 0 {
			m.Values = NewValues(n.Histogram, perUnit)
		}
		metrics = append(metrics, m)
	}
	return metrics
}

// NewValues are the values of a histogram in which so many stand for 1.
func NewValues(h *metric.Histogram, unit float64) *Values {
	v := h.View()
	values := &Values{Count: h.Count, Min: float64(h.Min) / unit, Mean: h.Mean() / unit,
		Stdev: v.Stdev() / unit, Max: float64(h.Max) / unit, HDR: h.EncodeHDR()}
	for _, p := range metric.Percentiles(values) {
		*p.Value = float64(v.Quantile(p.Percent/100)) / unit
	}
	return values
}

// Named is the reverse of From. An error means that a histogram is none that dyno wrote.
func Named(all []Metric) (named []metric.Named, err error) {
	for _, m := range all {
		n := metric.Named{Name: m.Name}
		switch {
		case m.Values != nil:
			if n.Histogram, err = m.Values.histogram(); err != nil {
				return nil, fmt.Errorf("the histogram %q: %w", m.Name, err)
			}
		case m.Value == nil:
			n.Histogram = metric.NewHistogram(metric.Fine)
		default:
			n.Sum = *m.Value
		}
		named = append(named, n)
	}
	return named, nil
}

func (v *Values) histogram() (*metric.Histogram, error) {
	return metric.Restore(v.HDR, v.Count, v.Min, v.Max, v.Mean, perUnit)
}

// Check reports the metrics that cannot be.
func Check(all []Metric) error {
	var faults []error
	last := ""
	for _, m := range all {
		if m.Name <= last {
			faults = append(faults, fmt.Errorf("metrics: %q follows %q", m.Name, last))
		}
		if last = m.Name; m.Value != nil && m.Values != nil {
			faults = append(faults, fmt.Errorf("metrics: %q is a counter and a histogram", m.Name))
		}
		if m.Value != nil && (math.IsNaN(*m.Value) || math.IsInf(*m.Value, 0)) {
			faults = append(faults, fmt.Errorf("metrics: %q is %v", m.Name, *m.Value))
		}
	}
	_, err := Named(all)
	return errors.Join(append(faults, err)...)
}

// Find is the metric of a name.
func Find(all []Metric, name string) (Metric, bool) {
	for _, m := range all {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// Percentile is any percentile (above 0, below 100); false if there is none.
func (v *Values) Percentile(percent float64) (float64, bool) {
	h, err := v.histogram()
	if err != nil {
		return 0, false
	}
	return float64(h.View().Quantile(percent/100)) / perUnit, true
}
