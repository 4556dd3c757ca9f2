package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// shifted are n logarithms, symmetric about the centre, the outermost the spread away.
func shifted(n int, centre, spread float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = centre + spread*(2*float64(i)/float64(n-1)-1)
	}
	return x
}

func TestJudge(t *testing.T) {
	two := Margin{Practical: 0.02}
	noisy := Margin{Practical: 0.02, Floor: 0.06}
	for _, c := range []struct {
		name   string
		logs   []float64
		margin Margin
		want   Verdict
	}{
		{"far off", shifted(10, 0.10, 0.02), two, Different},
		{"far off, less", shifted(10, -0.10, 0.02), two, Different},
		{"far off, above the floor", shifted(10, 0.10, 0.02), noisy, Different},
		{"off, below the floor", shifted(10, 0.05, 0.02), noisy, Inconclusive},
		{"off a little", shifted(10, 0.01, 0.009), two, Negligible},
		{"off a little, all noise", shifted(10, 0.01, 0.009), noisy, Negligible},
		{"about the same", shifted(10, 0.001, 0.015), two, Equivalent},
		{"about the same, all noise", shifted(10, 0.001, 0.015), noisy, Equivalent},
		{"wide", shifted(10, 0.001, 0.2), two, Inconclusive},
		{"wide, with a wide floor", shifted(10, 0, 0.05), Margin{0.02, 0.2}, Inconclusive},
		{"off, but wide", shifted(10, 0.05, 0.2), two, Inconclusive},
		{"five pairs far off", shifted(5, 0.5, 0.02), two, Inconclusive},
		{"six pairs far off", shifted(6, 0.5, 0.02), two, Different},
		{"four pairs alike", shifted(4, 0, 0.001), two, Inconclusive},
		{"five pairs alike", shifted(5, 0, 0.001), two, Equivalent},
		{"one pair", []float64{0.5}, two, Inconclusive},
		{"all the same", make([]float64, 10), two, Equivalent},
		{"no margin", shifted(10, 0.001, 0.0005), Margin{}, Different},
	} {
		j, err := Judge(c.logs, c.margin)
		if err != nil {
			t.Fatal(err)
		}
		if j.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", c.name, j, c.want)
		}
		if out := j.Ratio.Low > 1 || j.Ratio.High < 1; out && j.P > 1-j.Ratio.Level+rounding {
			t.Errorf("%s: the interval leaves out 1, but p is %v", c.name, j.P)
		}
		opposite, _ := Judge(negated(c.logs), c.margin)
		if opposite.Verdict != j.Verdict || math.Abs(opposite.P-j.P) > 1e-12 {
			t.Errorf("%s: turned round %+v, was %+v", c.name, opposite, j)
		}
	}
	if _, err := Judge(nil, two); !errors.Is(err, ErrEmpty) {
		t.Errorf("of nothing: %v, want %v", err, ErrEmpty)
	}
}

func negated(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = -v
	}
	return y
}

// The intervals and p are those of the functions that have them alone.
func TestJudgement(t *testing.T) {
	a := []float64{285.1, 291.4, 279.9, 288.3, 301.2, 276.5, 290.0, 284.4}
	b := []float64{205.3, 207.9, 203.1, 199.8, 210.4, 204.4, 190.6, 206.2}
	logs, err := LogRatios(a, b)
	if err != nil {
		t.Fatal(err)
	}
	paired, err := Judge(logs, Margin{Practical: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	apart, err := JudgeUnpaired(a, b, Margin{Practical: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	type ratio func(a, b []float64, level float64) (Interval, error)
	for _, c := range []struct {
		name  string
		got   Judgement
		ratio ratio
		p     float64
	}{
		{"paired", paired, PairedRatio, SignedRank(logs)},
		{"unpaired", apart, UnpairedRatio, MannWhitney(a, b)},
	} {
		wide, _ := c.ratio(a, b, 0.95)
		narrow, _ := c.ratio(a, b, 0.90)
		if c.got.Ratio != wide || c.got.Narrow != narrow || c.got.Verdict != Different {
			t.Errorf("%s: %+v, want %v and %v", c.name, c.got, wide, narrow)
		}
		near(t, c.name+" p", c.got.P, c.p)
	}
	if _, err := JudgeUnpaired(a, nil, Margin{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("of nothing: %v, want %v", err, ErrEmpty)
	}
	if _, err := JudgeUnpaired(a, []float64{0}, Margin{}); err == nil {
		t.Error("a ratio to 0")
	}
}

// p and the interval never contradict each other, whatever is equal.
func TestJudgementOfTies(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 2))
	coarse := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 20 + math.Round(2*random.NormFloat64()+random.Float64())
		}
		return x
	}
	for i := range 1000 {
		n := 6 + i%9
		a, b := coarse(n), coarse(n)
		logs, err := LogRatios(a, b)
		if err != nil {
			t.Fatal(err)
		}
		paired, _ := Judge(logs, Margin{})
		apart, _ := JudgeUnpaired(a, b[:n-1], Margin{})
		for _, j := range []Judgement{paired, apart} {
			out := j.Ratio.Low > 1 || j.Ratio.High < 1
			if out != (j.P <= 0.05+rounding) {
				t.Fatalf("%v and %v: %+v", a, b, j)
			}
		}
	}
}

// Over all signs of distances, some equal and some 0, a p at or below α must not be more
// frequent than α.
func TestJudgementOfTiesIsValid(t *testing.T) {
	distances := []float64{0, 1, 1, 1, 2, 2, 3, 3, 5, 8}
	all := 1 << len(distances)
	ps := make([]float64, all)
	for signs := range all {
		x := make([]float64, len(distances))
		for i, d := range distances {
			if x[i] = d; signs>>i&1 == 1 {
				x[i] = -d
			}
		}
		j, err := Judge(x, Margin{})
		if err != nil {
			t.Fatal(err)
		}
		ps[signs] = j.P
	}
	for _, alpha := range []float64{0.01, 0.05, 0.1, 0.25, 0.5} {
		small := 0
		for _, p := range ps {
			if p <= alpha {
				small++
			}
		}
		if share := float64(small) / float64(all); share > alpha {
			t.Errorf("p ≤ %v in %v of all", alpha, share)
		}
	}
}

func TestNoiseFloor(t *testing.T) {
	floor, err := NoiseFloor([]float64{-0.06, 0.01, 0.02, -0.01, 0.03, 0.02})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "floor", floor, math.Exp(0.06)-1)
	if _, err := NoiseFloor(nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("of nothing: %v, want %v", err, ErrEmpty)
	}
}

func TestLeastPairs(t *testing.T) {
	for _, c := range []struct {
		level float64
		want  int
	}{
		{0, 1}, {0.5, 2}, {0.9, 5}, {0.9375, 5}, {0.95, 6}, {0.99, 8}, {1 - 0.05/12, 9},
		{1, 41}, {2, 41}, // as good as never

	} {
		if got := LeastPairs(c.level); got != c.want {
			t.Errorf("at %v: %d, want %d", c.level, got, c.want)
		}
	}
}

// moreRounds is about how many pairs more it takes until the 95 % interval of their ratio has a
// half width, as a share.
func moreRounds(logs []float64, precision float64) int {
	n := len(logs)
	if n == 0 {
		return LeastPairs(confidence)
	}
	now := invertTest(walshAverages(logs), signedRank(n), confidence)
	return moreValues(now, math.Log1p(precision), pairedWidth(n, 1))
}

func TestMoreRounds(t *testing.T) {
	two := math.Log(1.02)
	for _, c := range []struct {
		name      string
		logs      []float64
		precision float64
		want      int
	}{
		{"none", nil, 0.02, 6},
		{"one", []float64{0.3}, 0.02, 5},
		{"four alike", shifted(4, 0.1, 0.001), 0.02, 2},
		{"ten alike", make([]float64, 10), 0.02, 0},
		{"narrow enough", shifted(10, 0.3, two), 0.02, 0},
		{"never", shifted(10, 0, 5), 0.0001, MoreMax},
		{"no precision", shifted(10, 0, 1), 0, MoreMax},
	} {
		if got := moreRounds(c.logs, c.precision); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	// The forecast is that of Student's interval: from n to the least N with
	// t(N−1)/√N ≤ (h/w)·t(n−1)/√n. R: f <- function(n,l) qt((1+l)/2,n-1)/sqrt(n);
	// k <- 10:2000; min(k[f(k,.95) <= 0.5*f(10,0.951171875)]) - 10
	logs := shifted(10, 0.1, 0.1)
	v, err := PairedRatio([]float64{1}, []float64{1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "half width of a point", v.HalfWidth(), 0)
	centre, _ := HodgesLehmann(logs, 0.95)
	half := math.Expm1((centre.High - centre.Low) / 4)
	if got := moreRounds(logs, half); got != 23 {
		t.Errorf("half of the width: %d, want 23", got)
	}
	near(t, "half width", centre.exponential().HalfWidth(), math.Expm1((centre.High-centre.Low)/2))
}

// The forecast must bring about what it says, on the average.
func TestMoreRoundsHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	const precision, experiments = 0.02, 300
	widths := make([]float64, experiments)
	for i := range widths {
		var logs []float64
		draw := func(n int) {
			for range n {
				logs = append(logs, 0.05*random.NormFloat64())
			}
		}
		draw(10)
		for more := moreRounds(logs, precision); more > 0; more = 0 {
			draw(more)
		}
		v, err := HodgesLehmann(logs, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		widths[i] = v.exponential().HalfWidth()
	}
	if m := Median(widths); m < 0.8*precision || m > 1.2*precision {
		t.Errorf("median half width %v after the forecast, want about %v", m, precision)
	}
}

func TestMoreOfInconclusive(t *testing.T) {
	for _, c := range []struct {
		name   string
		j      func() (Judgement, error)
		lo, hi int
	}{
		{"wide", func() (Judgement, error) {
			return Judge(shifted(10, 0.03, 0.1), Margin{Practical: 0.02})
		}, 5, 60},
		{"too few", func() (Judgement, error) {
			return Judge(shifted(4, 0.5, 0.01), Margin{Practical: 0.02})
		}, 2, 2},
		{"one", func() (Judgement, error) {
			return Judge([]float64{1}, Margin{Practical: 0.02})
		}, 5, 5},
		{"below the floor", func() (Judgement, error) {
			return Judge(shifted(10, 0.05, 0.02), Margin{0.02, 0.1})
		}, 0, 0},
		{"unpaired, wide", func() (Judgement, error) {
			return JudgeUnpaired([]float64{1, 1.1, 1.2, 1.3}, []float64{1.05, 1.15, 1.25, 1.35},
				Margin{Practical: 0.02})
		}, 10, 300},
		{"unpaired, too few", func() (Judgement, error) {
			return JudgeUnpaired([]float64{1}, []float64{1.5}, Margin{Practical: 0.02})
		}, 3, 3},
		{"conclusive", func() (Judgement, error) {
			return Judge(shifted(10, 0.5, 0.01), Margin{})
		}, 0, 0},
	} {
		j, err := c.j()
		if err != nil {
			t.Fatal(err)
		}
		if j.More < c.lo || j.More > c.hi {
			t.Errorf("%s: %s, %d more, want %d to %d", c.name, j.Verdict, j.More, c.lo, c.hi)
		}
	}
}
