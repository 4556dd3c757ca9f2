package run

import (
	"dyno/internal/lab"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// A gate names every variant and measure that is worse, and every one that is undecided.
func TestGateNamesAll(t *testing.T) {
	gated := strings.Replace(three, "  slow:", "  slower: {url: http://slower.invalid/}\n  slow:", 1) +
		"gate: {metrics: [throughput, p50], margin: 3%, confirm: false}\n"
	gated = strings.Replace(gated, "rounds: 8", "rounds: 12", 1)
	run := func(noise float64, rates map[string]float64) *lab.GateOutcome {
		b := newTestBench(t)
		b.noise, b.rates = noise, rates
		return b.run(t.Context(), b.lab(filepath.Join(t.TempDir(), "out"), gated)).Gate
	}
	g := run(0.2, map[string]float64{"base": 1000, "same": 1000, "slow": 1000, "slower": 1000})
	for _, variant := range []string{"same", "slow", "slower"} {
		for _, level := range []string{"low", "high"} {
			for _, metric := range []string{"throughput", "p50"} {
				if place := metric + " of " + variant + " at " + level + ": "; !strings.Contains(g.Why, place) {
					t.Errorf("%s is not in %s: %s", place, g.Verdict, g.Why)
				}
			}
		}
	}
	g = run(0.001, map[string]float64{"base": 1000, "same": 1000, "slow": 800, "slower": 700})
	for _, place := range []string{"throughput of slow at low: worse: −2",
		"throughput of slower at high: worse: −3", "p50 of slow at high: worse: +2",
		"p50 of slower at low: worse: +4"} {
		if g.Verdict != lab.Regression || !strings.Contains(g.DescribeWorse(), place) || strings.Contains(g.DescribeWorse(), "same") {
			t.Errorf("%q is not in %s: %s (%s)", place, g.Verdict, g.DescribeWorse(), g.Why)
		}
	}
}

// What a second batch does not show again is named, and so is what the first left open.
func TestGateConfirms(t *testing.T) {
	gated := strings.Replace(three, "  slow:", "  slower: {url: http://slower.invalid/}\n"+
		"  lame: {url: http://lame.invalid/}\n  slow:", 1) +
		"gate: {metrics: [throughput], margin: 3%, confirm: true}\n"
	lame := `"lame" is not tested: it does not start`
	for name, test := range map[string]struct {
		second  map[string]float64 // what the rates become
		verdict string
		whys    []string
	}{
		"confirmed": {nil, lab.Regression, []string{"besides: ", lame}},
		"partly": {map[string]float64{"slow": 1000}, lab.Regression, []string{"besides: ", lame,
			"throughput of slow at low: worse: −19.9 % [−20.3, −19.7], which a second batch of trials did not show again",
			"throughput of slow at high: worse: −20.0 % [−20.2, −19.7], which a second batch of trials did not show again"}},
		"not confirmed": {map[string]float64{"slow": 1000, "slower": 1000}, lab.Undecided,
			[]string{"throughput of slower at high: worse: −30.1 % [−30.3, −29.9], which a second batch of trials did not show again", lame}},
	} {
		b := newTestBench(t)
		b.noise = 0.002
		b.rates = map[string]float64{"base": 1000, "same": 1000, "lame": 1000, "slow": 800, "slower": 700}
		b.broken["lame"] = errors.New("it does not start")
		l := b.lab(filepath.Join(t.TempDir(), "out"), gated)
		l.Tell = func(e Event) {
			if e.Step == "trial" && e.Round >= lab.ConfirmingRound {
				maps.Copy(b.rates, test.second)
			}
		}
		g := b.run(t.Context(), l).Gate
		if g.Verdict != test.verdict || g.Confirmed != (test.verdict == lab.Regression) ||
			!strings.Contains(g.Explain(), g.Why) || !strings.Contains(g.Explain(), g.DescribeWorse()) {
			t.Errorf("%s: %s, confirmed %v: %s", name, g.Verdict, g.Confirmed, g.Explain())
		}
		for _, why := range test.whys {
			if !strings.Contains(g.Why, why) {
				t.Errorf("%s: %q is not in %s", name, why, g.Why)
			}
		}
	}
}
