package lab

import (
	"slices"

	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/result/streamed"
)

// StreamMeasures are those of streams of events, and of goodput.
var StreamMeasures = []Measure{
	percentile("first_event_p50", firstEvents, 50),
	percentile("first_event_p99", firstEvents, 99),
	percentile("gap_p50", gaps, 50),
	percentile("gap_p99", gaps, 99),
	percentile("token_time_p50", tokenTimes, 50),
	percentile("token_time_p99", tokenTimes, 99),
	{Name: "events", Unit: "events/s", Better: 1, of: func(t *Trial) float64 {
		return streamOf(t).Rate.Events
	}},
	{Name: "tokens", Unit: "tokens/s", Better: 1, of: func(t *Trial) float64 {
		return streamOf(t).Rate.Tokens
	}},
	{Name: "cpu_event", Unit: "µs/event", Better: -1, of: func(t *Trial) float64 {
		return float64(t.serverUse().CPU) * t.Result.Rate.AnswersPerSecond() / streamOf(t).Rate.Events
	}},
	{Name: "good", Unit: "%", Better: 1, of: goodShare},
	{Name: string(experiment.Goodput), Unit: "good/s", Better: 1, of: goodRate},
}

// MeasuresOf are the measures that are shown of trials: all but those of streams, of goodput and of
// searches along other axes than the rate that none of them has.
func MeasuresOf(trials []TrialSummary) []Measure {
	lacks := func(m Measure) bool {
		return !slices.ContainsFunc(trials, func(t TrialSummary) bool {
			_, has := t.Values[m.Name]
			return has
		})
	}
	return slices.Concat(requestMeasures,
		slices.DeleteFunc(slices.Concat(searchMeasures, StreamMeasures), lacks))
}

// streamOf is what a trial measured of streams of events; empty if its answers were none.
func streamOf(t *Trial) *streamed.Stream {
	if t.Result.Stream == nil {
		return new(streamed.Stream)
	}
	return t.Result.Stream
}

// known is a distribution, empty if there is none.
func known(d *result.Distribution) *result.Distribution {
	if d == nil {
		return new(result.Distribution)
	}
	return d
}

func firstEvents(t *Trial) *result.Distribution { return known(streamOf(t).First) }

// gaps include the silences in which the load ended, as an objective has them.
func gaps(t *Trial) *result.Distribution { return known(streamOf(t).GapAtLeast()) }

// tokenTimes are of the streams that told their tokens. Of one that was cut nothing is known, not
// even a least time as of a gap: one of them would leave every percentile open, and so each
// comparison.
func tokenTimes(t *Trial) *result.Distribution { return known(streamOf(t).Token) }

// goodLeast is how many good requests none counts as: a ratio to none is none, and a trial without
// a good request must not be missing from a comparison that it decides.
const goodLeast = 0.5

// goodShare is the share of good requests, in percent; 0 without limits.
func goodShare(t *Trial) float64 {
	g, q := t.Result.Goodput, t.Result.Requests
	switch {
	case g == nil:
		return 0
	case g.Count == 0:
		due := q.Sent
		if q.Waiting != nil {
			due += *q.Waiting
		}
		return 100 * goodLeast / max(float64(due), 1)
	}
	return 100 * g.Share
}

// goodRate is the rate of good requests; 0 without limits.
func goodRate(t *Trial) float64 {
	g := t.Result.Goodput
	if g == nil {
		return 0
	}
	return max(g.Rate, goodLeast/max(t.Result.Window.MeasuredS, 1e-3))
}
