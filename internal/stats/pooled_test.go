package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// countedOf are values, ascending, each once.
func countedOf(values ...float64) (all []Counted) {
	slices.Sort(values)
	for _, v := range values {
		all = append(all, Counted{v, 1})
	}
	return all
}

// drawn are so many values of a round, of which a share is higher by far.
func drawn(random *rand.Rand, n int, share, far float64) []Counted {
	values := make([]float64, n)
	for i := range values {
		values[i] = random.NormFloat64() / 10
		if random.Float64() < share {
			values[i] += far
		}
	}
	return countedOf(values...)
}

// Quantiles are those of all values, in which a round counts by how many it has.
func TestPooledQuantiles(t *testing.T) {
	base := [][]Counted{{{1, 900}}, {{1, 90}, {2, 10}}, nil}
	variant := [][]Counted{{{1, 890}, {3, 10}}, {{1, 99}, {5, 1}}, {{9, 1}}}
	p := NewPooled(0.99, base, variant)
	if b, v := p.Quantiles(); b != 1 || v != 3 {
		t.Errorf("%v and %v, want 1 and 3", b, v)
	}
	if b, v := p.Counts(); b != 1000 || v != 1000 {
		t.Errorf("%v and %v values: a round that the baseline lacks counts", b, v)
	}
	// Of 2,000 values 20 are above: from the top 5, the 10 of 3, and 9 of the 10 of 2. Each round has
	// as many as it has to have, but for rounding.
	if row := p.Row(0); math.Abs(row[0]-10) > 1e-9 || math.Abs(row[1]-(1-9)) > 1e-9 || !math.IsNaN(row[2]) {
		t.Errorf("%v", row)
	}
}

// If the trials of a round change places, its value turns its sign, and no other round's does: that
// makes sign flips a test.
func TestPooledFlips(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var base, variant [][]Counted
	for range 8 {
		base = append(base, drawn(random, 40+random.IntN(40), 0.02, 1))
		variant = append(variant, drawn(random, 40+random.IntN(40), 0.05, 2))
	}
	before := NewPooled(0.99, base, variant).Row(0)
	for round := range base {
		one, other := slices.Clone(base), slices.Clone(variant)
		one[round], other[round] = other[round], one[round]
		for i, v := range NewPooled(0.99, one, other).Row(0) {
			want := before[i]
			if i == round {
				want = -want
			}
			if math.Abs(v-want) > 1e-9 {
				t.Fatalf("round %d exchanged: round %d is %v, want %v", round, i, v, want)
			}
		}
	}
}

// What is different has an interval without 1, together with comparisons of other kinds, and a
// variant that is slower by a factor has that factor in its interval.
func TestPooledJudgement(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const rounds, factor = 10, 1.5
	missed := 0
	for range 100 {
		var base, variant [][]Counted
		other := make([]float64, rounds)
		for i := range rounds {
			base = append(base, drawn(random, 60, 0.02, 1))
			scaled := drawn(random, 60, 0.02, 1)
			for k := range scaled {
				scaled[k].Value += math.Log(factor)
			}
			variant, other[i] = append(variant, scaled), random.NormFloat64()/50
		}
		p := NewPooled(0.99, base, variant)
		all := JudgePooled([][]float64{other, p.Row(0)}, []*Pooled{nil, p},
			[]Margin{{Practical: 0.02}, {Practical: 0.02}}, 1)
		j := all[1]
		if shown := j.Adjusted <= 0.05; shown == (j.Ratio.Low <= 1 && 1 <= j.Ratio.High) {
			t.Fatalf("p %v and the interval %v do not agree", j.Adjusted, j.Ratio)
		}
		b, v := p.Quantiles()
		if math.Abs(math.Log(j.Ratio.Estimate)-(v-b)) > 1e-9 || j.Ratio.Level < 0.95 {
			t.Fatalf("the ratio is %v; the quantiles are %v apart", j.Ratio, v-b)
		}
		if j.Ratio.Low > factor || j.Ratio.High < factor {
			missed++
		}
	}
	if missed > 10 {
		t.Errorf("%d of 100 intervals miss the factor", missed)
	}
}

// Too few rounds show nothing, and values that are all alike are equivalent.
func TestPooledOfLittle(t *testing.T) {
	far := func(int) []Counted { return []Counted{{0, 100}, {9, 100}} }
	for _, c := range []struct {
		rounds  int
		variant func(int) []Counted
		want    Verdict
	}{{5, far, Inconclusive}, {6, far, Different}, {8, func(int) []Counted { return []Counted{{0, 200}} }, Equivalent}} {
		var base, variant [][]Counted
		for i := range c.rounds {
			base, variant = append(base, []Counted{{0, 200}}), append(variant, c.variant(i))
		}
		p := NewPooled(0.99, base, variant)
		j := JudgePooled([][]float64{p.Row(0)}, []*Pooled{p}, []Margin{{Practical: 0.02}}, 1)[0]
		if j.Verdict != c.want || math.IsInf(j.Ratio.High, 0) || math.IsNaN(j.Ratio.Low) {
			t.Errorf("%d rounds: %+v, want %s", c.rounds, j, c.want)
		}
	}
}
