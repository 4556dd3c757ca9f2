package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// The expected values were computed with R 4.2.2; the command stands beside each table.

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
		t.Errorf("%s: got %.15g, want %.15g", what, got, want)
	}
}

// R: quantile(c(3.1,1.2,9.8,4.4,4.4,7.0,2.5), c(0,.1,.25,.5,.9,1), type=7)
func TestQuantile(t *testing.T) {
	x := []float64{3.1, 1.2, 9.8, 4.4, 4.4, 7.0, 2.5}
	s := sortedCopy(x)
	for _, c := range []struct{ q, want float64 }{
		{0, 1.20}, {0.1, 1.98}, {0.25, 2.80}, {0.5, 4.40}, {0.9, 8.12}, {1, 9.80},
		{-1, 1.20}, {2, 9.80},
	} {
		near(t, fmt.Sprint("quantile ", c.q), Quantile(s, c.q), c.want)
	}
	near(t, "median", Median(x), 4.4)
	near(t, "median of two", Median([]float64{1, 4}), 2.5)
	if x[0] != 3.1 {
		t.Error("Median sorted its argument")
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("the median of nothing is a number")
	}
}

// R: k <- max(qsignrank(.025, n), 1); c(k, 1 - 2*psignrank(k-1, n))
func TestSignedRankLevels(t *testing.T) {
	for _, c := range []struct {
		n, k  int
		level float64
	}{
		{1, 1, 0}, {2, 1, 0.5}, {3, 1, 0.75}, {4, 1, 0.875}, {5, 1, 0.9375},
		{6, 1, 0.96875}, {7, 3, 0.953125}, {8, 4, 0.9609375}, {9, 6, 0.9609375},
		{10, 9, 0.951171875}, {11, 11, 0.9580078125}, {12, 14, 0.95751953125},
		{15, 26, 0.95208740234375}, {20, 53, 0.951559066772461},
		{30, 138, 0.950289878994226}, {50, 435, 0.950553593199398},
	} {
		k, out := criticalRank(signedRank(c.n), 0.025)
		if k != c.k {
			t.Errorf("n=%d: rank %d, want %d", c.n, k, c.k)
		}
		near(t, fmt.Sprint("level at n=", c.n), 1-2*out, c.level)
	}
}

// R: k <- max(qbinom(.025, n, .5), 1); c(k, n+1-k, 1 - 2*pbinom(k-1, n, .5))
func TestMedianIntervalLevels(t *testing.T) {
	for _, c := range []struct {
		n, low, high int
		level        float64
	}{
		{1, 1, 1, 0}, {2, 1, 2, 0.5}, {3, 1, 3, 0.75}, {4, 1, 4, 0.875}, {5, 1, 5, 0.9375},
		{6, 1, 6, 0.96875}, {8, 1, 8, 0.9921875}, {9, 2, 8, 0.9609375},
		{10, 2, 9, 0.978515625}, {11, 2, 10, 0.98828125}, {12, 3, 10, 0.96142578125},
		{15, 4, 12, 0.96484375}, {20, 6, 15, 0.958610534667969},
		{30, 10, 21, 0.957226054742932}, {50, 18, 33, 0.967160862435731},
		{200, 86, 115, 0.959962808386601},
	} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = float64(c.n - i)
		}
		v, err := MedianInterval(x, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if v.Low != float64(c.low) || v.High != float64(c.high) {
			t.Errorf("n=%d: x(%v) to x(%v), want x(%d) to x(%d)",
				c.n, v.Low, v.High, c.low, c.high)
		}
		near(t, fmt.Sprint("level at n=", c.n), v.Level, c.level)
		near(t, fmt.Sprint("median at n=", c.n), v.Estimate, float64(c.n+1)/2)
	}
}

// R: w <- wilcox.test(d, conf.int=TRUE); c(w$conf.int[1], w$estimate, w$conf.int[2])
func TestHodgesLehmann(t *testing.T) {
	d := []float64{0.12, -0.03, 0.25, 0.31, 0.08, 0.19, 0.02, 0.44}
	v, err := HodgesLehmann(d, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "low", v.Low, 0.025)
	near(t, "estimate", v.Estimate, 0.165)
	near(t, "high", v.High, 0.315)
	near(t, "level", v.Level, 0.9609375)
}

// R: w <- wilcox.test(log(a), log(b), paired=TRUE, conf.int=TRUE);
// exp(c(w$conf.int[1], w$estimate, w$conf.int[2]))
func TestPairedRatio(t *testing.T) {
	a := []float64{285.1, 291.4, 279.9, 288.3, 301.2, 276.5, 290.0, 284.4, 295.7, 289.6}
	b := []float64{205.3, 207.9, 203.1, 199.8, 210.4, 204.4, 190.6, 206.2, 208.8, 201.5}
	v, err := PairedRatio(a, b, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "low", v.Low, 1.38340907891055)
	near(t, "estimate", v.Estimate, 1.4099663565153)
	near(t, "high", v.High, 1.44805160167978)

	inverse, err := PairedRatio(b, a, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "inverse", inverse.Estimate, 1/v.Estimate)
	near(t, "inverse low", inverse.Low, 1/v.High)

	a[3] = 9000 // one wild pair
	wild, err := PairedRatio(a, b, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if wild.Estimate < v.Estimate || wild.Estimate > v.Estimate*1.02 {
		t.Errorf("one wild pair moves the ratio from %v to %v", v.Estimate, wild.Estimate)
	}
}

func TestNoRatio(t *testing.T) {
	for _, c := range []struct{ a, b []float64 }{
		{[]float64{1, 2}, []float64{1}},
		{[]float64{1, 0}, []float64{1, 1}},
		{[]float64{1, 1}, []float64{1, -1}},
		{[]float64{-1}, []float64{-1}},
		{[]float64{math.NaN()}, []float64{1}},
		{[]float64{1}, []float64{math.Inf(1)}},
	} {
		if v, err := PairedRatio(c.a, c.b, 0.95); err == nil {
			t.Errorf("ratio of %v to %v: got %v, want an error", c.a, c.b, v)
		}
	}
	_, ratio := PairedRatio(nil, nil, 0.95)
	_, centre := HodgesLehmann(nil, 0.95)
	_, median := MedianInterval(nil, 0.95)
	for _, err := range []error{ratio, centre, median} {
		if !errors.Is(err, ErrEmpty) {
			t.Errorf("of no values: got %v, want %v", err, ErrEmpty)
		}
	}
}

// The level must be kept by what it is about: of all 2ⁿ ways to give signs to distances from
// a known centre, the share whose interval holds the centre is the level, exactly.
func TestCoverage(t *testing.T) {
	distances := []float64{0.3, 1.1, 1.7, 2.9, 3.5, 4.2, 5.8, 6.1, 7.7, 9.3}
	type interval func([]float64, float64) (Interval, error)
	for name, f := range map[string]interval{"rank": HodgesLehmann, "sign": MedianInterval} {
		held, level := 0, 0.0
		for signs := range 1 << len(distances) {
			x := slices.Clone(distances)
			for i := range x {
				if signs>>i&1 == 1 {
					x[i] = -x[i]
				}
			}
			v, err := f(x, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if level = v.Level; v.Low <= 0 && 0 <= v.High {
				held++
			}
		}
		near(t, name, float64(held)/float64(int(1)<<len(distances)), level)
	}
}
