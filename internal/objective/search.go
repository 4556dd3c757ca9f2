package objective

import "dyno/internal/result"

// HarderWithLoad reports whether more load makes the objective harder to meet, never easier: it is
// a ceiling, or a floor of a share of requests that are as they must be.
func (o Objective) HarderWithLoad() bool {
	isShare := o.whose == "checks" || o.number != nil && o.kind == shares
	return o.IsUpperBound() != isShare
}

// OfStreams reports whether the objective is of streams of events. It does not tell that of the
// times of a route, whose name may end like one of theirs.
func (o Objective) OfStreams() bool {
	return o.number != nil && !o.number.OfGoodput || streamTime(o.whose) != nil
}

// OfGoodput reports whether the objective is of the requests that meet limits of their own.
func (o Objective) OfGoodput() bool { return o.number != nil && o.number.OfGoodput }

// OfGood reports whether the objective is about the share of good requests, of all.
func (o Objective) OfGood() bool { return o.whose == "good" }

// Bounded is the quantile that the objective is about if its bounds can be computed, and of what:
// "latency" or result.FirstEvent. Each request has one such value of its own, so their order
// statistics bound it.
func (o Objective) Bounded() (q float64, of string, ok bool) {
	ok = o.percent > 0 && (o.whose == "latency" || o.whose == result.FirstEvent)
	return o.percent / 100, o.whose, ok
}
