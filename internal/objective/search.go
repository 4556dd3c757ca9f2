package objective

import "slices"

// HarderWithLoad reports whether more load makes the objective harder to meet, never easier: it is
// a ceiling, or a floor of a share of requests that are as they must be.
func (o Objective) HarderWithLoad() bool {
	return o.IsUpperBound() != (o.OfGood() || o.whose == "checks")
}

// OfStreams reports whether the objective is of streams of events.
func (o Objective) OfStreams() bool {
	return slices.Contains([]string{FirstEvent, "gap", "token_time", "events", "tokens"}, o.whose)
}

// OfGoodput reports whether the objective is of the requests that meet limits of their own.
func (o Objective) OfGoodput() bool { return o.OfGood() || o.whose == "goodput" }

// OfGood reports whether the objective is about the share of good requests.
func (o Objective) OfGood() bool { return o.whose == "good" }

// Bounded is the quantile that the objective is about if its bounds can be computed, and of what:
// "latency" or FirstEvent. Each request has one such value of its own, so their order statistics
// bound it.
func (o Objective) Bounded() (q float64, of string, ok bool) {
	ok = o.percent > 0 && (o.whose == "latency" || o.whose == FirstEvent)
	return o.percent / 100, o.whose, ok
}
