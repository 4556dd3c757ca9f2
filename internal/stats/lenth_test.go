package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of seven effects with sizes 1 to 7, s₀ is 1.5·4 = 6 and all are below 15: PSE is 6 too. The
// quantile of t with 7/3 degrees of freedom at (1+0.95^(1/7))/2 is computed here by its density.
func TestPseudoError(t *testing.T) {
	for _, test := range []struct {
		sizes []float64
		want  float64
	}{
		{[]float64{1, 2, 3, 4, 5, 6, 7}, 6},
		{[]float64{1, 1, 1, 1, 1, 1, 100}, 1.5},        // the large one is no noise
		{[]float64{0.5, 1, 1.5, 2, 2.5, 50, 60}, 2.25}, // s₀ is 3, the small ones have the median 1.5
		{[]float64{0, 0, 0, 0, 0, 0, 1}, 0},            // nothing but one
	} {
		if got := pseudoError(test.sizes); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", test.sizes, got, test.want)
		}
	}
	p := (1 + math.Pow(0.95, 1.0/15)) / 2
	if q := studentT(p, 5); math.Abs(tailsOfT(q, 5)-2*(1-p)) > 1e-9 {
		t.Errorf("t of %v is %v, beyond which lies %v", p, q, tailsOfT(q, 5))
	}
}

// unreplicated are fifteen effects with noise of 1 %, of which these are real.
func unreplicated(random *rand.Rand, real map[int]float64) []Judgement {
	x, scale, margins := make([]float64, 15), make([]float64, 15), make([]Margin, 15)
	for i := range x {
		scale[i] = 1
		if i >= 8 {
			scale[i] = 2
		}
		x[i] = real[i] + 0.01*scale[i]*random.NormFloat64()
		margins[i] = Margin{Practical: 0.005}
	}
	return JudgeUnreplicated(x, scale, margins)
}

// Where nothing is real, an effect is called different in about 5 of 100 screenings; three real ones
// are found nearly always if they are ten times the noise.
func TestJudgeUnreplicated(t *testing.T) {
	random := rand.New(rand.NewPCG(24, 1))
	wrong, found := 0, 0
	for range 1000 {
		for _, j := range unreplicated(random, nil) {
			if j.Verdict == Different {
				wrong++
				break
			}
		}
		all := unreplicated(random, map[int]float64{0: 0.1, 3: -0.1, 9: 0.2})
		if all[0].Verdict == Different && all[3].Verdict == Different && all[9].Verdict == Different {
			found++
		}
		for i, j := range all {
			if out := j.Ratio.Low > 1 || j.Ratio.High < 1; out != (j.Adjusted <= 0.05) {
				t.Fatalf("effect %d: interval and p contradict each other: %+v", i, j)
			}
		}
	}
	if wrong > 80 { // 50 are expected, and 81 have a chance below 0.001 %
		t.Errorf("%d of 1,000 screenings of nothing find something", wrong)
	}
	if found < 900 {
		t.Errorf("%d of 1,000 screenings find all three", found)
	}
}

// Few effects, and effects that are all 0, say nothing.
func TestJudgeUnreplicatedOfLittle(t *testing.T) {
	for _, x := range [][]float64{{1, 2, 3}, {0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 1}} {
		scale, margins := make([]float64, len(x)), make([]Margin, len(x))
		for i := range scale {
			scale[i] = 1
		}
		for i, j := range JudgeUnreplicated(x, scale, margins) {
			if j.Verdict != Inconclusive || math.IsNaN(j.P) || math.IsNaN(j.Ratio.Low) {
				t.Errorf("%v: effect %d is %+v", x, i, j)
			}
		}
	}
}

// The quantiles of seven effects are those of |z| at 1/14, 3/14 … 13/14, which the distribution
// function erf(q/√2) shows. Of sizes 1 to 7 the PSE is 6, and the margins are its multiples by
// Student's t with 7/3 degrees of freedom; with 15 effects that is 2.571 and 5 degrees (tables have
// it).
func TestHalfNormal(t *testing.T) {
	h := HalfNormalOf([]float64{7, 1, 6, 2, 5, 3, 4})
	for i, rank := range []float64{7, 1, 6, 2, 5, 3, 4} {
		if below := math.Erf(h.Quantiles[i] / math.Sqrt2); math.Abs(below-(rank-0.5)/7) > 1e-12 {
			t.Errorf("the quantile of effect %d is %v, below which lies %v", i, h.Quantiles[i], below)
		}
	}
	if math.Abs(h.Quantiles[6]-0.6745) > 1e-4 { // the median of |z|
		t.Errorf("the quantile of the median is %v", h.Quantiles[6])
	}
	alone, together := tailsOfT(h.Alone/6, 7.0/3), tailsOfT(h.Together/6, 7.0/3)
	if h.PseudoError != 6 || math.Abs(alone-0.05) > 1e-9 ||
		math.Abs(together-(1-math.Pow(0.95, 1.0/7))) > 1e-9 {
		t.Errorf("PSE %v, %v beyond ME, %v beyond SME", h.PseudoError, alone, together)
	}
	ones := make([]float64, 15)
	for i := range ones {
		ones[i] = 1
	}
	if h := HalfNormalOf(ones); math.Abs(h.Alone/h.PseudoError-2.571) > 5e-4 {
		t.Errorf("ME is %v PSE", h.Alone/h.PseudoError)
	}
	for _, sizes := range [][]float64{nil, {1, 2, 3}, {0, 0, 0, 0, 0, 0, 1}} {
		if h := HalfNormalOf(sizes); h.Alone != 0 || h.Together != 0 || len(h.Quantiles) != len(sizes) {
			t.Errorf("%v: %+v", sizes, h)
		}
	}
}

// Beyond the simultaneous margin lies exactly what JudgeUnreplicated calls shown.
func TestHalfNormalAgreesWithTheJudgement(t *testing.T) {
	random := rand.New(rand.NewPCG(24, 2))
	for range 200 {
		all := unreplicated(random, map[int]float64{0: 0.1, 3: -0.1, 9: 0.2})
		sizes := make([]float64, len(all))
		for i, j := range all {
			if sizes[i] = math.Abs(math.Log(j.Ratio.Estimate)); i >= 8 {
				sizes[i] /= 2
			}
		}
		h := HalfNormalOf(sizes)
		for i, j := range all {
			if beyond := sizes[i] > h.Together; beyond != (j.Adjusted <= 0.05) {
				t.Fatalf("effect %d of %v, SME %v: %+v", i, sizes[i], h.Together, j)
			}
		}
	}
}
