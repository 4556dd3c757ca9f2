package metric

// Statuses is how many status codes are counted apart: 0 to 999, as on the wire.
const Statuses = 1000

// A Counters is what was counted in an interval. Its owner publishes it at the interval's end.
// Counters of several workers, or of several intervals, add up to one. Percentiles come from the
// sum, never from an average.
type Counters struct {
	Interval int   // which interval of the run it is, counted from 0
	From, To int64 // ns after the start of the load

	// Requests due in the measured window, counted in the interval in which it happened to them.
	Sent      int64 // begun, each counted once however often it is retried
	Completed int64 // answered completely, with an expected status
	Failed    int64 // ended without an expected answer
	InFlight  int64 // begun and not ended when the interval ended

	Iterations, IterationsFailed int64 // of a scenario: completed, and failed

	Received, Written int64 // bytes; Written counts what the socket accepted

	Status  [Statuses]int64
	Latency *Histogram // due to done; completed requests only
	Service *Histogram // sent to done; empty if all were sent when due, because it equals Latency

	ErrorLatency *Histogram // due to done, of failed requests that were answered completely
}

// NewCounters returns empty counters.
func NewCounters() *Counters {
	return &Counters{Latency: NewHistogram(Fine), Service: NewHistogram(Fine),
		ErrorLatency: NewHistogram(Fine)}
}

// Merge adds from to s, which then covers both intervals.
func (s *Counters) Merge(from *Counters) {
	if s.To == 0 {
		s.From = from.From
	}
	s.From, s.To = min(s.From, from.From), max(s.To, from.To)
	s.Sent += from.Sent
	s.Completed += from.Completed
	s.Failed += from.Failed
	s.InFlight += from.InFlight
	s.Iterations += from.Iterations
	s.IterationsFailed += from.IterationsFailed
	s.Received += from.Received
	s.Written += from.Written
	for i, n := range from.Status {
		s.Status[i] += n
	}
	if s.Service.Count == 0 && from.Service.Count > 0 {
		s.Service.Merge(s.Latency)
	}
	if from.Service.Count > 0 {
		s.Service.Merge(from.Service)
	} else if s.Service.Count > 0 {
		s.Service.Merge(from.Latency)
	}
	s.Latency.Merge(from.Latency)
	s.ErrorLatency.Merge(from.ErrorLatency)
}

// Reset makes s empty, to be filled again.
func (s *Counters) Reset() {
	l, v, e := s.Latency, s.Service, s.ErrorLatency
	l.Reset()
	v.Reset()
	e.Reset()
	*s = Counters{Latency: l, Service: v, ErrorLatency: e}
}
