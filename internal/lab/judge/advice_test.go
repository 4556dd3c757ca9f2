package judge

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
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
	e.Design.Cooldown = experiment.Duration(48 * time.Hour)
	if a := adviceFor(r, trials); a == nil || a.WindowS != 0 { // √(4 × 172,803) is above 600
		t.Errorf("where a trial costs two days: %+v", a)
	}
	if a := adviceFor(r, trials[:1]); a != nil {
		t.Errorf("of one trial: %+v", a)
	}
}

// The noise of earlier runs is that of the same pair: the control, at the level, in the metric.
func TestCompareNoise(t *testing.T) {
	pair := func(control bool, metric, level, variant string, ratio float64) lab.Comparison {
		c := lab.Comparison{Metric: metric, Level: level, Variant: variant, Control: control, Trials: 10}
		c.Alone = stats.Interval{Low: 1 / ratio, Estimate: 1, High: ratio}
		return c
	}
	record := func(all ...lab.Comparison) *lab.Record {
		r := new(lab.Record)
		r.Verdicts = all
		return r
	}
	const wide, narrow = 1.5, 1.01
	before := record(pair(true, "p99", "low", "a", wide), pair(true, "throughput", "high", "a", wide),
		pair(true, "throughput", "low", "b", wide), pair(false, "throughput", "low", "a", wide), pair(true, "throughput", "low", "a", narrow))
	now := record(pair(true, "throughput", "low", "a", narrow))
	all := compareNoise(now, []*lab.Record{before, before, before})
	if len(all) != 1 || all[0].Others != 3 || all[0].Now != all[0].Usual || !(all[0].Now > 0) {
		t.Errorf("%+v", all)
	}
	if few := compareNoise(now, []*lab.Record{before, before}); few != nil {
		t.Errorf("of two runs: %+v", few)
	}
}
