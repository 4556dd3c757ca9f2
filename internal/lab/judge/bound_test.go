package judge

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/stats"
)

// waiting is a trial of 2,000 answers of ms, of which 40 more requests had none if starved.
func waiting(arm string, round int, ms float64, starved bool) *lab.Trial {
	h := metric.NewHistogram(metric.Fine)
	h.RecordMany(int64(ms*float64(time.Millisecond)), 2000)
	d := durations.New(h)
	if starved {
		d = d.WithUnanswered(durations.Bound{US: 2e6, Count: 40})
	}
	started := epoch.Add(time.Duration(2*round+len(arm)%2) * time.Minute)
	return &lab.Trial{ID: arm, Started: started, Slot: lab.Slot{Round: round, Arm: arm, Level: "l"}, Attempt: 1, Grade: lab.GradeA,
		Result: &result.Result{Latency: d}}
}

// A ratio of which a value is only known to be higher shows a difference in one direction, or none.
func TestBoundedRatios(t *testing.T) {
	type arm struct {
		ms      float64
		starved bool
	}
	for name, c := range map[string]struct {
		base, variant arm
		rounds        int // in which they starve, from the first
		bound         lab.Bound
		verdict       stats.Verdict
		over          bool // the variant's median
	}{
		"both answered":         {arm{1, false}, arm{10, false}, 8, "", stats.Different, false},
		"the variant starves":   {arm{1, false}, arm{1, true}, 8, lab.AtLeast, stats.Different, true},
		"in one round":          {arm{10, false}, arm{10, true}, 1, lab.AtLeast, stats.Inconclusive, false},
		"slower than the bound": {arm{5000, false}, arm{1, true}, 8, lab.AtLeast, stats.Inconclusive, true},
		"the baseline starves":  {arm{1, true}, arm{1, false}, 8, lab.AtMost, stats.Different, false},
		"but is not slower":     {arm{1, true}, arm{5000, false}, 8, lab.AtMost, stats.Inconclusive, false},
		"both starve":           {arm{1, true}, arm{9000, true}, 8, lab.NoBound, stats.Inconclusive, true},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			q := scope{metrics: []experiment.Metric{"p99"}, margin: 0.02, levels: []string{"l"},
				arms: []scopeArm{{name: "base"}, {name: "v", baseline: "base"}}}
			var trials []*lab.Trial
			for round := 1; round <= 8; round++ {
				noise := func() float64 { return 1 + 0.002*random.Float64() }
				starve := round <= c.rounds
				trials = append(trials, waiting("base", round, c.base.ms*noise(), c.base.starved && starve),
					waiting("v", round, c.variant.ms*noise(), c.variant.starved && starve))
			}
			cells := groupTrials(trials)
			v := judgeScope(q, trials)[0]
			if v.Bound != c.bound || v.Verdict != c.verdict || v.Bound != "" && v.Verdict == stats.Inconclusive && v.More != 0 {
				t.Errorf("%q, %q, %d more: %s", v.Bound, v.Verdict, v.More, v.ChangeText())
			}
			m, _ := lab.MeasureNamed("p99")
			all := q.medianCells(cells, m, "l")
			if over := all[slices.IndexFunc(all, func(c lab.Cell) bool { return c.Arm == "v" })].Over; over != c.over {
				t.Errorf("the median is over: %v", over)
			}
			told := toldApart([]*paired{pairArms(cells, m, "l", "base", "v")}, nil)[duel{"l", "p99", "base", "v"}]
			if told != (c.verdict == stats.Different) {
				t.Errorf("told apart: %v", told)
			}
			shift := q.allShifts(cells)[0].Points[len(shiftAt)-1]
			if shift.Bound != c.bound || shift.IsShown() != (c.verdict == stats.Different) {
				t.Errorf("the shift at p99: %+v", shift)
			}
			a, b := Group{Name: "A"}, Group{Name: "B"}
			a.Samples, b.Samples = []Sample{{Name: "A"}}, []Sample{{Name: "B"}}
			for _, one := range trials {
				s := &a.Samples[0]
				if one.Arm == "v" {
					s = &b.Samples[0]
				}
				s.setTrials(append(s.Trials, one))
			}
			u, err := CompareGroups([]Group{a, b}, []lab.Measure{m}, 0.02)
			if err != nil {
				t.Fatal(err)
			}
			if v := u.Verdicts[0]; v.Bound != c.bound || v.Verdict != c.verdict || u.Cells[1].Over != c.over {
				t.Errorf("apart: %q, %q, median over: %v", v.Bound, v.Verdict, u.Cells[1].Over)
			}
			if s := trials[1].Summary(); slices.Contains(s.Over, "p99") != c.variant.starved || slices.Contains(s.Over, "p50") {
				t.Errorf("over: %v", s.Over)
			}
		})
	}
}
