package payload

import (
	"testing"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/result/streamed"
)

// Numbers have the texts that reports have, their paths and their values: requests without an answer
// make a percentile a lower bound, and too few make none of it. Tiles of streams tell of events.
func TestNumbers(t *testing.T) {
	h := metric.NewHistogram(metric.Fine)
	h.RecordMany(int64(10*time.Millisecond), 980)
	d := durations.New(h)
	r := &result.Result{Latency: d.WithUnanswered(durations.Bound{US: 2e6, Count: 20}), Service: d}
	r.Stream = &streamed.Stream{First: d, Gap: d, Events: 1, Rate: streamed.Rate{Events: 1234.5}}
	r.Requests.Completed, r.Rate.Completed, r.Rate.Sent = 980, 98, 100
	got := map[string]Cell{}
	for _, tile := range TilesOf(r) {
		got[tile.Name] = tile.Cell
	}
	for name, want := range map[string]Cell{
		"answered":        {Text: "98.0/s", Key: "rate.completed", Value: new(98.0)},
		"sent":            {Text: "100/s", Key: "rate.sent", Value: new(100.0)},
		"p50":             {Text: "10.0 ms", Key: "latency.p50_us", Value: &r.Latency.P50},
		"p99":             {Text: "over 2.00 s", Key: "latency.p99_us", Value: new(2e6)},
		"p99.9":           {Text: "over 2.00 s", Key: "latency.p99_9_us", Value: new(2e6)},
		"first event p99": {Text: "10.0 ms", Key: "stream.first_event.p99_us", Value: &d.P99},
		"events":          {Text: "1,234/s", Key: "stream.rate.events", Value: new(1234.5)},
		"errors":          {Text: "0", Key: "requests.errors", Value: new(0.0)},
	} {
		if c := got[name]; c.Text != want.Text || c.Key != want.Key || c.Value == nil || *c.Value != *want.Value {
			t.Errorf("%s: %+v, want %+v", name, c, want)
		}
	}
	p := OfRun(r)
	for i, want := range []string{"p99.9", "p99.99"} {
		row := p.Durations.Rows[8+i]
		if row[0].Text != want || row[1].Text != []string{"over 2.00 s", "–"}[i] || row[2].Text != "–" {
			t.Errorf("%+v", row)
		}
	}
	if n := len(p.Phases.Rows); n != 4 || len(p.Phases.Rows[0]) != 5 || p.Phases.Head[2] != "p50 µs" {
		t.Errorf("%+v", p.Phases)
	}
}
