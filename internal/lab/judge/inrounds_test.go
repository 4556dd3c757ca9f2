package judge

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
)

func readArm(t *testing.T, dir, arm string) Group {
	t.Helper()
	g, err := ReadGroup(dir+":"+arm, dir, arm)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Two arms of one experiment are judged as the experiment judges them: in pairs, all comparisons
// together by sign flips of whole rounds. A copy of the folder is the same experiment.
func TestCompareArmsOfOneExperiment(t *testing.T) {
	dir := stored(t, 0, map[string]float64{"go": 1000, "rust": 1012}, "c10", "c100")
	trials, err := lab.Folder{Dir: dir}.ReadTrials()
	if err != nil {
		t.Fatal(err)
	}
	own := judgeScope(scope{metrics: []experiment.Metric{"throughput", "p50"}, margin: 0.02,
		levels: []string{"c10", "c100"}, arms: []scopeArm{{"go (A/A)", "go", true}, {"rust", "go", false}}}, trials)
	var want []lab.Comparison
	for _, c := range own {
		c.Baseline, c.Variant = dir+":"+c.Baseline, dir+":"+c.Variant
		want = append(want, c)
	}
	by := []lab.Measure{measureOf(t, "throughput"), measureOf(t, "p50")}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	other := readArm(t, copied, "rust")
	other.Name = dir + ":rust"
	for i := range other.Samples {
		other.Samples[i].Name = other.Name
	}
	for name, g := range map[string]Group{"one folder": readArm(t, dir, "rust"), "a copy": other} {
		u, err := CompareGroups([]Group{readArm(t, dir, "go"), g}, by, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		if !u.AreInRounds() || !slices.Equal(u.Verdicts, want) {
			t.Errorf("%s: %+v\nwant\n%+v", name, u.Verdicts, want)
		}
		if len(u.Cautions) != 0 {
			t.Errorf("%s: %q", name, u.Cautions)
		}
	}
}

func measureOf(t *testing.T, name string) lab.Measure {
	t.Helper()
	m, known := lab.MeasureNamed(name)
	if !known {
		t.Fatal(name)
	}
	return m
}

// Any arm can be the baseline: ratios turn round, and what is significant stays so.
func TestCompareWithAnotherBaseline(t *testing.T) {
	dir := stored(t, 0, map[string]float64{"go": 1000, "rust": 1100}, "c10")
	by := []lab.Measure{measureOf(t, "throughput")}
	of := func(arms ...string) lab.Comparison {
		t.Helper()
		u, err := CompareGroups([]Group{readArm(t, dir, arms[0]), readArm(t, dir, arms[1])}, by, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		if u.DecideGate(); (u.Gate.Verdict == lab.Regression) != (arms[1] == "go") {
			t.Errorf("%q: %+v", arms, u.Gate)
		}
		return u.Verdicts[len(u.Verdicts)-1]
	}
	one, other := of("go", "rust"), of("rust", "go")
	if one.Verdict != stats.Different || other.Verdict != stats.Different || one.Against != 0 ||
		math.Abs(one.Ratio*other.Ratio-1) > 1e-9 || math.Abs(one.Low*other.High-1) > 1e-9 ||
		one.PAdjusted != other.PAdjusted || one.Floor != other.Floor || one.Trials != 8 {
		t.Errorf("%+v\n%+v", one, other)
	}
}

// Beside another experiment's runs there are no rounds that all have, and that is said.
func TestCompareArmsBesideOthers(t *testing.T) {
	rates := map[string]float64{"go": 1000, "rust": 1100}
	dir, apart := stored(t, 0, rates, "c10"), stored(t, 60, rates, "c10")
	u, err := CompareGroups([]Group{readArm(t, dir, "go"), readArm(t, dir, "rust"), readArm(t, apart, "rust")},
		[]lab.Measure{measureOf(t, "throughput")}, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(u.Cautions, "\n")
	if u.AreInRounds() || !strings.Contains(said, "A and B come from one experiment") || strings.Contains(said, "A and C come from") {
		t.Errorf("%q", u.Cautions)
	}
	for _, c := range u.Verdicts {
		if !c.Control && c.Against != 8 {
			t.Errorf("%+v", c)
		}
	}
}

// Each look at the verdicts, before rounds were added, takes half of the error that is left.
func TestCompareArmsAfterLooks(t *testing.T) {
	dir := stored(t, 0, map[string]float64{"go": 1000, "rust": 1100}, "c10")
	by := []lab.Measure{measureOf(t, "throughput")}
	adjusted := func(looks ...int) float64 {
		t.Helper()
		a, b := readArm(t, dir, "go"), readArm(t, dir, "rust")
		a.Record.Looks, b.Record.Looks = looks, looks
		u, err := CompareGroups([]Group{a, b}, by, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		return u.Verdicts[len(u.Verdicts)-1].PAdjusted
	}
	if first, second := adjusted(), adjusted(6); second != 2*first || first != 2.0/256 {
		t.Errorf("p is %g at the first look and %g at the second", first, second)
	}
}

// Fewer than six rounds show nothing, however many measures are compared; and nothing is said of
// runs.
func TestCompareArmsOfFewRounds(t *testing.T) {
	dir := stored(t, 0, map[string]float64{"go": 1000, "rust": 2000}, "c10")
	few := func(arm string) Group {
		g := readArm(t, dir, arm)
		for at := range g.cells {
			if at.Round > 5 {
				delete(g.cells, at)
			}
		}
		return g
	}
	u, err := CompareGroups([]Group{few("go"), few("rust")}, []lab.Measure{measureOf(t, "throughput")}, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	u.DecideGate()
	if c := u.Verdicts[len(u.Verdicts)-1]; c.Verdict != stats.Inconclusive || c.Trials != 5 || len(u.Cautions) != 0 ||
		u.Gate.Verdict != lab.Undecided || !strings.Contains(u.Gate.Why, "5 pairs are too few for a 95 % interval") {
		t.Errorf("%+v, %+v, %q", c, u.Gate, u.Cautions)
	}
}
