package loadresult

import (
	"cmp"
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
)

// RoutesMax is how many routes are counted apart; all others count as one.
const RoutesMax = 1000

// OtherRoutes is the name of the route that all others count as.
const OtherRoutes = "(others)"

// NewRoutes makes a route for each of RouteNames, and finds the route of each step.
func NewRoutes(p *loadplan.Plan) (routes []Route, route []int) {
	names, route := RouteNames(p)
	for _, name := range names {
		routes = append(routes, Route{Name: name, Latency: metric.NewHistogram(metric.Coarse)})
	}
	return routes, route
}

// RouteNames are the names of the plan's steps, each once, and which of them each step has. With
// one step there are none: its route would equal the total. There are RoutesMax at most.
func RouteNames(p *loadplan.Plan) (names []string, route []int) {
	if p.StepCount() < 2 {
		return nil, nil
	}
	places := map[string]int{}
	for i := range p.StepCount() {
		name := p.StepName(i)
		if _, known := places[name]; !known && len(names) >= RoutesMax-1 {
			name = OtherRoutes
		}
		place, known := places[name]
		if !known {
			place = len(names)
			places[name] = place
			names = append(names, name)
		}
		route = append(route, place)
	}
	return names, route
}

// AddRoutes adds the counts of from to those of to, route by route, and returns the sum. Both must
// have the same routes in the same order; to may be nil, and then from is returned. A route has no
// latency if that of a part is not known.
func AddRoutes(to, from []Route) []Route {
	if to == nil {
		return from
	}
	for i := range from {
		to[i].Completed += from[i].Completed
		to[i].Failed += from[i].Failed
		if from[i].Latency == nil && from[i].Completed > 0 {
			to[i].Latency = nil
		}
		if to[i].Latency != nil {
			to[i].Latency.Merge(from[i].Latency)
		}
		to[i].Unanswered.AddAll(from[i].Unanswered)
	}
	return to
}

// RouteBytes is how many bytes the histograms of r's routes take where another process is told r;
// 0 of nil.
func (r *Result) RouteBytes() (n int) {
	if r != nil {
		for _, x := range r.Routes {
			n += x.bytes()
		}
	}
	return n
}

// LeaveOutTimes is r without the longest histograms of its routes: those that are left take so many
// bytes at most. What the routes counted stays.
func (r *Result) LeaveOutTimes(most int) *Result {
	few := *r
	few.Routes = slices.Clone(r.Routes)
	order := make([]*Route, len(few.Routes))
	for i := range few.Routes {
		order[i] = &few.Routes[i]
	}
	slices.SortStableFunc(order, func(a, b *Route) int { return cmp.Compare(a.bytes(), b.bytes()) })
	for _, x := range order {
		if most -= x.bytes(); most < 0 {
			x.Latency = nil
		}
	}
	return &few
}

// bytes is how many bytes the route's histogram takes.
func (x *Route) bytes() int {
	if x.Latency == nil {
		return 0
	}
	return x.Latency.ToSparse().MemorySize()
}

// Untimed is how many of r's routes have answers whose latency is not known.
func (r *Result) Untimed() (n int) {
	for _, x := range r.Routes {
		if x.Latency == nil && x.Completed > 0 {
			n++
		}
	}
	return n
}
