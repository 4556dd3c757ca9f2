package loadresult

import (
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto/tls"
	"dyno/internal/fact"
)

// NewTotals returns totals of nothing, with empty histograms.
func NewTotals() Totals {
	return Totals{
		ConnectionTotals: ConnectionTotals{Protocols: map[string]int64{},
			Connect: metric.NewHistogram(metric.Coarse)},
		TLSTotals: TLSTotals{Terms: map[tls.Terms]int64{},
			FullTLS: metric.NewHistogram(metric.Coarse), ResumedTLS: metric.NewHistogram(metric.Coarse)},
		FirstByte: metric.NewHistogram(metric.Coarse),
		Lag:       metric.NewHistogram(metric.Fine),
		Law:       newLaw(),
	}
}

// AddTotals adds from to t; failures are added elsewhere.
func (t *Totals) AddTotals(from *Totals) {
	t.Opened += from.Opened
	t.Reconnects += from.Reconnects
	t.Served += from.Served
	for name, n := range from.Protocols {
		t.Protocols[name] += n
	}
	for _, a := range from.Addresses {
		t.CountAddress(a)
	}
	t.Lookups += from.Lookups
	t.Unlooked += from.Unlooked
	t.Room = max(t.Room, from.Room)
	t.TLSFull += from.TLSFull
	t.TLSResumed += from.TLSResumed
	t.Handshakes += from.Handshakes
	for terms, n := range from.Terms {
		t.Terms[terms] += n
	}
	t.Retried += from.Retried
	t.Retries.AddRetries(from.Retries)
	t.NotRetried.AddRetries(from.NotRetried)
	t.AddRedirects(from.RedirectTotals)
	t.Warmup += from.Warmup
	t.WarmupLost += from.WarmupLost
	t.Held += from.Held
	t.Unfinished += from.Unfinished
	t.AddCut(from.Cut)
	t.addRain(from.Rain)
	t.Unanswered.AddAll(from.Unanswered)
	t.Late += from.Late
	t.SentAfter += from.SentAfter
	t.CompletedAfter += from.CompletedAfter
	t.ErrorsAfter += from.ErrorsAfter
	t.Lingered += from.Lingered
	t.LateMax = max(t.LateMax, from.LateMax)
	t.Waiting += from.Waiting
	for i, n := range from.Waited {
		t.Waited[i] += n
	}
	t.Unavailable += from.Unavailable
	if from.UnavailableMost > t.UnavailableMost {
		t.UnavailableMost, t.UnavailableSince = from.UnavailableMost, from.UnavailableSince
	}
	t.AddWorst(from.StandstillTotals)
	if len(t.Stderr) == 0 {
		t.Stderr = from.Stderr
	}
	t.StderrBytes += from.StderrBytes
	t.FirstByte.Merge(from.FirstByte)
	t.Connect.Merge(from.Connect)
	t.FullTLS.Merge(from.FullTLS)
	t.ResumedTLS.Merge(from.ResumedTLS)
	t.Lag.Merge(from.Lag)
	t.Law.addSpans(&from.Law)
	t.addScenario(from.Scenario)
}

// AddUnavailable counts length ns in which a connection was unavailable, which began since ns after
// the window's start.
func (t *Totals) AddUnavailable(since, length int64) {
	if length <= 0 {
		return
	}
	t.Unavailable += length
	if length > t.UnavailableMost {
		t.UnavailableMost, t.UnavailableSince = length, since
	}
}

// AddCut counts answers that had begun at the end of the run; nil: none.
func (t *Totals) AddCut(from *fact.AnswerUnfinished) {
	switch {
	case from == nil:
	case t.Cut == nil:
		first := *from
		t.Cut = &first
	default:
		t.Cut.Count += from.Count
	}
}
