package objective

import (
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
)

// HarderWithLoad reports whether more load makes the objective harder to meet, never easier: it is
// a ceiling, or a floor of a share of requests that are as they must be.
func (o Objective) HarderWithLoad() bool {
	isShare := o.whose == "checks" || o.number != nil && o.kind == shares
	return o.IsUpperBound() != isShare
}

// Lacks is which field a plan must have, and has not, so that a load measures what the objective
// is about; nil: none. Where answers are no streams it does not tell that of the times of a route,
// whose name may end like one of theirs.
func (o Objective) Lacks(p *loadplan.Plan) *loadplan.Flaw {
	flaw := func(field, problem, mend string) *loadplan.Flaw {
		return &loadplan.Flaw{Setting: field, Problem: o.Expr + problem, Mend: mend}
	}
	ofGoodput := o.number != nil && o.number.OfGoodput
	ofStreams := o.number != nil && !ofGoodput || streamTime(o.whose) != nil
	ofRoute, statistic := o.routeTime()
	switch {
	case ofGoodput && p.Goodput == "":
		return flaw("Goodput", " is of the requests that meet limits", "give {Goodput}")
	case ofStreams && !p.Stream.IsSet():
		return flaw("Format", " is of streams of events", "give {Format}")
	case !p.Stream.IsSet():
		return nil
	case ofRoute != "" && !slices.Contains([]string{"p50", "p99", "max"}, statistic):
		return flaw("Format", " is not measured", "of a route's streams there are p50, p99 and max")
	case o.ofTokens():
		return p.Stream.LacksTokens(o.Expr)
	}
	return nil
}

// OfGood reports whether the objective is about the share of good requests, of all.
func (o Objective) OfGood() bool { return o.whose == "good" }

// Bounded is the quantile that the objective is about if its bounds can be computed, and of what:
// "latency" or result.FirstEvent. Each request has one such value of its own, so their order
// statistics bound it.
func (o Objective) Bounded() (q float64, of string, ok bool) {
	ok = o.percent > 0 && (o.whose == "latency" || o.whose == result.FirstEvent)
	return o.percent / 100, o.whose, ok
}
