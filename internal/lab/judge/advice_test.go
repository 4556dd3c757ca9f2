package judge

import (
	"dyno/internal/lab"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
	"dyno/internal/result"
)

// closedLevels is an experiment whose levels are closed.
const closedLevels = `
version: 1
name: closed
design: {measure: 1s, cooldown: 1s}
levels: [{name: low, connections: 1}, {name: high, connections: 9}]
variants:
  base: {url: http://base.invalid/}
  slow: {url: http://slow.invalid/}
`

// The components of what varied are found, and what others spoiled is not among them.
func TestAdvice(t *testing.T) {
	e, err := experiment.Read("e.yaml", strings.NewReader(closedLevels))
	if err != nil {
		t.Fatal(err)
	}
	r := &lab.Record{Definition: lab.Definition{Experiment: e},
		Preparation: lab.Preparation{Arms: []lab.Arm{{Name: "base"}, {Name: "slow"}}}}
	const within, between = 0.04, 0.02
	random := rand.New(rand.NewPCG(3, 3))
	trial := func(arm string, round int) *lab.Trial {
		x := &lab.Trial{Slot: lab.Slot{Round: round, Arm: arm, Level: "low"}, TookS: 13, Grade: lab.GradeA,
			Result: &result.Result{Window: result.Window{MeasuredS: 10}}}
		level := between * random.NormFloat64()
		for i := range 10 {
			rate := 1e6 * math.Exp(level+within*random.NormFloat64())
			x.Result.Series = append(x.Result.Series, result.Point{T: float64(i + 1), Completed: int64(rate)})
		}
		return x
	}
	var trials []*lab.Trial
	for round := 1; round <= 400; round++ {
		trials = append(trials, trial("base", round), trial("slow", round))
	}
	spoiled := trial("base", 401)
	spoiled.Grade, spoiled.Result.Series[3].Completed = lab.GradeF, 1
	a := adviceFor(r, append(trials, spoiled))
	if a == nil || math.Abs(a.Within/within-1) > 0.05 || math.Abs(a.Between/between-1) > 0.15 ||
		a.CostS != 4 || // 3 s beside the window, and the cooldown
		a.WindowS < 4 || a.WindowS > 5 { // √(4 × 16 / 4) = 4
		t.Errorf("%+v", a)
	}
	if a := adviceFor(r, trials[:1]); a != nil {
		t.Errorf("of one trial: %+v", a)
	}
}
