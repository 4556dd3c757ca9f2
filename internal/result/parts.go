package result

import (
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/result/durations"
	"dyno/internal/result/streamed"
)

// OfPart converts what the generator of a part of a load counted, which has a stored plan.
func OfPart(r *loadresult.Result, whole loadplan.Plan, version string) (*Result, error) {
	p := r.Plan
	p.Target, p.Requests, p.Data, p.Params = whole.Target, whole.Requests, whole.Data, whole.Params
	p.Steps, p.Checks, p.Variables = whole.Steps, whole.Checks, whole.Variables
	p.Stream.Steps = whole.Stream.Steps
	p.Expectations, p.Script, p.Scenario = whole.Expectations, whole.Script, nil
	return FromParts(r, nil, p, version)
}

// startsApart is how far apart the starts of parts may lie until a reader is told.
const startsApart = 100 * time.Millisecond

// apartFacts say how far apart parts began, if that matters.
func apartFacts(r *loadresult.Result) []fact.Fact {
	apart := r.BeganApart()
	if apart <= startsApart {
		return nil
	}
	return []fact.Fact{*told(fact.PartsApart{ApartUS: float64(apart.Microseconds())})}
}

// untimedRoutes finds that generators did not tell the latency of all routes.
func untimedRoutes(r *loadresult.Result) []fact.Fact {
	n := r.Untimed()
	if n == 0 {
		return nil
	}
	return []fact.Fact{*told(fact.RoutesUntimed{Routes: n, Of: len(r.Routes)})}
}

// unknownIterations finds that iterations are only those of some parts.
func unknownIterations(m *Result, all []*Result) []fact.Fact {
	unknown := 0
	for _, r := range all {
		if r.Iterations == nil {
			unknown++
		}
	}
	if !m.Plan.CountsIterations() || unknown == 0 {
		return nil
	}
	return []fact.Fact{*told(fact.IterationsUnknown{Parts: unknown, Of: len(all)})}
}

// asked are the connections of the generators that have told of theirs.
func asked(r *loadresult.Result) (n int) {
	for _, g := range r.WholeParts() {
		n += g.Plan.Connections
	}
	return n
}

// answersInWindow is how many answers came in the window, errors included.
func answersInWindow(all []*loadresult.Result) (n int64) {
	for _, r := range all {
		if t := r.Total; t != nil {
			n += t.Completed + t.ErrorLatency.Count + t.Early + t.EarlyErrors - r.CompletedAfter -
				r.ErrorsAfter
		}
	}
	return n
}

// setRoutes converts routes. A single route equals the total, and is left out.
func (r *Result) setRoutes(from *loadresult.Result, parts []*Result) {
	if len(from.Routes) < 2 {
		return
	}
	for _, x := range from.Routes {
		route := Route{Name: x.Name, Completed: x.Completed, Errors: x.Failed,
			First: streamed.TimesOf(x.First), Gap: streamed.TimesOf(x.Gap),
			Token: streamed.TimesOf(x.Token), Stalled: x.Stalled, Cut: x.Cut}
		if (x.Received > 0 || x.ReceivedTokens > 0) && from.Measured > 0 {
			s := from.Measured.Seconds()
			route.Rate = &streamed.Rate{Events: float64(x.Received) / s,
				Tokens: float64(x.ReceivedTokens) / s}
		}
		if from.Plan.Goodput != "" {
			route.Goodput = new(streamed.NewGood(x.GoodCounts, x.Sent(), from.Measured))
		}
		if x.Latency != nil && x.Latency.Count > 0 {
			d := durations.Summary(x.Latency, routeBounds(from, parts, x.Name)...)
			route.Mean, route.Max, route.Over = d.Mean, d.Max, d.Over
			for _, p := range metric.Percentiles(&route) {
				*p.Value, _ = d.Percentile(p.Percent)
			}
		}
		r.Routes = append(r.Routes, route)
	}
}

// routeBounds are the bounds of latency of a route, of the requests that had no answer.
func routeBounds(from *loadresult.Result, parts []*Result, name string) (all []durations.Bound) {
	for i, g := range from.Each() {
		for _, x := range g.Routes {
			if x.Name == name && len(x.Unanswered) > 0 {
				all = append(all, parts[i].waited().RouteBounds(x.Unanswered)...)
			}
		}
	}
	return all
}
