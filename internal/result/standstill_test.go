package result

import (
	"math"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

// What a standstill moves decides the verdict: the maximum, p99.9, p99 or the rate.
func TestStandstillsAreJudged(t *testing.T) {
	const us = 1e3
	for name, c := range map[string]struct {
		longest, total float64 // ms, of a window of 10 s
		delayed        int64   // of 100,000
		p99            float64 // ms
		want           string
	}{
		"none":                    {0, 0, 0, 2, OK},
		"short":                   {49, 49, 10, 2, OK},
		"in the maximum":          {51, 51, 10, 2, Suspect},
		"nothing was due":         {1000, 400, 0, 2, Suspect},
		"short, in p99.9":         {21, 21, 100, 2, Suspect},
		"too short for p99.9":     {19, 19, 100, 2, OK},
		"hidden in a slow server": {300, 300, 900, 3100, OK},
		"a tenth of p99":          {320, 320, 5000, 3100, Suspect},
		"in p99":                  {1000, 400, 1000, 800, ClientBound},
		"in p99, not most of it":  {1000, 400, 1000, 2100, Suspect},
		"many":                    {15, 501, 10, 2, Suspect},
		"a quarter of the time":   {15, 2501, 10, 2, ClientBound},
	} {
		t.Run(name, func(t *testing.T) {
			r := sound()
			r.Latency.P99 = c.p99 * us
			r.Generator.Standstill = Standstill{c.total / us, c.longest * us, set(2.5), c.delayed}
			r.judgeGenerator()
			g := r.Generator
			if g.Verdict != c.want || (c.want != OK) != (len(g.Doubts) == 1) {
				t.Fatalf("%s: %q", g.Verdict, g.Reasons)
			}
			if c.want == OK {
				return
			}
			_, got, is := fact.Find[fact.StoodStill](r.Facts)
			if !is || got.LongestUS != c.longest*us || got.SinceS != 2.5 || math.Abs(got.TotalUS-c.total*us) > 1 ||
				got.Delayed != 100*float64(c.delayed)/100_000 || g.Doubts[0].Kind != HeldUp {
				t.Errorf("%+v, %+v", got, g.Doubts)
			}
		})
	}
}

// A part that stood still is named, and a short window hides nothing.
func TestStandstillOfAPart(t *testing.T) {
	parts := []*Result{sound(), sound(), sound()}
	one, all := loadresult.StandstillTotals{StoodStill: 1.5e9, StoodStillMost: 1e9, StoodStillSince: 3e9, Delayed: 400_000},
		loadresult.StandstillTotals{}
	parts[1].Generator.Standstill = newStandstill(one, 100_000)
	m := sound()
	m.Window.MeasuredS = 0.5
	all.AddWorst(loadresult.StandstillTotals{StoodStill: 1e9, StoodStillMost: 5e8, StoodStillSince: 1e9})
	all.AddWorst(one)
	m.Generator.Standstill = newStandstill(all, 100_000)
	if g := m.Generator; g.StoodStillS != 1.5 || g.StoodStillMax != 1e6 || *g.StoodStillFromS != 3 || g.Delayed != 100_000 {
		t.Errorf("%+v", g.Standstill)
	}
	m.judgeGenerators(parts)
	const want = "generator 2 (of 3) stood still several times, for 1.5 s in all, because it was stopped or had no CPU; the longest stop took 1 s " +
		"and began 3 s into the window; the delay is in the latency of up to 100 % of the requests; measure again"
	if m.Generator.Verdict != ClientBound || m.Generator.Reasons[0] != want {
		t.Errorf("%s: %q", m.Generator.Verdict, m.Generator.Reasons)
	}
}
