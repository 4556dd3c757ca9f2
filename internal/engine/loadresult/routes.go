package loadresult

import (
	"cmp"
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
)

// A Route is the requests of one name.
type Route struct {
	Name              string
	Completed, Failed int64
	Latency           *metric.Histogram // Coarse; nil: it is not known, see Result.LeaveOutTimes
	Unanswered        Unanswered        // without times of slots

	// Coarse; of its streams, as those of a metric.Streams; nil: it has none, or as of Latency.
	First, Gap, Token *metric.Histogram
	Stalled, Cut      int64 // of its streams

	Received, ReceivedTokens int64 // as those of metric.StreamCounts
	metric.GoodCounts
}

// RoutesMax is how many routes are counted apart; all others count as one.
const RoutesMax = 1000

// OtherRoutes is the name of the route that all others count as.
const OtherRoutes = "(others)"

// NewRoutes makes a route for each of RouteNames, and finds the route of each step.
func NewRoutes(p *loadplan.Plan) (routes []Route, route []int) {
	names, route := RouteNames(p)
	for _, name := range names {
		routes = append(routes, newRoute(name, p.Stream.IsSet()))
	}
	return routes, route
}

// newRoute is a route of that name, which may have streams.
func newRoute(name string, streams bool) Route {
	r := Route{Name: name, Latency: metric.NewHistogram(metric.Coarse)}
	if streams {
		for _, h := range []**metric.Histogram{&r.First, &r.Gap, &r.Token} {
			*h = metric.NewHistogram(metric.Coarse)
		}
	}
	return r
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
		to[i].Stalled += from[i].Stalled
		to[i].Cut += from[i].Cut
		to[i].Received += from[i].Received
		to[i].ReceivedTokens += from[i].ReceivedTokens
		to[i].AddGood(from[i].GoodCounts)
		if from[i].Latency == nil && from[i].Completed > 0 {
			to[i].leaveOutTimes()
		}
		other := from[i].times()
		for k, h := range to[i].times() {
			if *h != nil && *other[k] != nil {
				(*h).Merge(*other[k])
			}
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
	order, size := make([]*Route, len(few.Routes)), make(map[*Route]int, len(few.Routes))
	for i := range few.Routes {
		x := &few.Routes[i]
		order[i], size[x] = x, x.bytes()
	}
	slices.SortStableFunc(order, func(a, b *Route) int { return cmp.Compare(size[a], size[b]) })
	for _, x := range order {
		if most -= size[x]; most < 0 {
			x.leaveOutTimes()
		}
	}
	return &few
}

// times are where the route's histograms stand, in one order.
func (x *Route) times() [4]**metric.Histogram {
	return [...]**metric.Histogram{&x.Latency, &x.First, &x.Gap, &x.Token}
}

func (x *Route) leaveOutTimes() {
	for _, h := range x.times() {
		*h = nil
	}
}

// Sent is how many requests of the window were sent. Nobody knows of which route those are that
// were due and not sent.
func (x *Route) Sent() int64 {
	n := x.Completed + x.Failed
	for _, w := range x.Unanswered {
		if w.After == 0 { // at the run's end; after a timeout it is in Failed
			n += w.Requests
		}
	}
	return n
}

// bytes is how many bytes the route's histograms take.
func (x *Route) bytes() (n int) {
	for _, h := range x.times() {
		if *h != nil {
			n += (*h).ToSparse().MemorySize()
		}
	}
	return n
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
