package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
	"dyno/internal/result"
)

// The components of what varied are found, and what others spoiled is not among them.
func TestAdvice(t *testing.T) {
	e, err := experiment.Read("e.yaml", strings.NewReader(three))
	if err != nil {
		t.Fatal(err)
	}
	r := &Record{Experiment: e, Arms: []Arm{{Name: "base"}, {Name: "slow"}}}
	const within, between = 0.04, 0.02
	random := rand.New(rand.NewPCG(3, 3))
	trial := func(arm string, round int) *Trial {
		x := &Trial{Slot: Slot{Round: round, Arm: arm, Level: "low"}, TookS: 14, Grade: GradeA,
			Result: &result.Result{Window: result.Window{MeasuredS: 10}}}
		level := between * random.NormFloat64()
		for i := range 10 {
			rate := 1e6 * math.Exp(level+within*random.NormFloat64())
			x.Result.Series = append(x.Result.Series, result.Point{T: float64(i + 1), Completed: int64(rate)})
		}
		return x
	}
	var trials []*Trial
	for round := 1; round <= 400; round++ {
		trials = append(trials, trial("base", round), trial("slow", round))
	}
	spoiled := trial("base", 401)
	spoiled.Grade, spoiled.Result.Series[3].Completed = GradeF, 1
	a := r.advice(append(trials, spoiled))
	if a == nil || math.Abs(a.Within/within-1) > 0.05 || math.Abs(a.Between/between-1) > 0.15 ||
		a.CostS != 4 || a.WindowS < 4 || a.WindowS > 5 { // √(4 × 16 / 4) = 4
		t.Errorf("%+v", a)
	}
	if a := r.advice(trials[:1]); a != nil {
		t.Errorf("of one trial: %+v", a)
	}
}

// Noise is compared with that of the same experiment here, and with nothing else.
func TestNoise(t *testing.T) {
	home := t.TempDir()
	run := func(name, text string, noise float64, change func(*Lab)) *Record {
		b := newTestBench(t)
		b.noise = noise
		b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 9_000}
		l := b.lab(filepath.Join(home, name), text)
		l.History = home
		change(l)
		return b.run(t.Context(), l)
	}
	as := func(*Lab) {}
	for i := range 3 {
		if r := run(fmt.Sprint("a", i), three, 0.01, as); r.Noise != nil {
			t.Errorf("after %d: %+v", i, r.Noise)
		}
	}
	run("b", strings.Replace(three, "rounds: 8", "rounds: 9", 1), 0.3, as)
	run("c", three, 0.3, func(l *Lab) { l.CPUs.Generator = []int{5} })
	alike, loud := run("d", three, 0.01, as), run("e", three, 0.2, as)
	if len(alike.Noise) != 4 || alike.Noise[0].Others != 3 || cautioned(alike, "the noise of") != 0 {
		t.Errorf("%+v, %q", alike.Noise, alike.Cautions)
	}
	for _, n := range alike.Noise { // a pair's: √2 × 1 %
		if n.Usual < 0.007 || n.Usual > 0.03 {
			t.Errorf("%+v", n)
		}
	}
	if cautioned(loud, "is much higher than usual") != 4 || loud.Noise[0].Others != 4 {
		t.Errorf("%+v, %q", loud.Noise, loud.Cautions)
	}
}

func cautioned(r *Record, text string) (n int) {
	for _, c := range r.Cautions {
		if strings.Contains(c, text) {
			n++
		}
	}
	return n
}
