package result

import (
	"fmt"
	"math"

	"dyno/internal/engine/metric"
)

// Quantiles are the values, in µs, that the fractions at (0 to 1) of all values of d did not
// exceed. They come from its histogram, and lie between d's Min and Max. An error means that d has
// no histogram, or none that dyno wrote.
func (d *Distribution) Quantiles(at []float64) ([]float64, error) {
	h, err := d.decodeHistogram()
	if err != nil {
		return nil, fmt.Errorf("a stored histogram: %w", err)
	}
	v, all := h.View(), make([]float64, len(at))
	for i, q := range at {
		all[i] = toMicroseconds(float64(v.Quantile(q)))
	}
	return all, nil
}

// decodeHistogram is the histogram of d.
func (d *Distribution) decodeHistogram() (*metric.Histogram, error) {
	h, err := metric.DecodeHDR(d.HDR)
	if err != nil {
		return nil, err
	}
	if h.Count != d.Count {
		return nil, fmt.Errorf("it has %d values, not the %d that it should", h.Count, d.Count)
	}
	ns := func(us float64) int64 { return int64(math.Round(us * 1e3)) }
	err = h.SetExactValues(ns(d.Min), ns(d.Max), math.Round(d.Mean*1e3))
	return h, err
}

// mergeable returns why d, a distribution of that name, cannot be added to others; nil if it can.
func (d *Distribution) mergeable(of string) error {
	if d == nil || d.Count == 0 {
		return nil
	}
	_, err := d.decodeHistogram()
	if err == nil && (d.Mean < d.Min-toMicroseconds(1) || d.Mean > d.Max+toMicroseconds(1)) {
		err = fmt.Errorf("its mean is %v, of values from %v to %v µs", d.Mean, d.Min, d.Max)
	}
	if err != nil {
		return fmt.Errorf("the %s histogram: %w", of, err)
	}
	return nil
}

// maxPresent is the larger of the values that are present; nil if neither is.
func maxPresent(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// Percentile is any percentile (above 0, below 100) in µs, from the histogram; false if d has none.
func (d *Distribution) Percentile(percent float64) (float64, bool) {
	for p, v := range map[float64]float64{50: d.P50, 75: d.P75, 90: d.P90, 95: d.P95, 99: d.P99,
		99.9: d.P999, 99.99: d.P9999} {
		if p == percent {
			return v, true
		}
	}
	h, err := metric.DecodeHDR(d.HDR)
	if err != nil {
		return 0, false
	}
	return min(max(toMicroseconds(float64(h.HDR().ValueAtQuantile(percent))), d.Min), d.Max), true
}
