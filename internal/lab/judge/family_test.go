package judge

import (
	"dyno/internal/lab"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// logged is a trial whose throughput is e^log times 1,000.
func logged(arm string, round int, log float64) *lab.Trial {
	return &lab.Trial{Slot: lab.Slot{Round: round, Arm: arm, Level: "l"}, Attempt: 1, Grade: lab.GradeA,
		Result: &result.Result{Rate: result.Rate{Completed: 1000 * math.Exp(log)}}}
}

// many is an experiment with a baseline, its control and so many variants, all alike but for the
// effects, and so many rounds.
func many(seed uint64, variants, rounds int, effects map[int]float64) (scope, []*lab.Trial) {
	random := rand.New(rand.NewPCG(seed, 16))
	q := scope{metrics: []experiment.Metric{"throughput"}, margin: 0.02, levels: []string{"l"},
		arms: []scopeArm{{name: "base"}, {"base (A/A)", "base", true}}}
	for v := range variants {
		q.arms = append(q.arms, scopeArm{name: fmt.Sprint("v", v), baseline: "base"})
	}
	var trials []*lab.Trial
	for round := 1; round <= rounds; round++ {
		for i, arm := range q.arms {
			log := 0.05*random.NormFloat64() + effects[i-2]
			trials = append(trials, logged(arm.name, round, log))
		}
	}
	return q, trials
}

// The verdict is the corrected one: among twenty that are alike, one that seems to differ by
// itself is not called different; six rounds show a factor of three all the same, which Holm's
// correction cannot.
func TestVerdictIsCorrected(t *testing.T) {
	fooled := 0
	for seed := range uint64(20) {
		q, trials := many(seed, 20, 6, nil)
		all := judgeScope(q, trials)
		if slices.ContainsFunc(all, func(c lab.Comparison) bool { return !c.Control && c.P <= 0.05 }) {
			fooled++
		}
		for _, c := range all {
			if c.Verdict == stats.Different && !c.Control {
				t.Errorf("seed %d: %+v", seed, c)
			}
			if out := c.Low > 1 || c.High < 1; out != (c.PAdjusted <= 0.05) {
				t.Errorf("the interval and p contradict each other: %+v", c)
			}
		}
	}
	if fooled < 5 {
		t.Errorf("only %d of 20 have a p-value below 5 %%: nothing was corrected", fooled)
	}
	q, trials := many(1, 20, 6, map[int]float64{3: -math.Log(3)})
	for _, c := range judgeScope(q, trials) {
		if want := c.Variant == "v3"; c.IsWorse() != want {
			t.Errorf("%s: %+v", c.Variant, c)
		}
		if c.Variant == "v3" && (c.PAdjusted != 2.0/64 || c.PHolm <= 0.05) {
			t.Errorf("p %v, by Holm's correction %v", c.PAdjusted, c.PHolm)
		}
	}
}

// What is judged alone has nothing to be corrected for, and controls none of the others.
func TestFamilies(t *testing.T) {
	q, trials := many(3, 6, 8, map[int]float64{2: 0.08})
	all := judgeScope(q, trials)
	two := judgeSelected(q, trials, func(c lab.Comparison) bool { return c.Variant == "v2" })
	if len(all) != 7 || len(two) != 2 || !two[0].Control || two[1].Variant != "v2" {
		t.Fatalf("%d and %d comparisons", len(all), len(two))
	}
	if two[1].PAdjusted > all[3].PAdjusted || two[1].High-two[1].Low > all[3].High-all[3].Low {
		t.Errorf("alone %+v, among six %+v", two[1], all[3])
	}
	if two[0].PAdjusted != all[0].PAdjusted {
		t.Errorf("the control's p is %v, and %v beside more variants", two[0].PAdjusted,
			all[0].PAdjusted)
	}
}

// Letters say of two variants what the verdict on them says, and do not tell twenty apart that
// are alike.
func TestLettersAreCorrected(t *testing.T) {
	q, trials := many(5, 12, 7, map[int]float64{4: -0.5})
	ranks := q.rankAll(trials, judgeScope(q, trials))
	if len(ranks) != 1 || len(ranks[0].Arms) != 13 {
		t.Fatalf("%+v", ranks)
	}
	for i, arm := range ranks[0].Arms {
		want := "a"
		if arm == "v4" {
			want = "b"
		}
		if ranks[0].Groups[i] != want {
			t.Errorf("%s has %q, want %q", arm, ranks[0].Groups[i], want)
		}
	}
}

// A round that lacks a variant costs this variant, and no other, its certainty.
func TestMissingRoundIsItsOwn(t *testing.T) {
	q, trials := many(7, 3, 8, map[int]float64{0: 0.5, 1: 0.5, 2: 0.5})
	trials = slices.DeleteFunc(trials, func(t *lab.Trial) bool { return t.Arm == "v1" && t.Round < 5 })
	for _, c := range judgeScope(q, trials) {
		want, verdict := 8, stats.Different
		switch {
		case c.Control:
			verdict = stats.Inconclusive
		case c.Variant == "v1":
			want, verdict = 4, stats.Inconclusive
		}
		if c.Trials != want || c.Verdict != verdict {
			t.Errorf("%+v", c)
		}
	}
}
