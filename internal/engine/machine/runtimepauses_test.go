package machine

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

func TestGrown(t *testing.T) {
	h := func(counts ...uint64) *metrics.Float64Histogram {
		return &metrics.Float64Histogram{Counts: counts, Buckets: []float64{0, 1e-6, 1e-3, 1, math.Inf(1)}}
	}
	for _, test := range []struct {
		from, to *metrics.Float64Histogram
		q        float64
		want     time.Duration
	}{
		{h(5, 0, 0, 9), h(5, 0, 0, 9), 1, 0},
		{h(5, 0, 0, 9), h(7, 1, 0, 9), 1, time.Millisecond},
		{h(0, 0, 0, 0), h(99, 1, 0, 0), 0.99, time.Microsecond},
		{h(0, 0, 0, 0), h(98, 2, 0, 0), 0.99, time.Millisecond},
		{h(0, 0, 0, 0), h(0, 0, 0, 1), 1, time.Second},
		{nil, h(1, 1, 1, 1), 1, 0},
	} {
		if got := grownQuantile(test.from, test.to, test.q); got != test.want {
			t.Errorf("the %v-quantile of %v since %v is %v, want %v", test.q, test.to, test.from, got, test.want)
		}
	}
}

// The runtime has these accounts, and a collection is in them.
func TestStandstill(t *testing.T) {
	before := ReadRuntimePauses()
	runtime.GC()
	if _, longest := ReadRuntimePauses().GrowthSince(before); longest <= 0 {
		t.Error("a collection stopped nothing")
	}
	if wait, longest := before.GrowthSince(before); wait != 0 || longest != 0 {
		t.Errorf("nothing held up for %v and %v", wait, longest)
	}
}
