package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var (
	// warming climbs for 4 values, stays for 12, and is a tenth lower for 10.
	warming = []float64{52, 71, 83, 90, 100.3, 99.1, 101.2, 100.0, 98.7, 99.6, 100.9, 101.4,
		99.9, 100.2, 98.9, 100.6, 91.1, 90.2, 89.5, 90.8, 91.3, 90.0, 89.9, 90.6, 89.2, 90.4}
)

// R: the same search in full, n <- length(x); fl <- (1e-3*median(x))^2;
// cost <- function(i,j) { s <- x[i:j]; v <- mean((s-mean(s))^2); w <- max(v,fl);
// length(s)*(log(2*pi*w)+v/w) }; F <- c(-15*log(n), rep(Inf,n)); L <- integer(n);
// for (t in 2:n) for (s in 0:(t-2)) { v <- F[s+1]+cost(s+1,t)+15*log(n);
// if (v < F[t+1]) { F[t+1] <- v; L[t] <- s } }
func TestChangepoints(t *testing.T) {
	if got, want := Changepoints(warming), []int{4, 16}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, x := range [][]float64{nil, {1}, {1, 2, 3}, make([]float64, 40)} {
		if got := Changepoints(x); got != nil {
			t.Errorf("of %v: %v", x, got)
		}
	}
}

// What is pruned must never have been needed: the least of all segmentations is found.
func TestChangepointsAreTheBest(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 4))
	for i := range 400 {
		n := 4 + i%60
		x := make([]float64, n)
		level, spread := 100.0, 1.0
		for j := range x {
			if random.IntN(6) == 0 {
				level, spread = 100+30*random.NormFloat64(), 5*random.Float64()
			}
			if x[j] = level + spread*random.NormFloat64(); i%3 == 0 {
				x[j] = math.Round(x[j]) // with runs of equal values
			}
		}
		got, want := Changepoints(x), leastCost(x)
		if math.Abs(costOf(x, got)-want) > 1e-6 {
			t.Fatalf("%v: %v costs %v, the least is %v", x, got, costOf(x, got), want)
		}
	}
}

// leastCost looks at every start of every last segment.
func leastCost(x []float64) float64 {
	c, n := newCosts(x), len(x)
	best := make([]float64, n+1)
	best[0] = -changePenalty(n)
	for t := 1; t <= n; t++ {
		best[t] = math.Inf(1)
		for s := range max(t-1, 0) {
			best[t] = min(best[t], best[s]+c.segmentCost(s, t)+changePenalty(n))
		}
	}
	return best[n]
}

func costOf(x []float64, changes []int) float64 {
	c, from, sum := newCosts(x), 0, float64(len(changes))*changePenalty(len(x))
	for _, to := range append(slices.Clone(changes), len(x)) {
		sum += c.segmentCost(from, to)
		from = to
	}
	return sum
}

func TestOutliers(t *testing.T) {
	x := make([]float64, 300)
	for i := range x {
		x[i] = 100 + float64(i*7%11-5)/5
	}
	if got := Outliers(x); got != nil {
		t.Errorf("of a steady series: %v", got)
	}
	x[0], x[1] = 20, 60 // warm-up
	x[40], x[150], x[151], x[299] = 70, 140, 0, 90
	if got, want := Outliers(x), []int{40, 150, 151, 299}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	constant := slices.Repeat([]float64{1000}, 30)
	constant[7], constant[9] = 1001, 1100
	if got, want := Outliers(constant), []int{9}; !slices.Equal(got, want) {
		t.Errorf("of a constant rate: got %v, want %v", got, want)
	}
	if got := Outliers(nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// course is what a run of n seconds would be without noise, 1 at its best.
type course func(i, n int) float64

var (
	even    course = func(i, n int) float64 { return 1 }
	stall   course = func(i, n int) float64 { return when(i == n/2, 0.1) }
	climb   course = func(i, n int) float64 { return when(i < 3, 0.5+0.15*float64(i)) }
	jit     course = func(i, n int) float64 { return 1 - 0.5*math.Exp(-10*float64(i)/float64(n)) }
	rise    course = func(i, n int) float64 { return when(i < n/2, 0.9) }
	fall    course = func(i, n int) float64 { return when(i >= n/2, 0.9) }
	halve   course = func(i, n int) float64 { return when(i >= n/2, 0.7) }
	late    course = func(i, n int) float64 { return when(i >= n-1-n/8, 0.7) }
	peak    course = func(i, n int) float64 { return when(i < n/5, 0.5) * when(i >= n/2, 0.8) }
	climbed course = func(i, n int) float64 { return when(i < n/5, 0.5) * when(i < n/2, 0.8) }
)

func when(is bool, v float64) float64 {
	if is {
		return v
	}
	return 1
}

// Of fifty noisy runs of a course, nearly all must be classed as what it is.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    course
		n     int
		noise float64
		want  Steadiness
	}{
		{"even", even, 10, 0.05, Flat},
		{"even", even, 30, 0.02, Flat},
		{"even", even, 60, 0.05, Flat},
		{"even", even, 300, 0.05, Flat},
		{"a constant rate", even, 30, 0.0003, Flat},
		{"a second's stall", stall, 10, 0.02, Flat},
		{"a second's stall", stall, 30, 0.05, Flat},
		{"three slow seconds first", climb, 20, 0.02, WarmUp},
		{"three slow seconds first", climb, 60, 0.02, WarmUp},
		{"a compiler's curve", jit, 30, 0.02, WarmUp},
		{"a compiler's curve", jit, 60, 0.02, WarmUp},
		{"a tenth better", rise, 30, 0.015, WarmUp},
		{"a tenth better", rise, 60, 0.02, WarmUp},
		{"in two steps", climbed, 60, 0.02, WarmUp},
		{"a tenth worse", fall, 30, 0.015, Slowdown},
		{"a tenth worse", fall, 60, 0.02, Slowdown},
		{"much worse", halve, 10, 0.02, Slowdown},
		{"much worse", halve, 30, 0.05, Slowdown},
		{"warm, then worse", peak, 60, 0.02, Slowdown},
		{"worse at the end", late, 20, 0.02, Unsteady},
		{"worse at the end", late, 60, 0.05, Unsteady},
		{"too short", halve, 9, 0.02, Unknown},
	} {
		random := rand.New(rand.NewPCG(uint64(c.n), 6))
		got := map[Steadiness]int{}
		for range 50 {
			x, inverse := make([]float64, c.n), make([]float64, c.n)
			off := 0.0
			for i := range x { // neighbours are alike
				off = 0.3*off + c.noise*random.NormFloat64()
				x[i] = 20_000 * c.of(i, c.n) * math.Exp(off)
				inverse[i] = 1 / x[i]
			}
			got[Classify(x, 1)]++
			got[Classify(inverse, -1)]++
		}
		if got[c.want] < 90 {
			t.Errorf("%s, %d s, noise %v: %v, want %s", c.name, c.n, c.noise, got, c.want)
		}
	}
}

func TestClassifyLeavesItsArgument(t *testing.T) {
	x := slices.Repeat([]float64{100, 101}, 20)
	x[20] = 5
	before := fmt.Sprint(x)
	if got := Classify(x, 1); got != Flat || fmt.Sprint(x) != before {
		t.Errorf("%s, and from %s to %v", got, before, x)
	}
}
