package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// steps are values about the levels given, each n times, with noise of that share.
func steps(random *rand.Rand, n int, noise float64, levels ...float64) (x []float64) {
	for _, level := range levels {
		for range n {
			x = append(x, level*math.Exp(noise*random.NormFloat64()))
		}
	}
	return x
}

func TestDivide(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, test := range []struct {
		name  string
		x     []float64
		want  []int
		slack int // by which a change may be found elsewhere
	}{
		{"empty", nil, nil, 0},
		{"too few", []float64{1, 1, 1, 9, 9, 9, 9}, nil, 0},
		{"all equal", make([]float64, 40), nil, 0},
		{"one step", steps(random, 12, 0.01, 100, 110), []int{12}, 0},
		{"exact", steps(random, 10, 0, 100, 101), []int{10}, 0},
		{"up and down again", steps(random, 12, 0.01, 100, 110, 100), []int{12, 24}, 0},
		{"three steps", steps(random, 15, 0.02, 100, 115, 90, 100), []int{15, 30, 45}, 1},
		{"wild values", append(steps(random, 12, 0.01, 100), 500, 5, 300, 100, 101, 99, 100), nil, 0},
	} {
		got := Divide(test.x, 4, 0.001)
		near := len(got) == len(test.want)
		for i := range min(len(got), len(test.want)) {
			near = near && got[i]-test.want[i] <= test.slack && test.want[i]-got[i] <= test.slack
		}
		if !near {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		if again := Divide(test.x, 4, 0.001); !slices.Equal(again, got) {
			t.Errorf("%s: %v, and then %v", test.name, got, again)
		}
	}
}

// The distance is what its definition says, added up one by one.
func TestEnergyDistance(t *testing.T) {
	x := steps(rand.New(rand.NewPCG(1, 2)), 5, 0.3, 1, 3, 2)
	e := newEnergies(len(x))
	e.bestSplit(x, 2)
	mean := func(a, b []float64, pairs float64) (sum float64) {
		for _, p := range a {
			for _, q := range b {
				sum += math.Abs(p - q)
			}
		}
		return sum / pairs
	}
	for _, cut := range [][2]int{{2, 4}, {5, 15}, {7, 12}, {13, 15}} {
		a, b := x[:cut[0]], x[cut[0]:cut[1]]
		m, n := float64(len(a)), float64(len(b))
		want := m * n / (m + n) * (2*mean(a, b, m*n) - mean(a, a, m*(m-1)) - mean(b, b, n*(n-1)))
		if got := e.energyDistance(cut[0], cut[1]); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: %v, want %v", cut, got, want)
		}
	}
}

// A series without a change has one found in at most a share of alpha.
func TestDivideHoldsItsLevel(t *testing.T) {
	const alpha, series = 0.05, 400
	random, wrong := rand.New(rand.NewPCG(3, 4)), 0
	for range series {
		if len(Divide(steps(random, 16, 0.05, 100), 4, alpha)) > 0 {
			wrong++
		}
	}
	// 20 are expected; a binomial number is above 36 once in 3,000 times.
	if wrong > 36 {
		t.Errorf("%d of %d series without a change have one", wrong, series)
	}
}
