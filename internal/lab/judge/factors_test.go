package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
)

// factorial is an experiment with two factors of two and three values, whose settings add these
// logarithms to throughput, and with an effect of both together.
func factorial(t *testing.T, seed uint64, rounds int, noise, log, together float64,
	workers [3]float64) (scope, []*lab.Trial) {
	t.Helper()
	e := &experiment.Experiment{
		Factors: experiment.Mapping[[]string]{{Name: "log", Value: []string{"on", "off"}},
			{Name: "workers", Value: []string{"1", "2", "4"}}},
		Variants: experiment.Mapping[experiment.Definition]{{Name: "n",
			Value: experiment.Definition{URL: "http://127.0.0.1/{{log}}/{{workers}}"}}}}
	q := scope{metrics: []experiment.Metric{"throughput"}, margin: 0.02, levels: []string{"l"}}
	var loaded []string
	for _, v := range experiment.Expand(e) {
		loaded = append(loaded, v.Name)
		q.arms = append(q.arms, scopeArm{name: v.Name})
	}
	q.contrasts = design.Contrasts(e, loaded)
	random := rand.New(rand.NewPCG(seed, 24))
	var trials []*lab.Trial
	for round := 1; round <= rounds; round++ {
		drift := 0.3 * random.NormFloat64() // of the machine, from round to round
		for i, name := range loaded {
			x := drift + noise*random.NormFloat64() + workers[i%3]
			if i >= 3 {
				x += log
				if i%3 == 1 {
					x += together
				}
			}
			trials = append(trials, logged(name, round, x))
		}
	}
	return q, trials
}

// Without noise every ratio is the exact one: drift between rounds cancels out, and the other
// factor's settings are averaged over.
func TestFactorsExactly(t *testing.T) {
	q, trials := factorial(t, 1, 6, 0, math.Log(0.9), math.Log(1.21), [3]float64{0, math.Log(2), math.Log(3)})
	want := map[string]float64{
		"log=off | log=on":                   0.9 * math.Cbrt(1.21),
		"workers=2 | workers=1":              2 * 1.1, // the mean of 2 and 2.42
		"workers=4 | workers=1":              3,
		"workers=4 | workers=2":              1.5 / 1.1,
		"log=off and workers=2 | each alone": 1.21,
		"log=off and workers=4 | each alone": 1,
	}
	all := judgeScope(q, trials)
	if len(all) != len(want) {
		t.Errorf("%d comparisons, want %d", len(all), len(want))
	}
	for _, c := range all {
		name := c.Variant + " | " + c.Baseline
		if math.Abs(c.Ratio-want[name]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, c.Ratio, want[name])
		}
		if different := want[name] != 1; (c.Verdict == stats.Different) != different {
			t.Errorf("%s is %s", name, c.Verdict)
		}
		if c.Factor == "" || c.Trials != 6 {
			t.Errorf("%+v", c)
		}
	}
}

// Of 200 experiments without any effect at most a few call a setting different, in each family; of
// 200 with one of 5 %, most find it.
func TestFactorsHoldTheirLevel(t *testing.T) {
	wrong, found := 0, 0
	for seed := range uint64(200) {
		q, trials := factorial(t, seed, 8, 0.02, 0, 0, [3]float64{})
		for _, c := range judgeScope(q, trials) {
			if c.With == "" && c.PAdjusted <= 0.05 {
				wrong++
				break
			}
		}
		q, trials = factorial(t, seed, 8, 0.02, 0.05, 0, [3]float64{})
		for _, c := range judgeScope(q, trials) {
			if c.Factor == "log" && c.With == "" && c.Verdict == stats.Different {
				found++
			}
		}
	}
	if wrong > 20 { // 10 are expected; 21 or more have a chance below 0.1 %
		t.Errorf("%d of 200 experiments of nothing call a setting different", wrong)
	}
	if found < 150 {
		t.Errorf("%d of 200 experiments find an effect of 5 %%", found)
	}
}

// A round in which a setting has no trial counts for nothing, and a setting that was not loaded
// leaves the others to be compared.
func TestFactorsWithHoles(t *testing.T) {
	q, trials := factorial(t, 1, 7, 0.01, 0.5, 0, [3]float64{})
	var left []*lab.Trial
	for _, trial := range trials {
		if trial.Round != 3 || trial.Arm != "n log=off workers=4" {
			left = append(left, trial)
		}
	}
	for _, c := range judgeScope(q, left) {
		want := 7
		switch name := fmt.Sprint(c.Variant, c.Baseline); name {
		case "log=offlog=on", "workers=4workers=1", "workers=4workers=2",
			"log=off and workers=4each alone":
			want = 6
		}
		if c.Trials != want {
			t.Errorf("%s: %d rounds, want %d", c.Variant, c.Trials, want)
		}
	}
}

// screening is an experiment of eight factors in sixteen variants: the first changes throughput by
// 10 %, the second by 4 %, and the first and the third together by 6 % more. The other factors do
// nothing.
func screening(seed uint64, rounds int, noise, size float64) (scope, []*lab.Trial) {
	e := &experiment.Experiment{Design: experiment.Design{Screen: true}}
	url := "http://127.0.0.1"
	for j := range 8 {
		name := fmt.Sprint("f", j)
		e.Factors = append(e.Factors, experiment.Entry[[]string]{Name: name, Value: []string{"a", "b"}})
		url += "/{{" + name + "}}"
	}
	e.Variants = experiment.Mapping[experiment.Definition]{{Name: "n",
		Value: experiment.Definition{URL: experiment.Template(url)}}}
	q := scope{metrics: []experiment.Metric{"throughput"}, margin: 0.02, levels: []string{"l"}, screen: true, look: 1}
	variants := experiment.Expand(e)
	var loaded []string
	for _, v := range variants {
		loaded = append(loaded, v.Name)
		q.arms = append(q.arms, scopeArm{name: v.Name})
	}
	q.contrasts = design.Contrasts(e, loaded)
	random := rand.New(rand.NewPCG(seed, 24))
	var trials []*lab.Trial
	for round := 1; round <= rounds; round++ {
		drift := 0.3 * random.NormFloat64()
		for _, v := range variants {
			x := drift + noise*random.NormFloat64()
			has := func(j int) bool { return v.Factors[j].Value == "b" }
			if has(0) {
				x += 0.10 * size
			}
			if has(1) {
				x += 0.04 * size
			}
			if has(0) && has(2) {
				x += 0.06 * size
			}
			trials = append(trials, logged(v.Name, round, x))
		}
	}
	return q, trials
}

// Lenth's method takes most effects for none, which only a screening's are, and knows no looks: where all combinations are
// measured, or somebody looked before, one round has no verdict.
func TestOneRoundWithoutLenth(t *testing.T) {
	for _, c := range []struct {
		screen bool
		look   int
	}{{true, 2}, {false, 1}} {
		q, trials := screening(1, 1, 0.005, 1)
		q.screen, q.look = c.screen, c.look
		for _, of := range judgeScope(q, trials) {
			if of.Method == lab.ByLenth || of.Verdict == stats.Different {
				t.Errorf("%+v: %+v", c, of)
			}
		}
	}
}

// Screenings find two effects and an interaction, and what is nothing stays nothing: by sign flips of
// eight rounds, and by Lenth's method with one round.
func TestScreeningFindsWhatIsThere(t *testing.T) {
	for _, test := range []struct {
		rounds      int
		noise       float64
		least, most int // of 100: that find all three, and that call a factor different that is none
	}{{8, 0.02, 90, 12}, {1, 0.005, 85, 12}} {
		found, wrong, invented := 0, 0, 0
		for seed := range uint64(100) {
			q, trials := screening(seed, test.rounds, test.noise, 1)
			shown := map[string]bool{}
			for _, c := range judgeScope(q, trials) {
				shown[c.Variant] = c.Verdict == stats.Different
				if (c.Method == lab.ByLenth) != (test.rounds == 1) {
					t.Fatalf("%d rounds: %s by %q", test.rounds, c.Variant, c.Method)
				}
			}
			if shown["f0=b"] && shown["f1=b"] && shown["f0=b and f2=b"] {
				found++
			}
			for j := 3; j < 8; j++ { // the third has a mean effect, of 3 %
				if shown[fmt.Sprintf("f%d=b", j)] {
					wrong++
					break
				}
			}
			q, trials = screening(seed, test.rounds, test.noise, 0)
			for _, c := range judgeScope(q, trials) {
				if c.PAdjusted <= 0.05 && c.With == "" {
					invented++
					break
				}
			}
		}
		t.Logf("%d rounds: %d of 100 find all, %d call nothing different, %d of nothing", test.rounds, found,
			wrong, invented)
		if found < test.least || wrong > test.most || invented > test.most {
			t.Errorf("%d rounds: %d find all three, %d call a factor different that is not, %d of nothing",
				test.rounds, found, wrong, invented)
		}
	}
}
