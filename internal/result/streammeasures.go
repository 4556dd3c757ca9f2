package result

import "dyno/internal/result/streamed"

// A StreamTime is a time of streams of events that a result has of all of them, and of those of
// each route. Objectives name it, and comparisons have its percentiles.
type StreamTime struct {
	Name string
	// Of is that of all streams, with those that did not end, as objectives have it.
	Of      func(*streamed.Stream) *Distribution
	OfRoute func(*Route) *streamed.Times
}

// StreamTimes are all of them, in the order in which they are shown.
var StreamTimes = []StreamTime{
	{FirstEvent, func(s *streamed.Stream) *Distribution { return s.First },
		func(r *Route) *streamed.Times { return r.First }},
	{"gap", (*streamed.Stream).GapAtLeast, func(r *Route) *streamed.Times { return r.Gap }},
	{TokenTime, (*streamed.Stream).TokenAtLeast,
		func(r *Route) *streamed.Times { return r.Token }},
}

// Names of StreamTimes, and of a StreamNumber.
const (
	FirstEvent = "first_event"
	TokenTime  = "token_time"
	Tokens     = "tokens"
)

// A StreamNumber is a rate or a share that a result has of streams of events or of goodput: of all
// requests, and of each route.
type StreamNumber struct {
	Name, Unit string // "%" is a share; all else is a rate
	OfGoodput  bool   // it is of the plan's limits, which answers have that are no streams, too
	Of         func(*Result) (value float64, ok bool)
	OfRoute    func(*Route) (value float64, ok bool)
}

// StreamNumbers are all of them, in the order in which they are shown.
var StreamNumbers = []StreamNumber{
	{"events", "events/s", false, ofRate(eventRate), ofRouteRate(eventRate)},
	{Tokens, "tokens/s", false, ofRate(tokenRate), ofRouteRate(tokenRate)},
	{"good", "%", true, ofGoodput(goodShare), ofRouteGoodput(goodShare)},
	{"goodput", "good/s", true, ofGoodput(goodRate), ofRouteGoodput(goodRate)},
}

func goodShare(g streamed.Good) float64 { return 100 * g.Share }
func goodRate(g streamed.Good) float64  { return g.Rate }
func eventRate(r streamed.Rate) float64 { return r.Events }
func tokenRate(r streamed.Rate) float64 { return r.Tokens }

func ofGoodput(value func(streamed.Good) float64) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) {
		if r.Goodput == nil {
			return 0, false
		}
		return value(r.Goodput.Good), true
	}
}

func ofRouteGoodput(value func(streamed.Good) float64) func(*Route) (float64, bool) {
	return func(r *Route) (float64, bool) {
		if r.Goodput == nil {
			return 0, false
		}
		return value(*r.Goodput), true
	}
}

func ofRate(value func(streamed.Rate) float64) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) {
		if r.Stream == nil {
			return 0, false
		}
		return value(r.Stream.Rate), true
	}
}

func ofRouteRate(value func(streamed.Rate) float64) func(*Route) (float64, bool) {
	return func(r *Route) (float64, bool) {
		if r.Rate == nil {
			return 0, false
		}
		return value(*r.Rate), true
	}
}
