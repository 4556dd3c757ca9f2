package grade

import (
	"math/rand/v2"
	"testing"

	"dyno/internal/lab"

	"dyno/internal/result"
)

// A window that is warm is hardly ever called cold, and one that is not, nearly always.
func TestTransient(t *testing.T) {
	const n, noise, times = 10, 0.02, 2000
	for _, c := range []struct {
		Name        string
		Slow        float64 // share by which the first two seconds are slower
		Least, Most float64 // share of trials that are called cold
	}{
		{"noise", 0, 0, 0.03}, {"10 % slow", 0.1, 0.88, 1}, {"30 % slow", 0.3, 0.999, 1},
		{"10 % faster", -0.1, 0, 0.01},
	} {
		random := rand.New(rand.NewPCG(7, 7))
		cold := 0
		for range times {
			trial := &lab.Trial{Result: &result.Result{Window: result.Window{MeasuredS: n}}}
			for i := range n {
				rate := 10_000 * (1 + noise*random.NormFloat64())
				if i < 2 {
					rate *= 1 - c.Slow
				}
				trial.Result.Series = append(trial.Result.Series,
					result.Point{T: float64(i + 1), Completed: int64(rate)})
			}
			SetCourse(trial)
			if trial.Transient.IsCold() {
				cold++
			}
		}
		if share := float64(cold) / times; share < c.Least || share > c.Most {
			t.Errorf("%s: %v of the trials are called cold", c.Name, share)
		}
	}
}

func TestTransientOfExtremes(t *testing.T) {
	step := []float64{5, 5, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}
	if c := findTransient(step); c.CutS != 2 || !c.Settled || c.Errors != errorsMax || !c.IsCold() {
		t.Errorf("%+v", c)
	}
	for name, rates := range map[string][]float64{"flat": step[2:], "nothing": make([]float64, 12)} {
		if c := findTransient(rates); *c != (lab.Transient{Settled: true}) {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := findTransient(step[:9]); c != nil || c.IsCold() {
		t.Errorf("of nine seconds: %+v", c)
	}
}
