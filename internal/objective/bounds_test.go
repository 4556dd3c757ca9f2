package objective

import (
	"testing"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/result/durations"
)

// Where requests were given up before others were answered, a percentile is between two values: an
// objective is judged by both.
func TestGivenUpBeforeAnswers(t *testing.T) {
	h := metric.NewHistogram(metric.Fine)
	h.RecordMany(int64(5*time.Second), 50)
	d := durations.New(h).WithUnanswered(durations.Bound{US: 100e3, Count: 50})
	r := &result.Result{Latency: d, Routes: []result.Route{{Name: "a", Completed: 50, P50: d.P50, Max: d.Max, Over: d.Over}}}
	for expr, want := range map[string]string{
		"p50<1s": result.NoAnswers, "p50<50ms": "missed", "p50<10s": "met", "p50>1s": result.NoAnswers,
		"p50>50ms": "met", "p50>10s": "missed", "p60<1s": "missed", "p60<10s": result.NoAnswers,
		"route.a.p50<1s": result.NoAnswers, "route.a.p50<50ms": "missed",
	} {
		o, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		got := o.Judge(r)
		state := map[bool]string{true: "met", false: "missed"}[got.Met]
		if got.IsUndecided() {
			state = got.Undecided
		}
		if state != want || !got.Over {
			t.Errorf("%s: %s, %+v; want %s", expr, state, got, want)
		}
	}
}
