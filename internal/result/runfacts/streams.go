package runfacts

import (
	"dyno/internal/engine/goodput"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
)

// What streams must have so that something is said of them.
const (
	leastEvents   = 20  // counted
	gatheredLeast = 0.5 // share of the events that came with another
	bunchedLeast  = 0.5 // share of the gaps, where events come together
	bunchedWith   = 0.2 // share of the events that came with another
)

// Streams are what a reader must know of streams of events.
func Streams(r *loadresult.Result) (all []fact.Fact) {
	if r.Total == nil || r.Total.Stream == nil {
		return nil
	}
	s := r.Total.Stream
	add := func(is bool, args fact.Args, remedies ...fact.Remedy) {
		if is {
			all = append(all, fact.Fact{Severity: fact.Warning, Args: args, Remedies: remedies})
		}
	}
	gathered := s.Gathered()
	bunched := float64(s.Bunched) / max(float64(s.Gap.Count), 1)
	enough, isBunched := s.Counted >= leastEvents, bunched >= bunchedLeast && gathered >= bunchedWith
	add(enough && isBunched, fact.GapsBunched{Percent: 100 * bunched})
	add(enough && !isBunched && gathered > gatheredLeast,
		fact.EventsGathered{Percent: 100 * gathered})
	took := medianOf(r.Total.Latency)
	warmup := float64(r.Warmed) / 1e3
	add(r.Plan.Requested == 0 && took > warmup && took > 0,
		fact.WarmupShort{WarmupUS: warmup, StreamUS: took},
		fact.Remedy{Setting: "warmup", Value: fact.Higher})
	add(s.Untold > 0 && r.Plan.Stream.TellsTokens(),
		fact.TokensUntold{Streams: s.Untold, Of: s.Events.Count})
	limits, _ := goodput.Parse(r.Plan.Goodput)
	left := s.Events.Count - s.Tokens.Count - s.Untold // and told nothing
	add(left > 0 && limits.Has(goodput.TokenTime), fact.TokensLeft{Streams: left, Of: s.Events.Count},
		fact.Remedy{Setting: "stream-take", Value: fact.None})
	return all
}

// medianOf is the median of a histogram of ns, in µs; 0 of an empty one.
func medianOf(h *metric.Histogram) float64 {
	if h.Count == 0 {
		return 0
	}
	return float64(h.View().Quantile(0.5)) / 1e3
}
