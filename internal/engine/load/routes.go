package load

import "dyno/internal/engine/metric"

// RoutesMax is how many routes are counted apart; all others count as one.
const RoutesMax = 1000

// OtherRoutes is the name of the route that all others count as.
const OtherRoutes = "(others)"

// newRoutes makes a route for each name, and finds the route of each request. With one request
// there are no routes: the only one would equal the total.
func newRoutes(reqs []Request) (routes []Route, route []int) {
	if len(reqs) < 2 {
		return nil, nil
	}
	places := map[string]int{}
	for i := range reqs {
		name := reqs[i].Name
		if _, known := places[name]; !known && len(routes) >= RoutesMax-1 {
			name = OtherRoutes
		}
		place, known := places[name]
		if !known {
			place = len(routes)
			places[name] = place
			routes = append(routes, Route{Name: name, Latency: metric.NewHistogram(metric.Coarse)})
		}
		route = append(route, place)
	}
	return routes, route
}

func addRoutes(to, from []Route) []Route {
	if to == nil {
		return from
	}
	for i := range from {
		to[i].Completed += from[i].Completed
		to[i].Failed += from[i].Failed
		to[i].Latency.Merge(from[i].Latency)
	}
	return to
}
