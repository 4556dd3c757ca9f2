package result

import (
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result/durations"
)

// A server that starves some of its users never has the percentiles of the others alone: a held slot
// counts as many requests as the others had answers on average.
func TestHeldSlotsInPercentiles(t *testing.T) {
	for _, c := range []struct {
		slots, held, answers int64
		over                 int64
		highest              float64 // percentile that is still of answers
		lowest               float64 // and one that is over
	}{
		{8, 0, 1000, 0, 99.9, 0},
		{8, 1, 700, 100, 87, 88},
		{8, 3, 1000, 600, 62, 63},
		{16, 12, 400, 1200, 25, 26},
		{4, 4, 0, 0, 0, 0}, // nothing was answered: there is no latency
		{4, 3, 1, 3, 25, 26},
	} {
		h := metric.NewHistogram(metric.Fine)
		h.RecordMany(2e6, c.answers)
		r := &Result{Model: ClosedLoop, Ended: string(loadresult.ByDuration), Window: Window{MeasuredS: 2, DrainedS: 1},
			Requests: Requests{Sent: c.answers, Completed: c.answers, Held: c.held}}
		r.Plan.Connections, r.Plan.Pipeline = int(c.slots), 1
		if c.answers > 0 {
			r.Latency = durations.New(h)
		}
		r.countUnanswered([]*Result{r})
		if c.over == 0 {
			if r.Latency != nil && r.Latency.Over != nil {
				t.Errorf("%+v: %+v", c, r.Latency.Over)
			}
			continue
		}
		if r.Latency.Over == nil || r.Latency.Over.Count != c.over || r.Latency.Over.US != 2e6 ||
			r.Latency.IsOver(c.highest) || !r.Latency.IsOver(c.lowest) || !r.Latency.IsOver(99) {
			t.Errorf("%+v: %+v", c, r.Latency.Over)
		}
	}
}
