package judge

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
)

// screenedRecord is the record of a screening with these verdicts.
func screenedRecord(all []lab.Comparison) *lab.Record {
	return &lab.Record{Definition: lab.Definition{Experiment: &experiment.Experiment{
		Design: experiment.Design{Screen: true}}}, Findings: lab.Findings{Verdicts: all}}
}

// A plot has the effects of a measure at a level from the smallest to the largest; a control and
// variants are no effects. An interaction counts with half of its logarithm.
func TestHalfNormals(t *testing.T) {
	all := []lab.Comparison{{Metric: "cpu", Level: "l", Variant: "a (A/A)", Control: true, Ratio: 3}}
	for i, x := range []float64{-0.01, 0.02, -0.03, 0.04, 0.05, 0.5, 2} {
		c := lab.Comparison{Metric: "cpu", Level: "l", Variant: string(rune('a' + i)), Ratio: math.Exp(x),
			Effect: lab.Effect{Factor: "f"}}
		if i == 6 {
			c.With = "g" // its logarithm is 2, and it counts for 1
		}
		all = append(all, c)
	}
	all = append(all, lab.Comparison{Metric: "p99", Level: "l", Variant: "a", Ratio: 2,
		Verdict: stats.Different, Effect: lab.Effect{Factor: "f"}})
	plots := HalfNormals(screenedRecord(all))
	if len(plots) != 2 || plots[0].Metric != "cpu" || len(plots[0].Effects) != 7 {
		t.Fatalf("%+v", plots)
	}
	for i, e := range plots[0].Effects {
		size := []float64{0.01, 0.02, 0.03, 0.04, 0.05, 0.5, 1}[i]
		quantile := math.Sqrt2 * math.Erfinv((float64(i)+0.5)/7) // Daniel 1959
		if math.Abs(math.Log(e.Size)-size) > 1e-9 || math.Abs(e.Quantile-quantile) > 1e-9 ||
			e.Comparison != i+1 {
			t.Errorf("effect %d: %+v, want the size e^%v and the quantile %v", i, e, size, quantile)
		}
		// s₀ is 1.5 · 0.04, and five effects are below 2.5 s₀: PSE is 1.5 · 0.03. With 7/3 degrees of
		// freedom SME is about 7.5 PSE, less than 0.5.
		if e.StandsOut != (i >= 5) {
			t.Errorf("effect %d stands out: %v", i, e.StandsOut)
		}
	}
	h := plots[0]
	if math.Abs(math.Log(h.Noise)-0.045) > 1e-9 || !(h.Alone > h.Noise) || !(h.Together > h.Alone) {
		t.Errorf("noise %v, margins %v and %v", h.Noise, h.Alone, h.Together)
	}
	// One effect has no noise to be held against. What its verdict says still counts.
	if h := plots[1]; h.Noise != 0 || h.Together != 0 || !h.Effects[0].StandsOut {
		t.Errorf("%+v", h)
	}
	other := screenedRecord(all)
	other.Experiment.Design.Screen = false
	if plots := HalfNormals(other); plots != nil {
		t.Errorf("no screening has plots: %+v", plots)
	}
}

// The effects that stand out of a screening of one round are those that Lenth's method judges to be
// shown; the null factors lie near the line of noise.
func TestHalfNormalOfAScreening(t *testing.T) {
	q, trials := screening(3, 1, 0.005, 1)
	verdicts := judgeScope(q, trials)
	plots := HalfNormals(screenedRecord(verdicts))
	if len(plots) != 1 || len(plots[0].Effects) != 15 {
		t.Fatalf("%+v", plots)
	}
	for _, e := range plots[0].Effects {
		c := verdicts[e.Comparison]
		if !strings.HasPrefix(e.Name, c.Variant) || e.StandsOut != (c.PAdjusted <= 0.05) {
			t.Errorf("%+v, and its verdict is %+v", e, c)
		}
	}
	last := plots[0].Effects[14]
	if last.Name != "f0=b" || !last.StandsOut {
		t.Errorf("the largest effect is %+v", last)
	}
	if i := slices.IndexFunc(plots[0].Effects, func(e lab.HalfNormalEffect) bool {
		return e.Name == "f0=b and f2=b, or 3 more"
	}); i < 0 || !plots[0].Effects[i].StandsOut {
		t.Errorf("the interaction does not stand out: %+v", plots[0].Effects)
	}
}
