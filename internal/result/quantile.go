package result

import "fmt"

// Quantiles are the values, in µs, that the fractions at (0 to 1) of all values of d did not
// exceed. They come from its histogram, and lie between d's Min and Max. An error means that d has
// no histogram, or none that dyno wrote.
func (d *Distribution) Quantiles(at []float64) ([]float64, error) {
	h, err := d.decodeHistogram()
	if err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	v, all := h.View(), make([]float64, len(at))
	for i, q := range at {
		all[i] = toMicroseconds(float64(v.Quantile(q)))
	}
	return all, nil
}

// maxPresent is the larger of the values that are present; nil if neither is.
func maxPresent(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}
