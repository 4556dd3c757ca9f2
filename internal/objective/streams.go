package objective

import (
	"cmp"
	"strings"

	"dyno/internal/engine/goodput"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/result/streamed"
)

// streamQuantities are those of streams of events and of goodput, which have no distribution.
var streamQuantities = map[string]struct {
	kind
	of func(*result.Result) (value float64, ok bool)
}{
	"good": {shares, func(r *result.Result) (float64, bool) {
		if r.Goodput == nil {
			return 0, false
		}
		return 100 * r.Goodput.Share, true
	}},
	"goodput": {rates, func(r *result.Result) (float64, bool) {
		if r.Goodput == nil {
			return 0, false
		}
		return r.Goodput.Rate, true
	}},
	"events": {rates, func(r *result.Result) (float64, bool) {
		if r.Stream == nil {
			return 0, false
		}
		return r.Stream.Rate.Events, true
	}},
	"tokens": {rates, func(r *result.Result) (float64, bool) {
		if r.Stream == nil {
			return 0, false
		}
		return r.Stream.Rate.Tokens, true
	}},
}

// FirstEvent is the time to the first event of a stream, as objectives name it.
const FirstEvent = "first_event"

// parseStreams finds one of streamQuantities.
func parseStreams(name string) (q quantity, is bool) {
	s, is := streamQuantities[name]
	return quantity{name, name, 0, s.kind, plain(s.of)}, is
}

// unmeasured is why nothing was measured of an objective; nil: nobody knows.
func (o Objective) unmeasured(r *result.Result) fact.Args {
	if s := r.Stream; s != nil && o.whose == "token_time" {
		if left := s.Left(); left > 0 {
			return fact.TokensLeft{Streams: left, Of: s.Each.Events.Count}
		}
	}
	return nil
}

// ofStream is a distribution of streams of events; nil where answers are none.
func ofStream(of func(*streamed.Stream) *result.Distribution) func(*result.Result) *result.
	Distribution {
	return func(r *result.Result) *result.Distribution {
		if r.Stream == nil {
			return nil
		}
		return of(r.Stream)
	}
}

// ofRouteStreams is the reading of NAME.first_event or NAME.gap, if a route has that NAME.
func ofRouteStreams(route *result.Route, name, statistic string) (got reading, is bool) {
	base, of, _ := strings.Cut(strings.TrimPrefix(name, route.Name), ".")
	times := map[string]*streamed.Times{FirstEvent: route.First, "gap": route.Gap}
	t, known := times[cmp.Or(goodput.Aliases[of], of)]
	if base != "" || !known || !strings.HasPrefix(name, route.Name) {
		return reading{}, false
	}
	if t == nil {
		return reading{}, true
	}
	got = reading{over: route.Over != nil, known: t.Count}
	got.value, got.ok = map[string]float64{"p50": t.P50, "p99": t.P99, "max": t.Max}[statistic]
	got.percent = map[string]float64{"p50": 50, "p99": 99}[statistic]
	return got, true
}
