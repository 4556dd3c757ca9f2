package lab

import (
	"cmp"
	"math"
	"slices"

	"dyno/internal/result"
	"dyno/internal/result/streamed"
)

// A RouteMeasure is a number of one route of a result, of its streams or its goodput. Where
// Measures has the number of the whole result, the two have one name.
type RouteMeasure struct {
	Name, Unit string
	of         func(*result.Route) (value float64, ok bool)
	percent    float64 // of a percentile: of all requests; 0: it is none, or is known
}

// RouteMeasures are all of them, in the order in which they are shown.
var RouteMeasures = routeMeasures()

func routeMeasures() (all []RouteMeasure) {
	for _, t := range result.StreamTimes {
		of50, of99 := 50.0, 99.0
		if t.Name == result.TokenTime { // of a stream that did not end nothing is known, as in ofStreams
			of50, of99 = 0, 0
		}
		all = append(all,
			routeTime(t.Name+"_p50", of50, t, func(t *streamed.Times) float64 { return t.P50 }),
			routeTime(t.Name+"_p99", of99, t, func(t *streamed.Times) float64 { return t.P99 }))
	}
	for _, n := range result.StreamNumbers {
		all = append(all, RouteMeasure{Name: n.Name, Unit: n.Unit, of: n.OfRoute})
	}
	return append(all,
		RouteMeasure{Name: "cut", Unit: "streams", of: func(r *result.Route) (float64, bool) {
			return float64(r.Cut), r.First != nil
		}},
		RouteMeasure{Name: "stalled", Unit: "streams", of: func(r *result.Route) (float64, bool) {
			return float64(r.Stalled), r.First != nil
		}})
}

func routeTime(name string, percent float64, of result.StreamTime,
	value func(*streamed.Times) float64) RouteMeasure {
	tail, isTail := tails[name]
	return RouteMeasure{name, "µs", func(r *result.Route) (float64, bool) {
		t := of.OfRoute(r)
		if t == nil || isTail && t.Count < tail.Least() {
			return 0, false
		}
		return value(t), true
	}, percent}
}

// Value is the measure's value of the route of that name; ok is false where there is none.
func (m RouteMeasure) Value(r *result.Result, route string) (value float64, ok bool) {
	if x := routeNamed(r, route); x != nil {
		value, ok = m.of(x)
	}
	return value, ok && !math.IsInf(value, 0) && !math.IsNaN(value)
}

// IsOver reports whether that value is only known to be higher: requests had no answer.
func (m RouteMeasure) IsOver(r *result.Result, route string) bool {
	value, ok := m.Value(r, route)
	return ok && m.percent > 0 && routeNamed(r, route).IsOver(m.percent, value)
}

func routeNamed(r *result.Result, name string) *result.Route {
	if i := slices.IndexFunc(r.Routes, func(x result.Route) bool { return x.Name == name }); i >= 0 {
		return &r.Routes[i]
	}
	return nil
}

// RouteValues are the values of RouteMeasures by route; nil of a result that has none.
func RouteValues(r *result.Result) (all map[string]map[string]float64) {
	for _, x := range cmp.Or(r, new(result.Result)).Routes {
		for _, m := range RouteMeasures {
			v, ok := m.Value(r, x.Name)
			if !ok {
				continue
			}
			if all == nil {
				all = map[string]map[string]float64{}
			}
			if all[x.Name] == nil {
				all[x.Name] = map[string]float64{}
			}
			all[x.Name][m.Name] = v
		}
	}
	return all
}
