package lab

import (
	"path/filepath"
	"strings"
	"testing"
)

// A gate names every variant and measure that is worse, and every one that is undecided.
func TestGateNamesAll(t *testing.T) {
	gated := strings.Replace(three, "  slow:", "  slower: {url: http://slower.invalid/}\n  slow:", 1) +
		"gate: {metrics: [throughput, p50], margin: 3%, confirm: false}\n"
	gated = strings.Replace(gated, "rounds: 8", "rounds: 12", 1)
	run := func(noise float64, rates map[string]float64) *GateOutcome {
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
	for _, place := range []string{"throughput of slow at low: worse by a factor of 0.8",
		"throughput of slower at high: worse by a factor of 0.7", "p50 of slow at high: worse by a factor of 1.2",
		"p50 of slower at low: worse by a factor of 1.4"} {
		if g.Verdict != Regression || !strings.Contains(g.Worse(), place) || strings.Contains(g.Worse(), "same") {
			t.Errorf("%q is not in %s: %s (%s)", place, g.Verdict, g.Worse(), g.Why)
		}
	}
}
