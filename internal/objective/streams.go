package objective

import (
	"cmp"
	"slices"
	"strings"

	"dyno/internal/engine/goodput"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/result/streamed"
)

// streamTime is the time of that name; nil: there is none.
func streamTime(name string) *result.StreamTime {
	i := slices.IndexFunc(result.StreamTimes, func(t result.StreamTime) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &result.StreamTimes[i]
}

// streamNumber is the rate or share of that name; nil: there is none.
func streamNumber(name string) *result.StreamNumber {
	i := slices.IndexFunc(result.StreamNumbers, func(n result.StreamNumber) bool {
		return n.Name == name
	})
	if i < 0 {
		return nil
	}
	return &result.StreamNumbers[i]
}

// ofTokens reports whether the objective is about tokens, of all streams or of those of a route.
func (o Objective) ofTokens() bool {
	if o.number != nil {
		return o.number.Name == result.Tokens
	}
	of, _ := o.routeTime()
	return o.whose == result.TokenTime || of == result.TokenTime
}

// routeTime is which time of the streams of a route an objective is about by its name, and which
// statistic of it.
func (o Objective) routeTime() (of, statistic string) {
	parts := strings.Split(o.name, ".")
	if n := len(parts); o.whose == "route" && o.number == nil && n > 2 {
		of, statistic = cmp.Or(goodput.Aliases[parts[n-2]], parts[n-2]), parts[n-1]
	}
	if streamTime(of) == nil {
		return "", ""
	}
	return of, statistic
}

// numberKind is the kind of a rate or share.
func numberKind(n *result.StreamNumber) kind {
	if n.Unit == "%" {
		return shares
	}
	return rates
}

// unmeasured is why nothing was measured of an objective; nil: nobody knows.
func (o Objective) unmeasured(r *result.Result) fact.Args {
	if s := r.Stream; s != nil && o.whose == result.TokenTime {
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

// ofRouteStreams is the reading of NAME.first_event and the like, if a route has that NAME.
func ofRouteStreams(route *result.Route, name, statistic string) (got reading, is bool) {
	of, is := strings.CutPrefix(strings.TrimPrefix(name, route.Name), ".")
	known := streamTime(cmp.Or(goodput.Aliases[of], of))
	if !is || known == nil || !strings.HasPrefix(name, route.Name) {
		return reading{}, false
	}
	t := known.OfRoute(route)
	if t == nil {
		return reading{}, true
	}
	got = reading{over: route.Over != nil, known: t.Count}
	if known.Name == result.TokenTime { // nothing is known of one that did not end
		got.over = route.Cut+route.Stalled > 0
	}
	got.value, got.ok = map[string]float64{"p50": t.P50, "p99": t.P99, "max": t.Max}[statistic]
	got.percent = map[string]float64{"p50": 50, "p99": 99}[statistic]
	return got, true
}

// ofRouteNumber is the value of a rate or share of a route.
func ofRouteNumber(route string, n *result.StreamNumber) func(*result.Result) reading {
	return plain(func(r *result.Result) (float64, bool) {
		for i := range r.Routes {
			if r.Routes[i].Name == route {
				return n.OfRoute(&r.Routes[i])
			}
		}
		return 0, false
	})
}
