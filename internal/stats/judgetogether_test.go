package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// p and the interval never contradict each other, estimates lie within their intervals, and
// nothing is claimed below six rounds, whatever is missing or equal.
func TestTogetherNeverContradicts(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 8))
	shown := 0
	for i := range 200 {
		x := rows(random, 1+i%7, 1+i%10, []float64{0, 0.2}[i%2], i%3 == 0)
		margins := make([]Margin, len(x))
		for k := range margins {
			margins[k].Practical = 0.02
		}
		for k, j := range JudgeTogether(x, margins) {
			if len(presentValues(x[k])) == 0 {
				if j.Verdict != Inconclusive || !math.IsNaN(j.Ratio.Estimate) || j.Adjusted != 1 {
					t.Fatalf("of no round: %+v", j)
				}
				continue
			}
			out := j.Ratio.Low > 1 || j.Ratio.High < 1
			if out != (j.Adjusted <= 0.05) {
				t.Fatalf("%v: %+v", x[k], j)
			}
			if j.Ratio.Low > j.Ratio.Estimate || j.Ratio.High < j.Ratio.Estimate {
				t.Fatalf("%v: %+v", x[k], j)
			}
			if len(presentValues(x[k])) < 6 && j.Verdict != Inconclusive {
				t.Fatalf("%d rounds: %+v", len(presentValues(x[k])), j)
			}
			if out {
				shown++
			}
		}
	}
	if shown == 0 {
		t.Error("nothing was ever shown")
	}
}

// The verdicts, of comparisons whose noise is far below their distances.
func TestTogetherVerdicts(t *testing.T) {
	margin := Margin{Practical: 0.02, Floor: 0.05}
	x := [][]float64{shifted(8, 0.3, 0.002), shifted(8, 0.01, 0.002), shifted(8, 0.0002, 0.002),
		shifted(8, 0.04, 0.002), shifted(8, 0.01, 0.5), shifted(8, -0.3, 0.002)}
	want := []Verdict{Different, Negligible, Equivalent, Inconclusive, Inconclusive, Different}
	margins := []Margin{margin, margin, margin, margin, margin, margin}
	for k, j := range JudgeTogether(x, margins) {
		if j.Verdict != want[k] {
			t.Errorf("%d: %+v, want %s", k, j, want[k])
		}
		if more := k == 4; more != (j.More > 0) { // the fourth is below the floor
			t.Errorf("%d: %d rounds more", k, j.More)
		}
	}
}

// Runs without rounds are corrected by Holm, and their intervals by Bonferroni.
func TestApart(t *testing.T) {
	a := []float64{100, 101, 102, 103, 104, 105}
	b := []float64{90, 91, 92, 93, 94, 95}
	same := []float64{100.5, 101.5, 102.5, 103.5, 104.5, 99.5}
	margins := make([]Margin, 3)
	all, err := JudgeApart([][]float64{a, a, a}, [][]float64{b, same, b[:3]}, margins)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := JudgeUnpaired(a, b, Margin{})
	wide, _ := UnpairedRatio(a, b, Simultaneous(0.95, 3))
	if all[0].Verdict != Different || all[0].Adjusted != 3*one.P || all[0].P != one.P {
		t.Errorf("%+v, alone %+v", all[0], one)
	}
	near(t, "low", all[0].Ratio.Low, wide.Low)
	near(t, "high", all[0].Ratio.High, wide.High)
	if all[1].Verdict != Inconclusive || all[2].Verdict != Different && all[2].Adjusted <= 0.05 {
		t.Errorf("%+v", all[1:])
	}
	if _, err := JudgeApart([][]float64{a}, [][]float64{nil}, margins[:1]); !errors.Is(err, ErrEmpty) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := JudgeApart([][]float64{a}, nil, nil); err == nil {
		t.Error("one against none")
	}
}

// Verdicts that are looked at again have a share of the error that a single look has.
func TestJudgeLook(t *testing.T) {
	coin := rand.New(rand.NewPCG(3, 4))
	rows := make([][]float64, 3)
	for k := range rows {
		for range 12 {
			rows[k] = append(rows[k], 0.01*float64(k)+0.02*coin.NormFloat64())
		}
	}
	margins := make([]Margin, len(rows))
	first, second := JudgeLook(rows, margins, 1), JudgeLook(rows, margins, 2)
	for k, j := range JudgeTogether(rows, margins) {
		if j != first[k] {
			t.Errorf("at the first look %+v, alone %+v", first[k], j)
		}
		if want := min(2*j.Adjusted, 1); math.Abs(second[k].Adjusted-want) > 1e-12 || second[k].P != j.P {
			t.Errorf("p is %v, at the second look %v", j.Adjusted, second[k].Adjusted)
		}
		if second[k].Ratio.Low > j.Ratio.Low || second[k].Ratio.High < j.Ratio.High || second[k].Ratio.Level < confidence-1e-9 {
			t.Errorf("the interval %+v is narrower than %+v", second[k].Ratio, j.Ratio)
		}
	}
}

// Of servers that are alike, some experiments find a difference. Adding rounds until one is found
// makes them more; with the correction of each look they stay below twice the 5 % of a single one.
func TestAddingRoundsUntilSomethingDiffers(t *testing.T) {
	const experiments, looks, rounds, comparisons = 200, 3, 7, 2
	coin := rand.New(rand.NewPCG(5, 6))
	var once, corrected, uncorrected int
	for range experiments {
		rows := make([][]float64, comparisons)
		found := map[string]bool{}
		for look := 1; look <= looks; look++ {
			for k := range rows {
				for range rounds {
					rows[k] = append(rows[k], coin.NormFloat64())
				}
			}
			for _, j := range JudgeLook(rows, make([]Margin, comparisons), look) {
				found["corrected"] = found["corrected"] || j.Verdict == Different
				naive := j.Adjusted <= 0.05*float64(lookShare(look))
				found["uncorrected"] = found["uncorrected"] || naive
				found["once"] = found["once"] || naive && look == 1
			}
		}
		for kind, n := range map[string]*int{"once": &once, "corrected": &corrected, "uncorrected": &uncorrected} {
			if found[kind] {
				*n++
			}
		}
	}
	t.Logf("of %d experiments: %d at one look, %d at any of %d, %d corrected", experiments, once, uncorrected, looks, corrected)
	if uncorrected < once*3/2 || corrected >= uncorrected || corrected > experiments/10 {
		t.Errorf("of %d experiments %d differ at one look, %d at any of %d, %d corrected", experiments, once, uncorrected, looks, corrected)
	}
}

// An interval that is narrow enough to leave out 0, and has it because it lies to one side, needs
// rounds as well.
func TestOneSidedIntervalNeedsRounds(t *testing.T) {
	found := false
	for seed := range uint64(200) {
		coin := rand.New(rand.NewPCG(seed, 7))
		rows := make([][]float64, 2)
		for k := range rows {
			for range 8 {
				rows[k] = append(rows[k], 0.05+0.06*coin.NormFloat64())
			}
		}
		for _, j := range JudgeTogether(rows, make([]Margin, len(rows))) {
			if j.Verdict != Inconclusive || j.Ratio.Low > 1 || j.Ratio.High < 1 {
				continue
			}
			if j.More == 0 {
				t.Errorf("seed %d: no rounds would decide %+v", seed, j)
			}
			found = found || math.Log(j.Ratio.High/j.Ratio.Low)/2 < math.Log(j.Ratio.Estimate)
		}
	}
	if !found {
		t.Error("there was no such interval")
	}
}
