package capacity

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
)

// The values are those of R 4, the largest and the smallest k that satisfy
//
//	low:  pbinom(k-1, n, q) <= 0.05        high: pbinom(k-1, n, q) >= 0.95
func TestRanks(t *testing.T) {
	for _, c := range []struct {
		n         int64
		q         float64
		low, high int64
	}{
		{300, 0.99, 294, 300}, {368, 0.99, 361, 368}, {1000, 0.99, 985, 996}, {5000, 0.99, 4938, 4962},
		{20000, 0.999, 19972, 19988}, {100, 0.5, 42, 59}, {799, 0.5, 376, 424}, {3000, 0.95, 2830, 2870},
		{298, 0.99, 292, 299}, // there are too few for a bound
	} {
		if low, high := boundRanks(c.n, c.q); low != c.low || high != c.high {
			t.Errorf("%d values, q %v: %d and %d, want %d and %d", c.n, c.q, low, high, c.low, c.high)
		}
	}
	// Many are as if normal: as near as no one sees.
	low, high := boundRanks(1_000_000, 0.5)
	if math.Abs(float64(low-499_178)) > 2 || math.Abs(float64(high-500_823)) > 2 {
		t.Errorf("%d and %d", low, high)
	}
}

// seconds are intervals of latencies that draw gives, in µs.
func seconds(n, each int, draw func(second int) float64) (all []loadresult.Interval) {
	for i := range n {
		h := metric.NewHistogram(metric.Fine)
		for range each {
			h.Record(int64(1e3 * draw(i)))
		}
		all = append(all, loadresult.Interval{Index: i, From: time.Duration(i) * time.Second, Latency: h.ToSparse()})
	}
	return all
}

// The quantile of all seconds is that of their sum.
func TestQuantileOfSeconds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := seconds(10, 500, func(int) float64 { return 100 * r.ExpFloat64() })
	sum := metric.NewHistogram(metric.Fine)
	for _, iv := range all {
		sum.MergeSparse(iv.Latency)
	}
	s := newSample(all, valuesOf("latency"), 9) // the tenth is what came after the window
	if len(s.seconds) != 9 || s.seconds[8] != 1000 || s.all != 5000 {
		t.Fatalf("seconds %v", s.seconds)
	}
	ones := []int64{1, 1, 1, 1, 1, 1, 1, 1, 1}
	for _, q := range []float64{0.0001, 0.01, 0.5, 0.9, 0.99, 0.9997} {
		want := float64(sum.HDR().ValueAtQuantile(100*q)) / 1e3
		if got := s.quantileOf(q, ones); got != want {
			t.Errorf("q %v: %v, want %v", q, got, want)
		}
	}
}

// Requests without an answer may have taken longer than all others, so the upper bound of a
// percentile may be one of them.
func TestBoundWithUnanswered(t *testing.T) {
	s := newSample(seconds(10, 1000, func(int) float64 { return 1000 }), valuesOf("latency"), 10)
	high := s.boundQuantile(0.99, 1).high
	for unanswered, infinite := range map[int64]bool{0: false, 50: false, 90: true} {
		if got := s.highWith(high, 0.99, unanswered); math.IsInf(got, 1) != infinite || !infinite && got != high {
			t.Errorf("%d without an answer: p99 is at most %v", unanswered, got)
		}
	}
}

// A bound of independent requests holds in about 95 of 100 samples.
func TestBoundsCover(t *testing.T) {
	truth := 100 * math.Log(100) // p99 of the exponential distribution
	r := rand.New(rand.NewPCG(3, 4))
	below, above := 0, 0
	const samples = 80
	for i := range samples {
		s := newSample(seconds(10, 300, func(int) float64 { return 100 * r.ExpFloat64() }), valuesOf("latency"), 10)
		b := s.boundQuantile(0.99, uint64(i))
		if b.seconds != 10 {
			t.Fatalf("%d seconds", b.seconds)
		}
		if b.low > truth {
			above++
		}
		if b.high < truth {
			below++
		}
	}
	if below > 10 || above > 10 {
		t.Errorf("of %d bounds of 95 %%, %d are below the truth and %d above", samples, below, above)
	}
}

// One bad second of ten decides nothing: the bounds reach from without it to with
// more of it.
func TestOneBadSecond(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s := newSample(seconds(10, 1000, func(i int) float64 {
		if i == 3 {
			return 10_000 + r.Float64()
		}
		return 100 + r.Float64()
	}), valuesOf("latency"), 10)
	if b := s.boundQuantile(0.99, 1); b.low > 110 || b.high < 10_000 {
		t.Errorf("%+v", b)
	}
}

func TestBoundsOfLittle(t *testing.T) {
	one := func(int) float64 { return 1 }
	for _, c := range []struct {
		n, each int
		bounded bool
	}{{0, 0, false}, {10, 0, false}, {1, 100, false}, {1, 400, true}, {10, 29, false}, {10, 100, true}} {
		b := newSample(seconds(c.n, c.each, one), valuesOf("latency"), float64(c.n)).boundQuantile(0.99, 1)
		if math.IsInf(b.high, 1) == c.bounded || c.n < 8 && b.seconds > 0 {
			t.Errorf("%d seconds of %d: %+v", c.n, c.each, b)
		}
	}
}
