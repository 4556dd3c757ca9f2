package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// R: b <- cbind(c(10,11,12,10.5,9.8,10.2), c(20,23,21,22,19.5,20.4));
// v <- cbind(c(10.9,12.2,13.1,11.8,10.7,11.5), c(19,20.7,20.4,19.9,18.9,18.8));
// for (q in 1:2) { w <- wilcox.test(log(v[,q]/b[,q]), conf.int=TRUE, conf.level=0.95);
// print(exp(c(w$conf.int[1], w$estimate, w$conf.int[2]))) }
// Six pairs: the interval is the whole range, at 1 − 2/64.
func TestShift(t *testing.T) {
	base := [][]float64{{10, 20}, {11, 23}, {12, 21}, {10.5, 22}, {9.8, 19.5}, {10.2, 20.4}}
	variant := [][]float64{{10.9, 19}, {12.2, 20.7}, {13.1, 20.4}, {11.8, 19.9}, {10.7, 18.9},
		{11.5, 18.8}}
	got, err := Shift(base, variant, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	want := []Interval{
		{1.09, 1.1076215, 1.1274510, 1 - 2.0/64},
		{0.9, 0.9356763, 0.9714286, 1 - 2.0/64},
	}
	for q := range want {
		for _, pair := range [][2]float64{{got[q].Low, want[q].Low},
			{got[q].Estimate, want[q].Estimate}, {got[q].High, want[q].High},
			{got[q].Level, want[q].Level}} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				t.Errorf("quantile %d: %+v, want %+v", q, got[q], want[q])
			}
		}
	}
}

// A quantile that some trials are too short for rests on the others.
func TestShiftOfWhatIsMissing(t *testing.T) {
	none := math.NaN()
	base := [][]float64{{1, none, none}, {1, 2, none}, {1, 2, 3}}
	variant := [][]float64{{2, 4, 6}, {2, 4, 6}, {2, 4, none}}
	got, err := Shift(base, variant, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for q, level := range []float64{0.75, 0.5} {
		if v := got[q]; v.Level != level || math.Abs(v.Estimate-2) > 1e-12 {
			t.Errorf("quantile %d: %+v, want 2 at the level %v", q, v, level)
		}
	}
	if !math.IsNaN(got[2].Estimate) || got[2].Level != 0 {
		t.Errorf("of no pair: %+v", got[2])
	}
}

func TestShiftRefuses(t *testing.T) {
	ok := [][]float64{{1, 2}}
	for _, c := range []struct {
		name          string
		base, variant [][]float64
	}{
		{"other numbers of rounds", ok, append(ok, ok...)},
		{"other numbers of quantiles", ok, [][]float64{{1}}},
		{"nothing to divide by", [][]float64{{0, 2}}, ok},
	} {
		if got, err := Shift(c.base, c.variant, 0.95); err == nil {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if _, err := Shift(nil, nil, 0.95); !errors.Is(err, ErrEmpty) {
		t.Errorf("of no rounds: %v", err)
	}
}

// quantilesOf simulates a trial: quantiles that move together, as those of one trial do, each
// with a noise of its own besides; tail stretches the upper ones.
func quantilesOf(random *rand.Rand, m, together int, tail float64) []float64 {
	x := make([]float64, m)
	common := 0.05 * random.NormFloat64() * float64(together)
	for q := range x {
		p := float64(q+1) / float64(m+1)
		x[q] = 100 * math.Exp(p+common+0.03*random.NormFloat64())
		if p > 0.6 {
			x[q] *= tail
		}
	}
	return x
}

// The band at Simultaneous holds everywhere at once at least as often as it says, whether
// quantiles move together or not; that of each quantile by itself does not.
func TestShiftCoverage(t *testing.T) {
	const m, n, tail, level = 10, 10, 1.2, 0.95
	for _, together := range []int{0, 1} {
		random := rand.New(rand.NewPCG(6, uint64(together)))
		trials := experiments() / 10
		apart, all := 0, 0
		for range trials {
			var base, variant [][]float64
			for range n {
				base = append(base, quantilesOf(random, m, together, 1))
				variant = append(variant, quantilesOf(random, m, together, tail))
			}
			apart += holdsEverywhere(t, base, variant, level, tail)
			all += holdsEverywhere(t, base, variant, Simultaneous(level, m), tail)
		}
		t.Logf("together %d: a band of single intervals holds %d of %d times, a simultaneous one %d",
			together, apart, trials, all)
		if trials-all > atMost(trials, 1-level) {
			t.Errorf("together %d: the band misses %d of %d times", together, trials-all, trials)
		}
		if together == 0 && trials-apart <= atMost(trials, 1-level) {
			t.Errorf("single intervals miss %d of %d times: then no band is needed", trials-apart,
				trials)
		}
	}
}

func holdsEverywhere(t *testing.T, base, variant [][]float64, level, tail float64) int {
	t.Helper()
	got, err := Shift(base, variant, level)
	if err != nil {
		t.Fatal(err)
	}
	for q, v := range got {
		truth := 1.0
		if float64(q+1)/float64(len(got)+1) > 0.6 {
			truth = tail
		}
		if v.Low > truth || v.High < truth {
			return 0
		}
	}
	return 1
}
