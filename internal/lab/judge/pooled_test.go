package judge

import (
	"math/rand/v2"
	"testing"

	"dyno/internal/engine/metric"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/stats"
)

// locked is a trial at a low rate: a few requests, of which a share takes 40 ms and not 1. Some may
// have had no answer.
func locked(random *rand.Rand, arm string, round, requests int, share float64, unanswered int64) *lab.Trial {
	h := metric.NewHistogram(metric.Fine)
	for range requests {
		us := 900 + 200*random.Float64()
		if random.Float64() < share {
			us += 40_000
		}
		h.Record(int64(1e3 * us))
	}
	d := durations.New(h).WithUnanswered(durations.Bound{US: 2e6, Count: unanswered})
	return &lab.Trial{Attempt: 1, Slot: lab.Slot{Arm: arm, Level: "r50", Round: round}, Grade: lab.GradeA,
		Result: &result.Result{Latency: d}}
}

// lockedScope compares new with old by p99; trials have so many requests in each of ten rounds.
func lockedScope(seed uint64, requests int, share float64, unanswered int64) (*lab.Record, []*lab.Trial) {
	e := &experiment.Experiment{Levels: []experiment.Level{{Name: "r50", Rate: 50}}}
	e.Design.Rounds, e.Design.Margin, e.Design.Metrics = 10, 0.02, []experiment.Metric{"p50", "p99"}
	e.Gate = &experiment.Gate{Metrics: []experiment.Metric{"p99"}, Margin: 0.05, Baseline: "old"}
	r := &lab.Record{Definition: lab.Definition{Experiment: e}}
	r.Arms = []lab.Arm{{Name: "old"}, {Name: "new", Baseline: "old"}, {Name: "old (A/A)", Baseline: "old", Control: true}}
	random := rand.New(rand.NewPCG(seed, 7))
	var trials []*lab.Trial
	for round := range e.Design.Rounds {
		for _, arm := range r.Arms {
			s, n := 0.0, int64(0)
			if arm.Name == "new" {
				s, n = share, unanswered
			}
			trials = append(trials, locked(random, arm.Name, round+1, requests, s, n))
		}
	}
	return r, trials
}

// tailOf is the comparison of p99 of an arm.
func tailOf(t *testing.T, r *lab.Record, arm string) lab.Comparison {
	t.Helper()
	for _, c := range r.Verdicts {
		if c.Metric == "p99" && c.Variant == arm {
			return c
		}
	}
	t.Fatalf("no p99 of %s: %+v", arm, r.Verdicts)
	return lab.Comparison{}
}

// A p99 that no trial has is that of all trials together; a lock in 3 % of the requests is found,
// the gate fails, and its second batch is judged alike. No answer at all is longer than any.
func TestPooledPercentile(t *testing.T) {
	for name, c := range map[string]struct {
		share      float64
		unanswered int64
		least      float64
		bound      lab.Bound
	}{"a lock": {0.03, 0, 30, ""}, "no answer": {0, 3, 1000, lab.AtLeast}} {
		r, trials := lockedScope(1, 100, c.share, c.unanswered)
		Compute(r, trials)
		got := tailOf(t, r, "new")
		if got.Verdict != stats.Different || got.Pooled != 1000 || got.Trials != 10 || got.Ratio < c.least ||
			!(got.Low > 1) || !got.HasInterval() || got.Missing != 0 || got.Bound != c.bound {
			t.Errorf("%s: %+v", name, got)
		}
		if self := tailOf(t, r, "old (A/A)"); self.Verdict == stats.Different || self.Pooled != 1000 {
			t.Errorf("%s: A/A: %+v", name, self)
		}
		cells := 0
		for _, cell := range r.Cells {
			if cell.Metric == "p99" {
				cells++
				if cell.Pooled < 1000 || cell.Trials != 10 || cell.Arm == "old" && cell.Median.Estimate > 1200 ||
					cell.Over != (cell.Arm == "new" && c.bound != "") {
					t.Errorf("%s: %+v", name, cell)
				}
			}
		}
		if cells != 3 || len(PairLogs(got, trials)) > 0 {
			t.Errorf("%s: %d cells, pairs %v", name, cells, PairLogs(got, trials))
		}
		variants := []experiment.Variant{{Name: "old"}, {Name: "new"}}
		g := NewGate(r, variants)
		if g.JudgeFirst(trials); g.Outcome.Verdict != lab.Regression {
			t.Fatalf("%s: %+v", name, g.Outcome)
		}
		_, again := lockedScope(2, 100, c.share, c.unanswered)
		for _, second := range again {
			second.Round += lab.ConfirmingRound
		}
		if g.JudgeSecond(append(trials, again...)); g.Outcome.Verdict != lab.Regression || !g.Outcome.Confirmed {
			t.Errorf("%s: second batch: %+v", name, g.Outcome)
		}
	}
}

// If all trials together have too few requests, nothing is said; if each has enough, each has its
// own percentile.
func TestPooledOnlyWhereNeeded(t *testing.T) {
	r, trials := lockedScope(1, 30, 0.03, 0) // 300 in all
	Compute(r, trials)
	for _, c := range r.Verdicts {
		if c.Metric == "p99" {
			t.Errorf("a p99 of 300 requests: %+v", c)
		}
	}
	r, trials = lockedScope(1, 400, 0.03, 0)
	Compute(r, trials)
	if c := tailOf(t, r, "new"); c.Pooled != 0 || c.Verdict != stats.Different || len(PairLogs(c, trials)) != 10 {
		t.Errorf("trials with enough: %+v", c)
	} else if c.Pooled = 1; len(PairLogs(c, trials)) > 0 {
		t.Error("a percentile of all trials together has pairs")
	}
	trials[0].Result.Latency = locked(rand.New(rand.NewPCG(1, 1)), "old", 1, 200, 0, 0).Result.Latency
	Compute(r, trials)
	if c := tailOf(t, r, "new"); c.Pooled != 9*400+200 || c.Trials != 10 || c.Missing > 0 {
		t.Errorf("one trial has too few: %+v", c)
	}
	for _, rank := range r.Ranks {
		if rank.Metric == "p99" {
			t.Errorf("ranks by medians: %+v", rank)
		}
	}
}
