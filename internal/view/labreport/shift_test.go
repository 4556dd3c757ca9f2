package labreport

import (
	"bytes"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/stats"
)

func TestShiftTable(t *testing.T) {
	interval := func(low, estimate, high, level float64) stats.Interval {
		return stats.Interval{Low: low, Estimate: estimate, High: high, Level: level}
	}
	r := &lab.Record{Progress: lab.Progress{Name: "x"}, Findings: lab.Findings{Shifts: []lab.Shift{
		{Level: "c1", Baseline: "a", Variant: "b", Points: []lab.ShiftPoint{
			{Quantile: 0.5, Ratio: interval(0.9, 0.95, 1.02, 0.97), Band: interval(0.8, 0.95, 1.1, 0.996)},
			{Quantile: 0.99, Ratio: interval(1.1, 1.2, 1.3, 0.97), Band: interval(1.05, 1.2, 1.4, 0.996)},
		}},
		{Level: "c1", Baseline: "a", Variant: "c", Points: []lab.ShiftPoint{
			{Quantile: 0.5, Ratio: interval(1.1, 1.2, 1.3, 0.75), Band: interval(1.1, 1.2, 1.3, 0.75)},
		}},
	}}}
	var b bytes.Buffer
	if err := WholeMarkdown(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| level | quantile | b | c |",
		`| c1 | p50 | 0.950 [0.900, 1.020] | 1.20 |`,
		`| c1 | p99 | 1.20 [1.10, 1.30] \* | – |`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
}
