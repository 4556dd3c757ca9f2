package judge

import (
	"testing"

	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// shopping are runs of a scenario whose iterations come at those rates, and of whose checks so many
// in 1,000 fail.
func shopping(minute int, failed int64, rates ...float64) []*result.Result {
	all := runs(minute, rates...)
	for _, r := range all {
		r.Plan.Steps, r.Plan.Checks = []string{"list", "buy"}, []string{"price"}
		r.Iterations = &result.Iterations{Started: 1000, Completed: 1000,
			Rate: result.IterationRate{Completed: r.Rate.Completed / 2},
			Time: &result.Distribution{Count: 1000, P50: 4e6 / r.Rate.Completed, P99: 8e6 / r.Rate.Completed}}
		r.Checks = []result.CheckCount{{Name: "price", Passed: 1000 - failed, Failed: failed}}
	}
	return all
}

// Iterations and checks of users are compared without being asked for, and judged as other measures
// are. Without a scenario there are none.
func TestCompareUsers(t *testing.T) {
	worse := []Group{GroupResults("a", shopping(0, 0, noisy(6, 1000)...)),
		GroupResults("b", shopping(1, 100, noisy(6, 900)...))}
	u, err := CompareGroups(worse, nil, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]lab.Comparison{}
	for _, v := range u.Verdicts {
		got[v.Metric] = v
	}
	for _, metric := range []string{"iterations", "iteration_p50", "iteration_p99", "checks"} {
		if v, is := got[metric]; !is || !v.IsWorse() {
			t.Errorf("%s: %+v", metric, v)
		}
	}
	if u.DecideGate(); u.Gate.Verdict != lab.Regression {
		t.Errorf("gate: %+v", u.Gate)
	}
	u, err = CompareGroups([]Group{GroupResults("a", shopping(0, 0, noisy(6, 1000)...)),
		GroupResults("b", shopping(1, 0, noisy(6, 1000)...))}, nil, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range u.Verdicts {
		if v.Metric == "checks" && v.Verdict != stats.Equivalent {
			t.Errorf("all checks passed, always: %+v", v)
		}
	}
	u, err = CompareGroups([]Group{GroupResults("a", runs(0, noisy(6, 1000)...)),
		GroupResults("b", runs(1, noisy(6, 1000)...))}, nil, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range u.Verdicts {
		if v.Metric == "checks" || v.Metric == "iterations" || v.Metric == "iteration_p99" {
			t.Errorf("without a scenario %s is compared", v.Metric)
		}
	}
}

// A percentile of iterations needs as many of them as one of requests does of those.
func TestMeasuresOfUsers(t *testing.T) {
	trial := &lab.Trial{Result: shopping(0, 250, 1000)[0]}
	for _, c := range []struct {
		name  string
		count int64
		value float64 // 0: none
	}{{"iterations", 1, 500}, {"iteration_p50", 1, 4000}, {"iteration_p99", 367, 0},
		{"iteration_p99", 368, 8000}, {"checks", 1, 75}} {
		trial.Result.Iterations.Time.Count = c.count
		m, _ := lab.MeasureNamed(c.name)
		if v, ok := m.Value(trial); ok != (c.value > 0) || ok && v != c.value {
			t.Errorf("%s of %d: %v, %v", c.name, c.count, v, ok)
		}
	}
}
