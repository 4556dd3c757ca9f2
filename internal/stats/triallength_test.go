package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// dyestuff is the yield of six batches, five samples each, and the textbook example of two
// sources of variance: Davies, Goldsmith, "Statistical Methods in Research and Production", 4th
// ed. (1972), section 6.4, with the components 2451.25 and 1764.05.
var dyestuff = [][]float64{
	{1545, 1440, 1440, 1520, 1580}, {1540, 1555, 1490, 1560, 1495}, {1595, 1550, 1605, 1510, 1560},
	{1445, 1440, 1595, 1465, 1545}, {1595, 1630, 1515, 1635, 1625}, {1520, 1455, 1450, 1480, 1445},
}

func TestVarianceComponents(t *testing.T) {
	e, ok := VarianceComponents([][][]float64{dyestuff}, 8)
	if !ok || math.Abs(e.Within-2451.25) > 1e-9 || math.Abs(e.Between-1764.05) > 1e-9 || e.Length != 4 {
		t.Errorf("%+v; √(8 × 2451.25 / 1764.05) = 3.33…", e)
	}
	moved := make([][]float64, len(dyestuff)) // another cell, with another mean
	for i, batch := range dyestuff {
		for _, v := range batch {
			moved[i] = append(moved[i], v+1e5)
		}
	}
	if both, ok := VarianceComponents([][][]float64{dyestuff, moved}, 8); !ok || both.Length != 4 ||
		math.Abs(both.Between-e.Between) > 1e-4 {
		t.Errorf("of two cells %+v", both)
	}
	lone := [][]float64{{1, 9, 1, 9}, {5}} // one trial that counts says nothing of trials
	if with, ok := VarianceComponents([][][]float64{lone, dyestuff}, 8); !ok || with != e {
		t.Errorf("with a cell of one trial %+v, without %+v", with, e)
	}
	alike := [][]float64{{1, 2, 3}, {3, 2, 1}}
	if e, ok := VarianceComponents([][][]float64{alike}, 8); !ok || e != (Effort{Within: 1}) {
		t.Errorf("trials that differ in nothing: %+v", e)
	}
	for name, cells := range map[string][][][]float64{"nothing": nil, "a trial": {{{1, 2}}},
		"trials of one interval": {{{1}, {2}, {3}}}} {
		if e, ok := VarianceComponents(cells, 8); ok {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// Whoever follows the advice knows the mean better, in the same time, than with trials of half
// or of twice the length.
func TestVarianceComponentsAdviseWell(t *testing.T) {
	const cost, budget, within, between = 20.0, 4000.0, 4.0, 1.0
	random := rand.New(rand.NewPCG(8, 8))
	simulate := func(trials, length int) (all [][]float64) {
		for range trials {
			level := math.Sqrt(between) * random.NormFloat64()
			x := make([]float64, length)
			for i := range x {
				x[i] = level + math.Sqrt(within)*random.NormFloat64()
			}
			all = append(all, x)
		}
		return all
	}
	e, _ := VarianceComponents([][][]float64{simulate(2000, 10)}, cost)
	if e.Length < 8 || e.Length > 10 { // √(20 × 4 / 1) = 8.94…
		t.Errorf("%+v", e)
	}
	variance := func(length int) float64 {
		trials := math.Floor(budget / (cost + float64(length)))
		return (between + within/float64(length)) / trials
	}
	if best := variance(e.Length); best > variance(e.Length/2) || best > variance(2*e.Length) {
		t.Errorf("a length of %d gives %v, half of it %v, twice %v", e.Length, best,
			variance(e.Length/2), variance(2*e.Length))
	}
}
