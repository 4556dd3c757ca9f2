package judge

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
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
			if s.Matters != (strings.Contains(s.Sentence, ") moves throughput of a at c8 by ")) {
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
