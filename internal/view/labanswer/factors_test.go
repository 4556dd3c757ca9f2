package labanswer

import (
	"slices"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
)

// setting is a comparison of two values of a factor, in CPU per request.
func settingOf(factor, value, base string, ratio float64, v stats.Verdict) lab.Comparison {
	c := compared("cpu", factor+"="+value, ratio, ratio*0.99, ratio*1.01, v)
	c.Level, c.Factor, c.Baseline = "c100", factor, factor+"="+base
	return c
}

// factored is an experiment of these comparisons of settings.
func factored(all ...lab.Comparison) *lab.Record {
	r := record()
	r.Experiment.Factors = experiment.Mapping[[]string]{{Name: "log", Value: []string{"on", "off"}},
		{Name: "workers", Value: []string{"1", "2", "4"}}}
	r.Verdicts = all
	return r
}

// Each setting has a row that names what it is compared with, and the sentence has the largest
// difference of each factor.
func TestSettings(t *testing.T) {
	off := settingOf("log", "off", "on", 0.88, stats.Different)
	both := settingOf("log", "off and workers=2", "", 1, stats.Equivalent)
	both.Variant, both.Baseline, both.With = "log=off and workers=2", "each alone", "workers"
	a := Of(factored(off, settingOf("workers", "2", "1", 0.7, stats.Different),
		settingOf("workers", "4", "1", 0.5, stats.Different),
		settingOf("workers", "4", "2", 0.71, stats.Different), both))
	var rows []string
	for _, f := range a.Groups[0].Findings {
		rows = append(rows, f.Row())
	}
	want := []string{"workers=4 vs 1", "workers=2 vs 1", "workers=4 vs 2", "log=off vs on",
		"log=off and workers=2 vs each alone"}
	if !slices.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
	const sentence = "workers=4 needs less CPU per request than workers=1: −50.0 % [−50.5, −49.5]; " +
		"log=off needs less CPU per request than log=on: −12.0 % [−12.9, −11.1]"
	if a.Sentence != sentence {
		t.Errorf("%s", a.Sentence)
	}
	if a.Groups[0].Against != "" {
		t.Errorf("against %s", a.Groups[0].Against)
	}
}

// A sentence about a pair of factors says how many others a screening takes for it, and a note names
// them.
func TestAliasesInTheSentence(t *testing.T) {
	pair := settingOf("pm", "static and opcache=on", "", 0.79, stats.Different)
	pair.Baseline, pair.With, pair.Aliases = "each alone", "opcache", "a=2 and b=2, or a=2 and c=2, or b=2 and d=2"
	a := Of(factored(pair))
	const sentence = "pm=static and opcache=on (or 3 other pairs that it cannot be told apart from) needs less CPU per request than each alone: −21.0 % [−21.8, −20.2]"
	if a.Sentence != sentence {
		t.Errorf("%s", a.Sentence)
	}
	if want := "pm=static and opcache=on cannot be told apart from " + pair.Aliases; !slices.Contains(a.Groups[0].Notes, want) {
		t.Errorf("%q", a.Groups[0].Notes)
	}
}

// A variant with a long name has the factors in which it differs from its baseline as its label.
func TestLongNames(t *testing.T) {
	r := record()
	r.Experiment.Factors = experiment.Mapping[[]string]{{Name: "process_manager", Value: []string{"dynamic", "static"}},
		{Name: "opcache_enabled", Value: []string{"off", "on"}}}
	var v experiment.Definition
	v.URL = "http://127.0.0.1:1/{{process_manager}}{{opcache_enabled}}"
	r.Experiment.Variants = experiment.Mapping[experiment.Definition]{{Name: "php-fpm", Value: v}}
	all := experiment.Expand(r.Experiment)
	c := compared("cpu", all[3].Name, 0.8, 0.7, 0.9, stats.Different)
	c.Baseline = all[2].Name
	short := compared("cpu", "b", 0.8, 0.7, 0.9, stats.Different)
	r.Verdicts = []lab.Comparison{c}
	if got := Of(r).Groups[0].Findings[0].Row(); got != "opcache_enabled=on" {
		t.Errorf("%q of %q against %q", got, c.Variant, c.Baseline)
	}
	r.Verdicts = []lab.Comparison{short}
	if got := Of(r).Groups[0].Findings[0].Row(); got != "b" {
		t.Errorf("%q", got)
	}
}

// Where a factor stops paying is said if its values are rising numbers and each comparison that it
// takes has an interval.
func TestWhereAFactorStopsPaying(t *testing.T) {
	few := settingOf("workers", "4", "2", 1, stats.Equivalent)
	few.Confidence = 0.5
	for _, test := range []struct {
		name           string
		two, four, six lab.Comparison // 2 against 1, 4 against 1, 4 against 2
		want           string
	}{
		{"up to 2", settingOf("workers", "2", "1", 0.7, stats.Different), settingOf("workers", "4", "1", 0.7, stats.Different),
			settingOf("workers", "4", "2", 1, stats.Equivalent), "workers pays up to 2: 4 is the same (0 % [−1, +1])"},
		{"never", settingOf("workers", "2", "1", 1.2, stats.Different), settingOf("workers", "4", "1", 1.3, stats.Different),
			settingOf("workers", "4", "2", 1.1, stats.Different), "No value of workers is better than 1: 2 is worse (+20 % [+19, +21])"},
		{"always", settingOf("workers", "2", "1", 0.7, stats.Different), settingOf("workers", "4", "1", 0.5, stats.Different),
			settingOf("workers", "4", "2", 0.7, stats.Different), "workers still pays at 4, its largest value"},
		{"only the largest", settingOf("workers", "2", "1", 1, stats.Equivalent), settingOf("workers", "4", "1", 0.5, stats.Different),
			settingOf("workers", "4", "2", 0.5, stats.Different), "workers still pays at 4, its largest value"},
		{"too few rounds", settingOf("workers", "2", "1", 0.7, stats.Different), settingOf("workers", "4", "1", 0.7, stats.Different), few, ""},
	} {
		a := Of(factored(test.two, test.four, test.six))
		var notes []string
		if test.want != "" {
			notes = []string{test.want}
		}
		if !slices.Equal(a.Groups[0].Notes, notes) {
			t.Errorf("%s: %q", test.name, a.Groups[0].Notes)
		}
	}
}

// One baseline needs no labels.
func TestOneBaselineHasNoLabels(t *testing.T) {
	a := Of(record(compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different)))
	if f := a.Groups[0].Findings[0]; f.Label != "" || f.Row() != "b" {
		t.Errorf("%+v", answer.Finding(f))
	}
}
