package runfacts

import (
	"testing"
	"time"

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

// Each caution of streams is told from where its share is reached, and not below.
func TestCautionsOfStreams(t *testing.T) {
	for name, c := range map[string]struct {
		counted, arrivals int64
		gaps, bunched     int64
		median, warmed    int64 // ns
		untold            int64
		want              fact.Kind
	}{
		"nothing":                    {100, 100, 90, 0, 1e9, 2e9, 0, ""},
		"a proxy gathers":            {100, 49, 90, 0, 1e9, 2e9, 0, fact.EventsGathered{}.Kind()},
		"half come together":         {100, 50, 90, 0, 1e9, 2e9, 0, ""},
		"too few events":             {19, 5, 9, 9, 1e9, 2e9, 0, ""},
		"gaps at 40 ms":              {100, 79, 80, 40, 1e9, 2e9, 0, fact.GapsBunched{}.Kind()},
		"fewer gaps at 40 ms":        {100, 79, 80, 39, 1e9, 2e9, 0, ""},
		"gaps at 40 ms by their law": {100, 81, 80, 80, 1e9, 2e9, 0, ""},
		"a short warm-up":            {100, 100, 90, 0, 3e9, 2e9, 0, fact.WarmupShort{}.Kind()},
		"tokens unknown":             {100, 100, 90, 0, 1e9, 2e9, 1, fact.TokensUntold{}.Kind()},
	} {
		r := &loadresult.Result{Total: metric.NewCounters(), Totals: loadresult.NewTotals()}
		r.Plan.Stream.Spec, r.Warmed = stream.Spec{Format: stream.OpenAI}, time.Duration(c.warmed)
		r.Total.CountStreams()
		s := r.Total.Stream
		s.Counted, s.Arrivals, s.Bunched, s.Untold = c.counted, c.arrivals, c.bunched, c.untold
		for range c.gaps {
			s.Gap.Record(1e6)
		}
		for range 10 {
			r.Total.Latency.Record(c.median)
			s.Events.Record(10)
		}
		var got fact.Kind
		for _, f := range Streams(r) {
			got += f.Args.Kind()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
