package judge

import (
	"testing"

	"dyno/internal/lab"
	"dyno/internal/result"
)

// That the generator was at its limit is said of throughput and latency alone, and not of a
// generator that was held up.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		Name, Metric string
		Doubts       []result.Doubt
		Limit        bool
		Disturbed    int
		Other        int
	}{
		{"sound", "throughput", nil, false, 0, 0},
		{"limit", "throughput", []result.Doubt{{Kind: result.Limit, Verdict: result.ClientBound}}, true, 0, 0},
		{"limit", "p99", []result.Doubt{{Kind: result.Limit, Verdict: result.ClientBound}}, true, 0, 0},
		{"limit", "memory", []result.Doubt{{Kind: result.Limit, Verdict: result.ClientBound}}, false, 0, 0},
		{"limit", "cpu", []result.Doubt{{Kind: result.Limit, Verdict: result.ClientBound}}, false, 0, 0},
		{"near it", "throughput", []result.Doubt{{Kind: result.Limit, Verdict: result.Suspect}}, false, 0, 0},
		{"held up", "throughput", []result.Doubt{{Kind: result.HeldUp, Verdict: result.ClientBound}}, false, 1, 0},
		{"held up", "memory", []result.Doubt{{Kind: result.HeldUp, Verdict: result.ClientBound}}, false, 0, 0},
		{"held up a little", "p99", []result.Doubt{{Kind: result.HeldUp, Verdict: result.Suspect}}, false, 0, 0},
		{"both", "throughput", []result.Doubt{{Kind: result.HeldUp, Verdict: result.ClientBound},
			{Kind: result.Limit, Verdict: result.ClientBound}}, true, 0, 0},
		{"another load", "p99", []result.Doubt{{Kind: result.OtherLoad, Verdict: result.ClientBound}}, false, 0, 1},
		{"another load", "cpu", []result.Doubt{{Kind: result.OtherLoad, Verdict: result.ClientBound}}, false, 0, 0},
	} {
		var trials []*lab.Trial
		for round := 1; round <= 3; round++ {
			for _, arm := range []string{"go", "nginx"} {
				trials = append(trials, &lab.Trial{Slot: lab.Slot{Round: round, Arm: arm, Level: "c16"},
					Result: &result.Result{
						Requests:  result.Requests{Sent: 1000, Completed: 1000},
						Rate:      result.Rate{Sent: 1000, Completed: 1000},
						Latency:   &result.Distribution{Count: 1000, P50: 100, P99: 300, P999: 900},
						Generator: result.Generator{Verdict: result.OK},
						Observed: result.Observed{Server: &result.Server{
							Processes: []result.Usage{{CPU: 9, Memory: 1 << 20}}}},
					}})
			}
		}
		g := &trials[3].Result.Generator
		for _, d := range c.Doubts {
			g.Doubts, g.Reasons = append(g.Doubts, d), append(g.Reasons, "why")
			if d.Verdict == result.ClientBound || g.Verdict == result.OK {
				g.Verdict = d.Verdict
			}
		}
		m, _ := lab.MeasureNamed(c.Metric)
		p := pairArms(groupTrials(trials), m, "c16", "go", "nginx")
		if len(p.logs) != 3 || p.ClientBound != c.Limit || p.Disturbed != c.Disturbed ||
			p.OtherLoad != c.Other {
			t.Errorf("%s, %s of %d pairs: at its limit %v, %d disturbed", c.Name, c.Metric, len(p.logs),
				p.ClientBound, p.Disturbed)
		}
		var u lab.Comparison
		sampleValues(&u, Sample{Trials: trials}, m)
		if u.ClientBound != c.Limit || u.Disturbed != c.Disturbed || u.OtherLoad != c.Other {
			t.Errorf("%s, %s of runs: at its limit %v, %d disturbed", c.Name, c.Metric, u.ClientBound,
				u.Disturbed)
		}
	}
}
