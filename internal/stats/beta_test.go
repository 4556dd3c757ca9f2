package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// R: pbeta(x, a, b)
func TestIncompleteBeta(t *testing.T) {
	for _, c := range []struct{ x, a, b, want float64 }{
		{0.5, 2, 3, 0.6875}, {0.1, 0.5, 0.5, 0.204832764699133},
		{0.99, 5, 0.5, 0.757158109101562}, {0.3, 10.5, 0.7, 1.34153234321913e-06},
		{0.02, 1, 50, 0.635830319912883}, {0.5, 500, 500, 0.5},
		{0.53, 500, 500, 0.9711916529461}, {0.9999, 200, 0.5, 0.841574403264339},
		{0, 2, 3, 0}, {1, 2, 3, 1},
	} {
		near(t, fmt.Sprint(c), incompleteBeta(c.a, c.b, c.x), c.want)
	}
	small := incompleteBeta(10.5, 0.7, 0.3) / 1.34153234321913e-06
	near(t, "of a small one", small, 1)
}

// R: qt(p, df)
func TestStudentT(t *testing.T) {
	for _, c := range []struct{ p, df, want float64 }{
		{0.975, 1, 12.7062047361747}, {0.975, 5, 2.57058183563631},
		{0.975, 9, 2.2621571627982}, {0.95, 19, 1.72913281152137}, {0.75, 1, 1},
		{0.995, 2, 9.92484320091829}, {0.999, 3, 10.2145318524074},
		{0.975, 1000, 1.96233908082641}, {0.6, 4, 0.270722294707597}, {0.5, 4, 0},
	} {
		near(t, fmt.Sprint("t ", c.p, " ", c.df), studentT(c.p, c.df), c.want)
	}
}

// R: x <- c(3.1,1.2,9.8,4.4,4.4,7.0,2.5); sd(x)/mean(x)
func TestCoV(t *testing.T) {
	near(t, "cov", CoV([]float64{3.1, 1.2, 9.8, 4.4, 4.4, 7.0, 2.5}), 0.630468758189162)
	near(t, "of equals", CoV([]float64{5, 5, 5}), 0)
	if !math.IsNaN(CoV([]float64{5})) || !math.IsNaN(CoV([]float64{-1, 1})) {
		t.Error("a coefficient of one value, or of a mean of 0, is a number")
	}
}

func TestBootstrap(t *testing.T) {
	x := []float64{31, 28, 35, 30, 29, 33, 41, 27, 30, 32, 29, 36, 31, 30, 28, 34, 30, 33, 29, 38}
	mean := func(blocks []int) float64 {
		sum := 0.0
		for _, i := range blocks {
			sum += x[i]
		}
		return sum / float64(len(blocks))
	}
	v, err := Bootstrap(len(x), 4000, 7, mean, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "estimate", v.Estimate, 31.7)
	// The bootstrap's standard error of a mean is known: sd·√((n−1)/n)/√n = 0.7893.
	near(t, "half width", math.Round(10*(v.High-v.Low)/2)/10, 1.5)
	again, err := Bootstrap(len(x), 4000, 7, mean, 0.95)
	if err != nil || again != v {
		t.Errorf("the same seed gave %v, then %v (%v)", v, again, err)
	}
	if other, _ := Bootstrap(len(x), 4000, 8, mean, 0.95); other == v {
		t.Error("another seed gave the same")
	}
	// R: quantile(replicate(1e6, sum(sample(8, 8, TRUE) == 1)), c(.025, .975))
	ones := func(blocks []int) (n float64) {
		for _, i := range blocks {
			if i == 0 {
				n++
			}
		}
		return n
	}
	if v, _ := Bootstrap(8, 2000, 1, ones, 0.95); v.Low != 0 || v.Estimate != 1 || v.High != 3 {
		t.Errorf("a block of eight is drawn %v to %v times, want 0 to 3", v.Low, v.High)
	}
}

func TestNoBootstrap(t *testing.T) {
	one := func([]int) float64 { return 1 }
	if _, err := Bootstrap(BlocksMin-1, 100, 1, one, 0.95); !errors.Is(err, ErrFew) {
		t.Errorf("of %d blocks: %v, want %v", BlocksMin-1, err, ErrFew)
	}
	if _, err := Bootstrap(BlocksMin, 0, 1, one, 0.95); err == nil {
		t.Error("no resamples, no error")
	}
	sometimes := func(blocks []int) float64 {
		if slices.Contains(blocks, 0) {
			return 1
		}
		return math.NaN()
	}
	if v, err := Bootstrap(BlocksMin, 100, 1, sometimes, 0.95); err == nil {
		t.Errorf("of no numbers: %v, want an error", v)
	}
}
