package lab

import (
	"cmp"
	"slices"

	"dyno/internal/result"
	"dyno/internal/result/streamed"
)

// StreamMeasures are those of streams of events, and of goodput: what a result has of them, and the
// server's CPU time.
var StreamMeasures = streamMeasures()

func streamMeasures() (all []Measure) {
	for _, t := range result.StreamTimes {
		all = append(all, percentile(t.Name+"_p50", ofStreams(t.Name), 50),
			percentile(t.Name+"_p99", ofStreams(t.Name), 99))
	}
	for _, n := range result.StreamNumbers {
		all = append(all, Measure{Name: n.Name, Unit: n.Unit, Better: 1, of: func(t *Trial) float64 {
			v, ok := n.Of(t.Result)
			if ok && n.OfGoodput {
				return max(v, leastGood(t.Result, n.Unit))
			}
			return v
		}})
	}
	return append(all, Measure{Name: "cpu_event", Unit: "µs/event", Better: -1,
		of: func(t *Trial) float64 {
			return float64(t.serverUse().CPU) * t.Result.Rate.AnswersPerSecond() / streamOf(t).Rate.Events
		}})
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

// ofStreams are the times of that name that a trial has of its streams, empty if it has none. Gaps
// include the silences in which the load ended, as an objective has them. Token times are of the
// streams that told their tokens. Of one that was cut nothing is known, not even a least time as of
// a gap: one of them would leave every percentile open, and so each comparison.
func ofStreams(name string) func(*Trial) *result.Distribution {
	i := slices.IndexFunc(result.StreamTimes, func(t result.StreamTime) bool { return t.Name == name })
	of := result.StreamTimes[i].Of
	if name == result.TokenTime {
		of = func(s *streamed.Stream) *result.Distribution { return s.Token }
	}
	return func(t *Trial) *result.Distribution {
		return cmp.Or(of(streamOf(t)), new(result.Distribution))
	}
}

// goodLeast is how many good requests none counts as: a ratio to none is none, and a trial without
// a good request must not be missing from a comparison that it decides.
const goodLeast = 0.5

// leastGood is what goodLeast is in that unit: a share in percent, or a rate.
func leastGood(r *result.Result, unit string) float64 {
	if unit != "%" {
		return goodLeast / max(r.Window.MeasuredS, 1e-3)
	}
	due := r.Requests.Sent
	if r.Requests.Waiting != nil {
		due += *r.Requests.Waiting
	}
	return 100 * goodLeast / max(float64(due), 1)
}
