// Package streamed has what a run measured of streams of events, as results have it.
package streamed

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/result/durations"
	"dyno/internal/result/scripted"
)

// A Stream is the events of the streams that were due in the window. A counted event is one that
// the plan counts. All counted events of a stream that came at once are one arrival.
type Stream struct {
	Format     string `json:"format"` // of the plan
	Events     int64  `json:"events"` // with data
	Counted    int64  `json:"counted"`
	Arrivals   int64  `json:"arrivals"`
	KeepAlives int64  `json:"keepalives"`      // comments, and events without data
	Tokens     int64  `json:"tokens"`          // by the server's own count
	Untold     int64  `json:"untold"`          // complete streams without such a count
	Taken      int64  `json:"taken,omitempty"` // streams that their users left, as the plan says
	Stalled    int64  `json:"stalled"`         // given up because of a silence
	Bunched    int64  `json:"bunched"`         // gaps of 38 to 46 ms
	Rate       Rate   `json:"rate"`

	First   *durations.Distribution `json:"first_event,omitempty"` // from due to the first arrival
	Service *durations.Distribution `json:"first_event_service,omitempty"`
	Gap     *durations.Distribution `json:"gap,omitempty"`        // between two arrivals
	Token   *durations.Distribution `json:"token_time,omitempty"` // of each stream that told tokens

	Each PerStream `json:"per_stream"`
	Cut  *Cut      `json:"cut,omitempty"` // nil: none was

	Samples []Sample `json:"samples,omitempty"` // of streams, evenly spread over the window
}

// A Sample is when the events of one stream came.
type Sample struct {
	Due      float64 `json:"due_s"`       // after the window's start
	Each     int     `json:"each"`        // of its arrivals this is each so-many-th
	Arrivals []int64 `json:"arrivals_us"` // since due
}

// A Rate is a second of the window: what came in it, of whatever stream.
type Rate struct {
	Events float64 `json:"events"` // counted
	Tokens float64 `json:"tokens"` // of streams that ended in the window
}

// Times are those of a route.
type Times struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50_us"`
	P99   float64 `json:"p99_us"`
	Max   float64 `json:"max_us"`
}

// TimesOf are those of a histogram of ns; nil of an empty one.
func TimesOf(h *metric.Histogram) *Times {
	if h == nil || h.Count == 0 {
		return nil
	}
	d := durations.Summary(h)
	return &Times{d.Count, d.P50, d.P99, d.Max}
}

// PerStream are numbers of complete streams.
type PerStream struct {
	Events *scripted.Values `json:"events,omitempty"`
	Tokens *scripted.Values `json:"tokens,omitempty"`
}

// A Cut is of streams that had begun and not ended when the run did.
type Cut struct {
	Count   int64             `json:"count"`
	Silence float64           `json:"silence_us"` // the longest since their last events
	Bounds  []durations.Bound `json:"bounds"`     // of all these silences: what each exceeded
}

// A Goodput is of requests that kept all limits of the plan.
type Goodput struct {
	Limits string `json:"limits"`
	Good
}

// A Good is how many requests of a run, or of a route, were good.
type Good struct {
	Count int64   `json:"good"`  // of those due in the window
	Share float64 `json:"share"` // of all due, or of a route's that were sent; 0 to 1
	Rate  float64 `json:"rate"`  // a second, of those that ended in the window
}

// NewGoodput is that of requests of which so many were due; nil without limits.
func NewGoodput(limits string, n metric.GoodCounts, due int64, measured time.Duration) *Goodput {
	if limits == "" {
		return nil
	}
	return &Goodput{limits, NewGood(n, due, measured)}
}

// NewGood is that of requests of which so many were due.
func NewGood(n metric.GoodCounts, due int64, measured time.Duration) Good {
	g := Good{Count: n.Good, Share: float64(n.Good) / max(float64(due), 1)}
	if measured > 0 {
		g.Rate = float64(n.GoodEnded) / measured.Seconds()
	}
	return g
}

// From converts what a run counted in a window, and how long events lay unread at p99, in µs; nil
// if its answers were no streams.
func From(format string, s *metric.Streams, rain []loadresult.StreamSample,
	measured time.Duration) (out *Stream, lag *float64) {
	if s == nil || format == "" {
		return nil, nil
	}
	if s.ReadLag.Count > 0 {
		lag = new(durations.Micros(float64(s.ReadLag.View().Quantile(0.99))))
	}
	perSecond := func(n int64) float64 {
		if measured <= 0 {
			return 0
		}
		return float64(n) / measured.Seconds()
	}
	out = &Stream{Format: format, Events: s.All, Counted: s.Counted, Arrivals: s.Arrivals,
		KeepAlives: s.KeepAlives, Tokens: s.Told, Untold: s.Untold, Taken: s.Taken, Stalled: s.Stalled,
		Bunched: s.Bunched,
		Rate:    Rate{Events: perSecond(s.Received), Tokens: perSecond(s.ReceivedTokens)},
		Each:    PerStream{numbers(s.Events), numbers(s.Tokens)}}
	for to, h := range map[**durations.Distribution]*metric.Histogram{&out.First: s.First,
		&out.Service: s.Service, &out.Gap: s.Gap, &out.Token: s.Token} {
		if h.Count > 0 {
			*to = durations.New(h)
		}
	}
	if s.Cut > 0 {
		c := &Cut{Count: s.Cut, Silence: float64(s.CutMost) / 1e3}
		for i, n := range s.Cuts {
			c.Bounds = append(c.Bounds, durations.Bound{US: float64(int64(1)<<i) / 1e3, Count: n})
		}
		c.Bounds = durations.Together(c.Bounds...)
		out.Cut = c
	}
	for _, x := range rain {
		out.Samples = append(out.Samples, Sample{x.Due.Seconds(), x.Each, x.Arrivals})
	}
	return out, lag
}

// numbers are those of a histogram of whole numbers; nil of none.
func numbers(h *metric.Histogram) *scripted.Values {
	if h.Count == 0 {
		return nil
	}
	return scripted.NewValues(h, 1)
}

// AddUnanswered adds the streams without an event that are known to have waited that long.
func (s *Stream) AddUnanswered(all []durations.Bound) {
	if s.First != nil {
		s.First = s.First.WithUnanswered(all...)
	}
}

// GapAtLeast is Gap with the silences in which the run ended: each is a gap that is known to be
// longer. An objective counts them, so that a stream that had stopped cannot help to meet it.
func (s *Stream) GapAtLeast() *durations.Distribution {
	if s.Gap == nil || s.Cut == nil {
		return s.Gap
	}
	return s.Gap.WithUnanswered(s.Cut.Bounds...)
}

// leastKnown is what a time of which nothing is known is above, in µs.
const leastKnown = 1e-3

// TokenAtLeast is Token with the streams that had begun, and stalled or were cut. A server tells
// tokens at the end, so nothing is known of their token time, not even a lower bound: an objective
// that they could decide is undecided. A stream that never began is in First alone, and one that
// failed in another way is an error alone, as for latency.
func (s *Stream) TokenAtLeast() *durations.Distribution {
	n := s.Stalled + s.cut()
	if s.Token == nil || n == 0 {
		return s.Token
	}
	return s.Token.WithUnanswered(durations.Bound{US: leastKnown, Count: n})
}

// cut is how many streams were cut.
func (s *Stream) cut() int64 {
	if s.Cut == nil {
		return 0
	}
	return s.Cut.Count
}

// Unended is how many streams had begun and did not end; nil if all did.
func (s *Stream) Unended() fact.Args {
	if s.Stalled+s.cut() == 0 {
		return nil
	}
	return fact.StreamsUnended{Cut: s.cut(), Stalled: s.Stalled}
}

// Left is how many streams users left before the server told its number of tokens.
func (s *Stream) Left() int64 {
	if s.Each.Events == nil {
		return 0
	}
	told := int64(0)
	if s.Each.Tokens != nil {
		told = s.Each.Tokens.Count
	}
	return s.Each.Events.Count - told - s.Untold
}

// Gathered is the share, 0 to 1, of counted events that came together with another.
func (s *Stream) Gathered() float64 {
	c := metric.StreamCounts{Counted: s.Counted, Arrivals: s.Arrivals}
	return c.Gathered()
}

// Check returns what cannot be.
func (s *Stream) Check() error {
	if s == nil {
		return nil
	}
	var all []error
	if min(s.Events, s.Counted, s.Arrivals, s.KeepAlives, s.Tokens, s.Untold, s.Taken,
		s.Stalled) < 0 || s.Arrivals > s.Counted {
		all = append(all, fmt.Errorf("stream: %d events in %d arrivals", s.Counted, s.Arrivals))
	}
	for name, d := range map[string]*durations.Distribution{"stream.first_event": s.First,
		"stream.gap": s.Gap, "stream.token_time": s.Token, "stream.first_event_service": s.Service} {
		if d != nil {
			all = append(all, d.Check(name))
		}
	}
	if n := len(s.Samples); n > loadresult.RainStreams {
		all = append(all, fmt.Errorf("stream.samples: %d, at most %d", n, loadresult.RainStreams))
	}
	for _, x := range s.Samples {
		if x.Each < 1 || len(x.Arrivals) > loadresult.RainDrops || !slices.IsSorted(x.Arrivals) ||
			len(x.Arrivals) > 0 && x.Arrivals[0] < 0 {
			all = append(all, errors.New("stream.samples: the arrivals of one are none"))
		}
	}
	if s.Cut != nil {
		all = append(all, durations.CheckBounds(s.Cut.Bounds, s.Cut.Count))
	}
	return errors.Join(all...)
}
