package store

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dyno/internal/fact"
	"dyno/internal/lab"
)

// runsOf are runs of these values, a minute apart.
func runsOf(values ...float64) (all []Run) {
	for i, v := range values {
		all = append(all, Run{ID: fmt.Sprint("r", i), Started: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC), Value: v})
	}
	return all
}

// near are so many values near one.
func near(random *rand.Rand, v float64, n int) (all []float64) {
	for range n {
		all = append(all, v*(1+0.01*random.Float64()))
	}
	return all
}

// Five runs at one level and five at another are no change point, but spoken of, with how many more
// would be one: so many more are one.
func TestUnproven(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	high, low := near(random, 1980, 5), near(random, 1650, 5)
	m, _ := lab.MeasureNamed("throughput")
	s := Series{Metric: m, Runs: runsOf(append(high, low...)...)}
	if len(s.findChanges()) > 0 {
		t.Fatal("ten runs have a change point: nothing is tested")
	}
	f := s.Unproven()
	if f == nil {
		t.Fatal("nothing is said")
	}
	a := f.Args.(fact.UnprovenChange)
	if a.Before != 5 || a.After != 5 || a.Ratio > 0.85 || a.Ratio < 0.82 || a.High >= 1 || a.More < 1 || a.Unit != "req/s" {
		t.Errorf("%+v", a)
	}
	s.Runs = runsOf(append(append(high, low...), low[:a.More]...)...)
	if s.Unproven() != nil || len(s.findChanges()) != 1 {
		t.Errorf("with %d more: %d changes", a.More, len(s.findChanges()))
	}
	for name, values := range map[string][]float64{"one level": near(random, 1980, 12), "four and four": append(high[:4:4], low[:4]...),
		"too little": append(near(random, 1980, 5), near(random, 1995, 5)...)} {
		if s.Runs = runsOf(values...); s.Unproven() != nil {
			t.Errorf("%s: %+v", name, s.Unproven())
		}
	}
	s.Runs = runsOf(append(high, low...)...)
	if s.Runs[9].Over = true; s.Unproven() != nil {
		t.Error("of a value that is only known to be higher")
	}
}

// Of series that never change few are spoken of at a look, however many runs they have.
func TestUnprovenIsRare(t *testing.T) {
	m, _ := lab.MeasureNamed("throughput")
	for _, n := range []int{12, 20, unprovenLongest} {
		said := 0
		for i := range 400 {
			random := rand.New(rand.NewPCG(3, uint64(i)))
			values := make([]float64, n)
			for k := range values {
				values[k] = 1000 * (1 + 0.03*random.NormFloat64())
			}
			s := Series{Metric: m, Runs: runsOf(values...)}
			if s.Unproven() != nil {
				said++
			}
		}
		if said > 14 {
			t.Errorf("%d runs: spoken of in %d of 400 series that do not change", n, said)
		}
		t.Logf("%d runs: %d of 400", n, said)
	}
}

// A URL without a path asks for /, and is of its series.
func TestPlanOfPaths(t *testing.T) {
	for _, c := range []struct {
		one, other string
		same       bool
	}{{"http://h:1", "http://h:1/", true}, {"http://h:1?a=b", "http://h:1/?a=b", true}, {"http://h:1", "http://h:2", false},
		{"http://h:1/x", "http://h:1/x/", false}, {"http://[::1]:1", "http://[::1]:1/", true}, {"unix:/a", "unix:/a/", false},
		{"http://h", "http://h/", true}, {"http://p?p#p", "http://p/?p#p", true}, {"http://app:pw@app", "http://app:pw@app/", true},
		{"http://unix", "http://unix/", true}, {"http://[::1]", "http://[::1]/", true}, {"http://h#/x", "http://h/#/x", true}} {
		one, other := measured(1, 1).Plan, measured(1, 1).Plan
		one.Target.URL, other.Target.URL = c.one, c.other
		if same := PlanOf(one) == PlanOf(other); same != c.same {
			t.Errorf("%s and %s: %v", c.one, c.other, same)
		}
	}
}
