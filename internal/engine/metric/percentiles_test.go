package metric

import (
	"slices"
	"testing"
)

// Fields are percentiles by their JSON keys, and are set through them.
func TestPercentiles(t *testing.T) {
	of := struct {
		Mean  float64 `json:"mean_us"`
		P50   float64 `json:"p50_us,omitempty"`
		P9999 float64 `json:"p99_99_us"`
		P5    float64 `json:"p5"` // of what has no unit
		Parts float64 `json:"parts"`
		P99   string  `json:"p99"`
		P90   float64 // has no key
		Gap   float64 `json:"gap_p99_9_us,omitempty"`
		Lag   float64 `json:"lag_part"`
	}{}
	var got []Percentile
	for _, p := range Percentiles(&of) {
		*p.Value = p.Percent
		p.Value = nil
		got = append(got, p)
	}
	if want := []Percentile{{"p50_us", "", "p50", 50, nil}, {"p99_99_us", "", "p99.99", 99.99, nil},
		{"p5", "", "p5", 5, nil}, {"gap_p99_9_us", "gap", "p99.9", 99.9, nil}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if of.P50 != 50 || of.P9999 != 99.99 || of.P5 != 5 || of.Mean+of.Parts+of.P90+of.Lag != 0 || of.Gap != 99.9 {
		t.Errorf("%+v", of)
	}
}
