package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rows are the logarithms of m comparisons to one baseline over n rounds; some are missing, and
// coarse ones are equal or 0 now and then.
func rows(random *rand.Rand, m, n int, missing float64, coarse bool) [][]float64 {
	x := make([][]float64, m)
	for i := range n {
		base := random.NormFloat64()
		for k := range m {
			v := random.NormFloat64() - base
			if k == 0 {
				v += 3
			}
			if coarse {
				v = math.Round(v)
			}
			if random.Float64() < missing {
				v = math.NaN()
			}
			if i == 0 {
				x[k] = make([]float64, n)
			}
			x[k][i] = v
		}
	}
	return x
}

// statistic is T of one comparison about a centre, under the signs that the bits of flip turn.
func statistic(x []float64, centre float64, flip int) float64 {
	sum, squares := 0.0, 0.0
	for i, v := range x {
		if v -= centre; !math.IsNaN(v) {
			squares += v * v
			if flip>>i&1 == 1 {
				v = -v
			}
			sum += v
		}
	}
	if squares == 0 {
		return 0
	}
	return math.Abs(sum) / math.Sqrt(squares)
}

// stepDown is MaxT from its definition: all flips of all rounds, and for each hypothesis the
// greatest statistic of those that are left.
func stepDown(x [][]float64) []float64 {
	left := make([]int, len(x))
	for k := range left {
		left[k] = k
	}
	p, worst := make([]float64, len(x)), 0.0
	for len(left) > 0 {
		at := 0
		for i, k := range left {
			if statistic(x[k], 0, 0) > statistic(x[left[at]], 0, 0) {
				at = i
			}
		}
		best, reached := left[at], 0
		for flip := range 1 << len(x[0]) {
			if slices.ContainsFunc(left, func(k int) bool {
				return statistic(x[k], 0, flip) >= statistic(x[best], 0, 0)*(1-1e-9)
			}) {
				reached++
			}
		}
		worst = max(worst, float64(reached)/float64(int(1)<<len(x[0])))
		p[best] = worst
		left = slices.Delete(left, at, at+1)
	}
	return p
}

func TestMaxTIsItsDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 1))
	for i := range 60 {
		x := rows(random, 1+i%6, 1+i%9, []float64{0, 0.2}[i%2], i%3 == 0)
		got, want := MaxT(x), stepDown(x)
		for k := range x {
			if math.Abs(got[k]-want[k]) > 1e-12 {
				t.Fatalf("%v: %v, want %v", x, got, want)
			}
		}
	}
}

// A difference that stands out has the p-value 2/2ⁿ, among however many, and whatever cannot
// show anything has 1.
func TestMaxTLeast(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 2))
	for n := 1; n <= flipRounds; n++ {
		x := rows(random, 40, n, 0, false)
		for i := range x[7] {
			x[7][i] = 100 + 0.01*x[7][i]
		}
		x[8] = make([]float64, n)
		p := MaxT(x)
		if want := math.Pow(2, 1-float64(n)); p[7] != want || p[8] != 1 {
			t.Errorf("%d rounds: %v and %v, want %v and 1", n, p[7], p[8], want)
		}
	}
	if MaxT(nil) != nil || SimultaneousIntervals(nil, 0.95) != nil {
		t.Error("something of nothing")
	}
	nan := math.NaN()
	if p := MaxT([][]float64{{nan, nan}, {1, 2}}); p[0] != 1 || p[1] != 0.5 {
		t.Errorf("of nothing, and beside it: %v", p)
	}
}

// It matters neither how comparisons are ordered, nor in which unit each is, nor which of its two
// is the baseline; and another comparison never makes a p-value smaller.
func TestMaxTInvariance(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 3))
	for i := range 40 {
		x := rows(random, 5, 7, 0.1, i%2 == 0)
		want := MaxT(x)
		y := slices.Clone(x)
		slices.Reverse(y)
		for k, row := range y {
			y[k] = slices.Clone(row)
			for i := range row {
				y[k][i] *= float64(1-2*(k%2)) * math.Pow(10, float64(k))
			}
		}
		got := MaxT(y)
		slices.Reverse(got)
		fewer := MaxT(x[:4])
		for k := range x {
			if math.Abs(got[k]-want[k]) > 1e-12 || k < 4 && fewer[k] > want[k] {
				t.Fatalf("%v: %v, %v and %v", x, want, got, fewer)
			}
		}
	}
}

// Beyond 14 rounds flips are drawn: always the same, and their share is near that of all.
func TestMaxTDrawsFlips(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 4))
	x := rows(random, 3, 16, 0.1, false)
	for i := range x[0] {
		x[0][i] -= 2.2
	}
	got, again, want := MaxT(x), MaxT(x), stepDown(x)
	if !slices.Equal(got, again) {
		t.Errorf("%v, and then %v", got, again)
	}
	for k, p := range want { // four standard errors
		if bound := 4*math.Sqrt(p*(1-p)/8192) + 1.0/8192; math.Abs(got[k]-p) > bound {
			t.Errorf("%d: %v of those drawn, %v of all", k, got[k], p)
		}
	}
}

// One comparison alone has Hartigan's interval: its ends are means of subsets of its values, as
// many of them outside as the level allows.
func TestIntervalOfOneIsHartigans(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 5))
	for i := range 30 {
		n := 6 + i%6
		x := rows(random, 1, n, 0, i%2 == 0)[0]
		var means []float64
		for subset := 1; subset < 1<<n; subset++ {
			sum, count := 0.0, 0.0
			for i, v := range x {
				if subset>>i&1 == 1 {
					sum, count = sum+v, count+1
				}
			}
			means = append(means, sum/count)
		}
		slices.Sort(means)
		out := int(0.05 / 2 * math.Pow(2, float64(n))) // on either side
		v := SimultaneousIntervals([][]float64{x}, 0.95)[0]
		near(t, fmt.Sprint(x, " low"), v.Low, means[out-1])
		near(t, fmt.Sprint(x, " high"), v.High, means[len(means)-out])
		near(t, "level", v.Level, 1-2*float64(out)/math.Pow(2, float64(n)))
	}
}

// What lies within an interval is reached by more flips than the level leaves out, and what lies
// outside is not: by the definition of the statistic.
func TestIntervalsInvertTheTest(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 6))
	for i := range 25 {
		x := rows(random, 1+i%5, 6+i%4, []float64{0, 0.1}[i%2], false)
		for k, v := range SimultaneousIntervals(x, 0.95) {
			if v.Level < 0.95 {
				continue
			}
			span := v.High - v.Low
			for theta, in := range map[float64]bool{v.Low - 0.01*span: false, v.Low + 0.01*span: true,
				v.Estimate: true, v.High - 0.01*span: true, v.High + 0.01*span: false} {
				if share := reachedAt(x, k, theta); share > 0.05+1e-12 != in {
					t.Fatalf("%v: comparison %d at %v of %v: %v of all flips", x, k, theta, v, share)
				}
			}
		}
	}
}

// reachedAt is the share of flips that reach comparison k about theta: by its own values, or by
// those of another about their mean.
func reachedAt(x [][]float64, k int, theta float64) float64 {
	reached, flips := 0, 1<<len(x[0])
	for flip := range flips {
		for j, row := range x {
			centre := theta
			if j != k {
				centre = mean(presentValues(row))
			}
			if statistic(row, centre, flip) >= statistic(x[k], theta, 0)*(1-1e-9) {
				reached++
				break
			}
		}
	}
	return float64(reached) / float64(flips)
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// The width of an interval does not depend on by how much anything differs.
func TestIntervalsMoveWithTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 7))
	x := rows(random, 6, 8, 0.1, false)
	before := SimultaneousIntervals(x, 0.95)
	for k, row := range x {
		for i := range row {
			row[i] += float64(k * k)
		}
	}
	for k, v := range SimultaneousIntervals(x, 0.95) {
		near(t, "low", v.Low, before[k].Low+float64(k*k))
		near(t, "high", v.High, before[k].High+float64(k*k))
	}
}

// Few rounds, none, and values without variance have the intervals that there can be.
func TestIntervalsAtTheEdge(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		x    [][]float64
		want Interval // of the first
	}{
		{"one round", [][]float64{{3}}, Interval{3, 3, 3, 0}},
		{"five", [][]float64{{1, 2, 3, 4, 5}}, Interval{1, 3, 5, 1 - 1.0/16}},
		{"six", [][]float64{{1, 2, 3, 4, 5, 6}}, Interval{1, 3.5, 6, 1 - 1.0/32}},
		{"no variance", [][]float64{{2, 2, 2, 2, 2, 2}}, Interval{2, 2, 2, 1 - 1.0/32}},
		{"five of six", [][]float64{{1, 2, 3, 4, 5, nan}}, Interval{1, 3, 5, 1 - 1.0/16}},
	} {
		v := SimultaneousIntervals(c.x, 0.95)[0]
		near(t, c.name+" low", v.Low, c.want.Low)
		near(t, c.name, v.Estimate, c.want.Estimate)
		near(t, c.name+" high", v.High, c.want.High)
		near(t, c.name+" level", v.Level, c.want.Level)
	}
	none := SimultaneousIntervals([][]float64{{nan, nan}, {1, 2}}, 0.95)[0]
	if !math.IsNaN(none.Low) || !math.IsNaN(none.High) || none.Level != 0 {
		t.Errorf("of no round: %+v", none)
	}
}
