package judge

import (
	"dyno/internal/lab"
	"math"
	"testing"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// spread is a trial's latencies: n requests between 100 and 200 µs, those above the median
// longer by the factor tail, all longer by the factor all.
func spread(n int, all, tail float64) *result.Distribution {
	h := metric.NewHistogram(metric.Fine)
	for i := range n {
		us := all * (100 + 100*float64(i)/float64(n))
		if 2*i > n {
			us *= tail
		}
		h.Record(int64(1e3 * us))
	}
	return &result.Distribution{Count: h.Count, Min: float64(h.Min) / 1e3, Max: float64(h.Max) / 1e3,
		Mean: h.Mean() / 1e3, HDR: h.EncodeHDR()}
}

// A slow tail is seen in the tail and nowhere else, whatever drifts from round to round.
func TestShiftOfTrials(t *testing.T) {
	q := scope{levels: []string{"l"}, arms: []scopeArm{{name: "base"},
		{name: "slow", baseline: "base"}, {name: "base (A/A)", baseline: "base", control: true}}}
	var trials []*lab.Trial
	for round := 1; round <= 10; round++ {
		drift := 1 + 0.1*float64(round)
		for _, arm := range q.arms {
			tail := 1.0
			if arm.name == "slow" {
				tail = 1.3
			}
			drift *= 1 + 0.002*float64(round%3-1) // what pairing does not take away
			trials = append(trials, &lab.Trial{Slot: lab.Slot{Round: round, Arm: arm.name, Level: "l"},
				Result: &result.Result{Latency: spread(5000, drift, tail)}})
		}
	}
	all := q.allShifts(groupTrials(trials))
	if len(all) != 2 || !all[0].Control || all[1].Variant != "slow" {
		t.Fatalf("%+v", all)
	}
	for _, s := range all {
		if len(s.Points) != len(shiftAt) {
			t.Fatalf("%s: %d points", s.Variant, len(s.Points))
		}
		for _, p := range s.Points {
			want := 1.0
			if s.Variant == "slow" && p.Quantile > 0.5 {
				want = 1.3
			}
			if math.Abs(p.Ratio.Estimate/want-1) > 0.01 || p.Trials != 10 || p.IsShown() != (want > 1) ||
				p.Band.Low > p.Ratio.Low || p.Band.High < p.Ratio.High {
				t.Errorf("%s at %v: %+v, want %v", s.Variant, p.Quantile, p, want)
			}
		}
	}
}

// What a trial has too few requests for is not told, and nothing of what has no histogram.
func TestShiftOfFewRequests(t *testing.T) {
	q := scope{levels: []string{"l"}, arms: []scopeArm{{name: "base"},
		{name: "other", baseline: "base"}}}
	of := func(arm string, round int, d *result.Distribution) *lab.Trial {
		return &lab.Trial{Slot: lab.Slot{Round: round, Arm: arm, Level: "l"}, Result: &result.Result{Latency: d}}
	}
	all := q.allShifts(groupTrials([]*lab.Trial{
		of("base", 1, spread(367, 1, 1)), of("other", 1, spread(368, 1, 1)),
		of("base", 2, spread(400, 1, 1)), of("other", 2, &result.Distribution{Count: 400, P50: 1}),
	}))
	if len(all) != 1 || len(all[0].Points) != len(shiftAt)-1 || all[0].Points[0].Trials != 1 {
		t.Fatalf("%+v", all)
	}
	for _, p := range all[0].Points {
		if p.Quantile == 0.99 || p.IsShown() {
			t.Errorf("%+v", p)
		}
	}
}
