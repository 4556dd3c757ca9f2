package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// R: wilcox.test(x, exact=TRUE)$p.value
func TestSignedRank(t *testing.T) {
	third := make([]float64, 40)
	for i := range third {
		if third[i] = float64(i + 1); (i+1)%3 == 0 {
			third[i] = -third[i]
		}
	}
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{0.12, -0.03, 0.25, 0.31, 0.08, 0.19, 0.02, 0.44}, 0.0234375},
		{[]float64{1, 2, 3, 4, 5}, 0.0625},
		{[]float64{1, 2, 3, 4, 5, 6}, 0.03125},
		{[]float64{-1, -2, -3, -4, -5, -6, -7, -8, -9, -10}, 0.001953125},
		// Hollander & Wolfe's depression scores, which are R's own example:
		{[]float64{0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01}, 0.0390625},
		{third, 0.066160616266643},
		{nil, 1},
		{[]float64{0, 0, 0}, 1},
	} {
		near(t, fmt.Sprint("p of ", c.x), SignedRank(c.x), c.want)
	}
}

// R: x <- x[x!=0]; r <- rank(abs(x)); t <- sum(r[x>0]);
// s <- as.matrix(expand.grid(rep(list(0:1), length(x)))) %*% r;
// min(1, 2*min(mean(s<=t+1e-9), mean(s>=t-1e-9)))
func TestSignedRankTies(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{1, 1, 1, -1, 2, 2, 3, -2}, 0.2421875},
		{[]float64{0, 0, 1, 2, 2, 3, 3, 3, -1}, 0.046875},
		{[]float64{2, 2, 2, 2, 2, 2}, 0.03125},
		{[]float64{0, 1, -1, 2, -2, 3, 3, 4, 5, 5, 6}, 0.01953125},
	} {
		near(t, fmt.Sprint("p of ", c.x), SignedRank(c.x), c.want)
	}
}

// Without ties the interval at 95 % leaves out 0 if and only if p ≤ 0.05.
func TestSignedRankAndInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for i := range 2000 {
		x := make([]float64, 6+i%15)
		for j := range x {
			x[j] = random.NormFloat64() + 0.6
		}
		v, err := HodgesLehmann(x, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		p := SignedRank(x)
		if out := v.Low > 0 || v.High < 0; out != (p <= 0.05+rounding) {
			t.Fatalf("%v: p is %v and the interval %v to %v", x, p, v.Low, v.High)
		}
	}
}

// R: wilcox.test(a, b, exact=TRUE)$p.value
func TestMannWhitney(t *testing.T) {
	// Hollander & Wolfe's permeability constants, which are R's own example.
	a := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	b := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	near(t, "permeability", MannWhitney(a, b), 0.254412254412254)
	near(t, "the other way round", MannWhitney(b, a), 0.254412254412254)
	near(t, "4 and 4", MannWhitney([]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}),
		0.0285714285714286)
	near(t, "empty", MannWhitney(nil, b), 1)

	// i <- 1:m; e <- 2*i+0.1*(i%%7); i <- 1:n; f <- 2*i-1+9*(i%%3)+0.01*i
	long := func(m, n int) (e, f []float64) {
		for i := 1; i <= m; i++ {
			e = append(e, 2*float64(i)+0.1*float64(i%7))
		}
		for i := 1; i <= n; i++ {
			f = append(f, 2*float64(i)-1+9*float64(i%3)+0.01*float64(i))
		}
		return e, f
	}
	near(t, "50 and 50", MannWhitney(long(50, 50)), 0.2043575326004)
	near(t, "80 and 60", MannWhitney(long(80, 60)), 0.129317331645939)
}

// R: r <- rank(c(a,b)); t <- sum(r[seq_along(a)]);
// s <- combn(length(r), length(a), function(k) sum(r[k]));
// min(1, 2*min(mean(s<=t+1e-9), mean(s>=t-1e-9)))
func TestMannWhitneyTies(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 1, 2, 2, 3}, []float64{2, 3, 3, 4, 4, 4}, 0.0432900432900433},
		{[]float64{5, 5, 5}, []float64{5, 5, 5}, 1},
		{[]float64{1, 2, 2, 2, 7}, []float64{2, 2, 9, 9, 9, 10, 10}, 0.0404040404040404},
		{[]float64{1, 1, 1, 1, 2}, []float64{1, 2, 2, 2, 2, 2, 2}, 0.0909090909090909},
	} {
		near(t, fmt.Sprint(c.a, c.b), MannWhitney(c.a, c.b), c.want)
		near(t, fmt.Sprint(c.b, c.a), MannWhitney(c.b, c.a), c.want)
	}
	// R: wilcox.test(rep(1:10,8), rep(c(2,3,5,7,8,9,10),10))$p.value
	var g, h []float64
	for i := range 80 {
		g = append(g, float64(i%10+1))
	}
	for i := range 70 {
		h = append(h, []float64{2, 3, 5, 7, 8, 9, 10}[i%7])
	}
	near(t, "80 and 70 with ties", MannWhitney(g, h), 0.0956942724900228)
	near(t, "all equal", MannWhitney(make([]float64, 60), make([]float64, 60)), 1)
	// Where both can be had, the approximation must be near the exact value.
	exact, ranks := MannWhitney(g[:50], h[:50]), doubledMidranks(append(g[:50:50], h[:50]...))
	sum := 0
	for _, r := range ranks[:50] {
		sum += r
	}
	about := tiedNormal(ranks, 50, float64(sum-50*51)/2)
	if math.Abs(exact-about) > 0.002 {
		t.Errorf("50 and 50 with ties: exact %v, about %v", exact, about)
	}
}

// R: pwilcox(q, m, n)
func TestRankSums(t *testing.T) {
	for _, c := range []struct {
		q, m, n int
		want    float64
	}{
		{0, 5, 5, 0.00396825396825397}, {7, 5, 8, 0.0326340326340326},
		{12, 3, 20, 0.0575945793337098}, {900, 50, 50, 0.00776197261535618},
		{1000, 50, 50, 0.0427256077591364}, {1249, 50, 50, 0.498631104499242},
		{300, 30, 40, 0.000136579495074118}, {5000, 120, 100, 0.0166530699909227},
	} {
		p := rankSums(c.m, c.n)
		sum, all := 0.0, 0.0
		for u, v := range p {
			if all += v; u <= c.q {
				sum += v
			}
			if v != p[len(p)-1-u] {
				t.Fatalf("of %d and %d: %d is not as likely as its opposite", c.m, c.n, u)
			}
		}
		near(t, fmt.Sprint("P(U ≤ ", c.q, ") of ", c.m, " and ", c.n), sum, c.want)
		near(t, "all", all, 1)
	}
}

// R: k <- max(qwilcox(.025, m, n), 1); c(k, 1 - 2*pwilcox(k-1, m, n))
func TestRankSumLevels(t *testing.T) {
	for _, c := range []struct {
		m, n, k int
		level   float64
	}{
		{10, 8, 18, 0.956579368344074}, {4, 4, 1, 0.971428571428571},
		{5, 3, 1, 0.964285714285714}, {10, 10, 24, 0.956742947455022},
		{20, 20, 128, 0.950909674810628}, {6, 7, 7, 0.965034965034965},
	} {
		k, out := criticalRank(rankSums(c.m, c.n), 0.025)
		if k != c.k {
			t.Errorf("%d and %d: rank %d, want %d", c.m, c.n, k, c.k)
		}
		near(t, fmt.Sprint("level of ", c.m, " and ", c.n), 1-2*out, c.level)
	}
}

// R: w <- wilcox.test(log(a), log(b), conf.int=TRUE, conf.level=l);
// exp(c(w$conf.int[1], w$estimate, w$conf.int[2]))
func TestUnpairedRatio(t *testing.T) {
	a := []float64{285.1, 291.4, 279.9, 288.3, 301.2, 276.5, 290.0, 284.4, 295.7, 289.6}
	b := []float64{205.3, 207.9, 203.1, 199.8, 210.4, 204.4, 190.6, 206.2}
	for _, c := range []struct {
		a, b                      []float64
		level, low, estimate, top float64
	}{
		{a, b, 0.95, 1.3781388478582, 1.41054413515203, 1.45145145145145},
		{a, b, 0.90, 1.38263821532493, 1.41054413515203, 1.44877344877345},
		{b, a, 0.95, 0.68896551724138, 0.708946267670116, 0.72561629153269},
		{a[:4], b[:4], 0.95, 1.34632034632035, 1.40268830485687, 1.45845845845846},
	} {
		v, err := UnpairedRatio(c.a, c.b, c.level)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprint(len(c.a), " to ", len(c.b), " at ", c.level, ": ")
		near(t, what+"low", v.Low, c.low)
		near(t, what+"estimate", v.Estimate, c.estimate)
		near(t, what+"high", v.High, c.top)
		if v.Level < c.level {
			t.Errorf("%slevel %v", what, v.Level)
		}
	}
	if _, err := UnpairedRatio(a, nil, 0.95); !errors.Is(err, ErrEmpty) {
		t.Errorf("of nothing: %v, want %v", err, ErrEmpty)
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if v, err := UnpairedRatio(a, []float64{1, bad}, 0.95); err == nil {
			t.Errorf("ratio to %v is %v, want an error", bad, v)
		}
	}
}

// The level must be kept by what it is about: of all ways to deal values to two sides the
// share whose interval holds a ratio of 1 is the level, exactly.
func TestUnpairedCoverage(t *testing.T) {
	values := []float64{1.13, 1.71, 2.09, 3.5, 4.2, 5.83, 6.17, 7.71, 9.3, 11.9}
	held, all, level := 0, 0, 0.0
	for chosen := range 1 << len(values) {
		var a, b []float64
		for i, v := range values {
			if chosen>>i&1 == 1 {
				a = append(a, v)
			} else {
				b = append(b, v)
			}
		}
		if len(a) != 5 {
			continue
		}
		v, err := UnpairedRatio(a, b, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		all++
		if level = v.Level; v.Low <= 1 && 1 <= v.High {
			held++
		}
		if small := MannWhitney(a, b) <= 0.05; small != (v.Low > 1 || v.High < 1) {
			t.Fatalf("p of %v and %v contradicts %v to %v", a, b, v.Low, v.High)
		}
	}
	near(t, "coverage", float64(held)/float64(all), level)
}
