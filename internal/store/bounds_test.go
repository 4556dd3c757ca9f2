package store

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/result/durations"
)

// answered is a run of 5,000 answers of ms, and so many requests that had none.
func answered(minute int, ms float64, unanswered int64) *result.Result {
	h := metric.NewHistogram(metric.Fine)
	h.RecordMany(int64(ms*float64(time.Millisecond)), 5000)
	r := measured(minute, 1000)
	r.Latency = durations.New(h).WithUnanswered(durations.Bound{US: 2e6, Count: unanswered})
	return r
}

// Lists, series and changes say which values are only known to be higher, and a change is one only
// in the direction in which that holds.
func TestBoundsInHistory(t *testing.T) {
	for name, c := range map[string]struct {
		unanswered [2]int64 // before and after
		ms         [2]float64
		changes    int
		bound      lab.Bound
	}{
		"all answered":           {[2]int64{0, 0}, [2]float64{10, 40}, 1, ""},
		"answers fail to appear": {[2]int64{0, 100}, [2]float64{10, 10}, 1, lab.AtLeast},
		"and appear again":       {[2]int64{100, 0}, [2]float64{10, 10}, 1, lab.AtMost},
		"it may be no better":    {[2]int64{0, 100}, [2]float64{9000, 10}, 0, ""},
		"nothing is known":       {[2]int64{100, 100}, [2]float64{10, 9000}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			home, random := t.TempDir(), rand.New(rand.NewPCG(3, 4))
			for i := range 20 {
				save(t, home, answered(i, noisy(random, c.ms[i/10], 0.002), c.unanswered[i/10]))
			}
			m, _ := lab.MeasureNamed("p99")
			s := opened(t, home)
			h, err := s.History(Query{Metric: m})
			if err = joined(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			for i, want := range []int64{c.unanswered[1], c.unanswered[0]} {
				e, r := h.Entries[19*i], h.Series[0].Runs[19-19*i]
				if slices.Contains(e.Over, "p99") != (want > 0) || r.Over != (want > 0) || slices.Contains(e.Over, "p50") {
					t.Errorf("%d had no answer: %q, %+v", want, e.Over, r)
				}
			}
			changes := h.Series[0].Changes
			if len(changes) != c.changes || len(changes) > 0 && changes[0].Bound != c.bound {
				t.Errorf("%+v", changes)
			}
		})
	}
}
