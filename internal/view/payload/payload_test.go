package payload

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"dyno/internal/engine/metric"
)

// A pool reads sums of histograms as the sum itself is read.
func TestPool(t *testing.T) {
	a, b := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	for i := range int64(5000) {
		a.Record(i * i * 37)
		b.Record(1e6 + i)
	}
	p := newHistogramPool([]metric.Sparse{a.ToSparse(), b.ToSparse()})
	sum := metric.NewHistogram(metric.Fine)
	sum.Merge(a)
	sum.Merge(b)
	sum.Merge(b)
	for _, c := range []struct {
		blocks []int
		of     *metric.Histogram
	}{{[]int{0}, a}, {[]int{1}, b}, {[]int{0, 1, 1}, sum}} {
		for _, q := range []float64{0.001, 0.25, 0.5, 0.9, 0.99, 0.999} {
			got, want := p.quantileOf(c.blocks, q), float64(c.of.View().Quantile(q))/1e3
			if math.Abs(got/want-1) > 1e-3 { // a view stays within what was counted exactly
				t.Errorf("quantile %v of %v: %v, not %v", q, c.blocks, got, want)
			}
		}
		if got := p.countAll(c.blocks); got != c.of.Count {
			t.Errorf("%v: %d counted, not %d", c.blocks, got, c.of.Count)
		}
	}
	if all := p.quantilesAt([]int{0}, []float64{0.5, 0.99, 0.998, 0.9999}); len(all) != 3 {
		t.Errorf("of 5000 values %d fractions were read, of which the last has 10 beyond it", len(all))
	}
	if low, _ := p.bootstrapBand([]float64{0.5}); low != nil {
		t.Error("two trials have a band")
	}
}

// Columns are rounded, and what is not a number is null.
func TestColumn(t *testing.T) {
	b, err := json.Marshal(struct {
		C column
		V columnOrOne
		W columnOrOne
	}{column{1234567, 0.000123456, math.NaN(), -0.5, 0, math.Inf(1)}, columnOrOne{2.00001, 2.00001}, columnOrOne{1, 2}})
	want := `{"C":[1235000,0.0001235,null,-0.5,0,null],"V":2,"W":[1,2]}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v; not %s", b, err, want)
	}
}

func TestThin(t *testing.T) {
	nan := math.NaN()
	got := meanOfEach([]float64{1, 3, nan, 5, nan, nan, 7}, 2)
	want := column{2, 5, nan, 7}
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return a == b || a != a && b != b }) {
		t.Errorf("%v, not %v", got, want)
	}
}
