package loadresult

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
)

// RoutesMax is how many routes are counted apart; all others count as one.
const RoutesMax = 1000

// OtherRoutes is the name of the route that all others count as.
const OtherRoutes = "(others)"

// NewRoutes makes a route for each name of the plan's steps, and finds the route of each step. With
// one step there are no routes: the only one would equal the total. There are RoutesMax at most.
func NewRoutes(p *loadplan.Plan) (routes []Route, route []int) {
	if p.StepCount() < 2 {
		return nil, nil
	}
	places := map[string]int{}
	for i := range p.StepCount() {
		name := p.StepName(i)
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

// AddRoutes adds the counts of from to those of to, route by route, and returns the sum. Both must
// have the same routes in the same order; to may be nil, and then from is returned.
func AddRoutes(to, from []Route) []Route {
	if to == nil {
		return from
	}
	for i := range from {
		to[i].Completed += from[i].Completed
		to[i].Failed += from[i].Failed
		to[i].Latency.Merge(from[i].Latency)
		to[i].Unanswered.AddAll(from[i].Unanswered)
	}
	return to
}
