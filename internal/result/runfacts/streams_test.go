package runfacts

import (
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/stream"
	"dyno/internal/fact"
)

// Streams that users left before their number of tokens came have no token time, which is told where
// good requests need one.
func TestTokensLeft(t *testing.T) {
	for _, c := range []struct {
		limits       string
		told, untold int64 // of ten streams; the others were left, and told nothing
		want         int64
	}{
		{"token_time<60ms", 2, 1, 7}, {"latency<5s,tpot<60ms", 0, 0, 10}, {"token_time<60ms", 9, 1, 0},
		{"latency<5s", 2, 1, 0}, {"", 2, 1, 0},
	} {
		r := &loadresult.Result{Total: metric.NewCounters(), Totals: loadresult.NewTotals()}
		r.Plan.Stream.Spec, r.Plan.Goodput, r.Plan.Requested = stream.Spec{Format: stream.OpenAI}, c.limits, 10
		r.Total.CountStreams()
		s := r.Total.Stream
		s.Untold, s.Taken = c.untold, 10-c.untold
		for n := range int64(10) {
			if s.Events.Record(5); n < c.told {
				s.Tokens.Record(5)
			}
		}
		got := int64(0)
		for _, f := range Streams(r) {
			if left, is := f.Args.(fact.TokensLeft); is && left.Of == 10 {
				got = left.Streams
			}
		}
		if got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
