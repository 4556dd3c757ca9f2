package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// sensitivity is what is found of a cell on which the settings of the generator have these effects.
func sensitivity(t *testing.T, effects map[string]float64, noise float64, seed uint64) *lab.Record {
	t.Helper()
	e, err := experiment.Read("x.yaml", strings.NewReader("version: 1\nname: x\n"+
		"design: {sensitivity: true, metrics: [throughput]}\nlevels: [{connections: 8}]\n"+
		"variants: {a: {url: http://127.0.0.1:1/}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	coin := rand.New(rand.NewPCG(seed, 5))
	var trials []*lab.Trial
	for round := range 6 {
		drift := math.Exp(0.2 * coin.NormFloat64()) // of the whole round
		for _, name := range []string{lab.AsAsked, "2 threads", "uring", "wrk"} {
			rate := 1000 * drift * (1 + effects[name]) * math.Exp(noise*coin.NormFloat64())
			trials = append(trials, &lab.Trial{Attempt: 1, Grade: lab.GradeA,
				Slot:   lab.Slot{Round: lab.SensitivityRound + round, Arm: lab.SettingArm("a", name), Level: "c8"},
				Result: &result.Result{Rate: result.Rate{Completed: rate}}})
		}
	}
	r := &lab.Record{Definition: lab.Definition{Experiment: e}, Preparation: lab.Preparation{
		Arms: []lab.Arm{{Name: "a"}}}, Findings: lab.Findings{Sensitive: &lab.Sensitivity{Skipped: []string{"x"}}}}
	Compute(r, trials)
	return r
}

// A setting that moves the cell is found, with the interval of its effect. Where none does, at most
// one experiment in twenty says so.
func TestSensitivity(t *testing.T) {
	const experiments = 400
	for _, test := range []struct {
		effects map[string]float64
		most    string
		least   int // experiments that must find it
		high    int
	}{
		{map[string]float64{}, "", 0, experiments / 20},
		{map[string]float64{"uring": 0.2}, "uring", experiments * 95 / 100, experiments},
		{map[string]float64{"2 threads": -0.15, "wrk": -0.4}, "wrk", experiments * 95 / 100, experiments},
	} {
		found, covered := 0, 0
		for seed := range uint64(experiments) {
			s := sensitivity(t, test.effects, 0.03, seed).Sensitive
			for _, v := range s.Settings {
				if at := 1 + test.effects[v.Name]; v.Name == test.most && v.Ratio.Low <= at && at <= v.Ratio.High {
					covered++
				}
			}
			if s.Matters != (strings.Contains(s.Sentence, `) changes throughput of "a" at level "c8" by `)) {
				t.Fatalf("%v: %q", s.Matters, s.Sentence)
			}
			if s.Matters && (test.most == "" || strings.Contains(s.Sentence, "("+test.most+")")) {
				found++
			}
		}
		t.Logf("%v: found in %d of %d, the interval has the effect in %d", test.effects, found, experiments, covered)
		if found < test.least || found > test.high || test.most != "" && covered < experiments*93/100 {
			t.Errorf("%v: found in %d of %d, the interval has it in %d", test.effects, found, experiments, covered)
		}
	}
	r := sensitivity(t, map[string]float64{"wrk": -0.5}, 0.01, 1)
	if len(r.Trials) != 0 || len(r.Verdicts) != 0 || len(r.Sensitive.Skipped) != 1 || r.SpentS != 0 {
		t.Errorf("settings of the generator are compared as variants: %+v", r.Findings)
	}
	if n := len(r.Sensitive.Trials); n != 24 || r.Sensitive.Trials[0].Values["throughput"] == 0 ||
		r.Sensitive.SettingOf(r.Sensitive.Trials[3].Arm) != "wrk" {
		t.Errorf("%d trials are listed: %+v", n, r.Sensitive.Trials)
	}
	if !strings.Contains(strings.Join(r.Cautions, "\n"), r.Sensitive.Sentence) {
		t.Errorf("%q does not say %q", r.Cautions, r.Sensitive.Sentence)
	}
}

// Where no setting is shown to move a cell, the widest interval, to either side, says by how much one may; of those that
// move it by the margin, it is the one that does most.
func TestGeneratorChoice(t *testing.T) {
	ratio := func(low, estimate, high float64) stats.Interval {
		return stats.Interval{Low: low, Estimate: estimate, High: high, Level: 0.95}
	}
	few := ratio(0.5, 1, 2)
	few.Level = 0.75
	for name, c := range map[string]struct {
		of   []stats.Interval
		want fact.GeneratorChoice
	}{
		"the widest is upwards":       {[]stats.Interval{ratio(0.98, 1, 1.25), ratio(0.96, 1, 1.02)}, fact.GeneratorChoice{High: 25}},
		"the widest is downwards":     {[]stats.Interval{ratio(0.96, 1, 1.02), ratio(0.8, 1, 1.05)}, fact.GeneratorChoice{High: 25}},
		"an effect below the margin":  {[]stats.Interval{ratio(1.001, 1.01, 1.02)}, fact.GeneratorChoice{High: 2}},
		"a factor of two and more":    {[]stats.Interval{ratio(0.4, 1, 2.5)}, fact.GeneratorChoice{Open: fact.RoundsDiffer}},
		"too few rounds":              {[]stats.Interval{ratio(0.9, 1, 1.1), few}, fact.GeneratorChoice{Open: fact.TooFewRounds, Rounds: 3}},
		"the second moves it more":    {[]stats.Interval{ratio(1.05, 1.1, 1.15), ratio(1.25, 1.5, 1.75)}, fact.GeneratorChoice{Setting: "1", Percent: 50, Low: 25, High: 75}},
		"the first moves it more":     {[]stats.Interval{ratio(1.25, 1.5, 1.75), ratio(1.05, 1.1, 1.15)}, fact.GeneratorChoice{Setting: "0", Percent: 50, Low: 25, High: 75}},
		"downwards, and never signed": {[]stats.Interval{ratio(0.25, 0.5, 0.75)}, fact.GeneratorChoice{Setting: "0", Percent: 50, Low: 25, High: 75}},
	} {
		s := &lab.Sensitivity{}
		for i, v := range c.of {
			s.Settings = append(s.Settings, lab.SensitiveSetting{Name: fmt.Sprint(i), Ratio: v, Trials: 3})
		}
		got := generatorChoice(s, 0.02)
		if got.High = math.Round(1e6*got.High) / 1e6; got != c.want || s.Matters != (c.want.Setting != "") {
			t.Errorf("%s: %+v, matters: %v; want %+v", name, got, s.Matters, c.want)
		}
	}
}
