package metric

// Statuses is how many status codes are told apart: 0 to 999, as on the wire.
const Statuses = 1000

// A Counters is what was counted in an interval. Its owner hands it over whole
// at the interval's end. Snapshots of one interval from several workers, or of
// several intervals, add up to one; percentiles come from the sum, never from
// an average.
type Counters struct {
	Interval int   // which interval of the run it is, counted from 0
	From, To int64 // ns after the start of the load

	// Exchanges due in the measured window, counted when it happened to them.
	Sent      int64 // begun, each counted once however often it is sent again
	Completed int64 // answered completely, and rightly
	Failed    int64 // over without an answer that counts
	InFlight  int64 // begun and not over, when the interval ended

	Received, Written int64 // bytes from and to the socket, the latter when handed to it

	Status  [Statuses]int64
	Latency *Histogram // due to done; completed exchanges only
	Service *Histogram // sent to done; empty where all were sent when due: it equals Latency

	ErrorLatency *Histogram // due to done, of those of Failed that were answered completely
}

// NewCounters returns an empty snapshot.
func NewCounters() *Counters {
	return &Counters{Latency: NewHistogram(Fine), Service: NewHistogram(Fine),
		ErrorLatency: NewHistogram(Fine)}
}

// Add adds from to s, which then covers both.
func (s *Counters) Add(from *Counters) {
	if s.To == 0 {
		s.From = from.From
	}
	s.From, s.To = min(s.From, from.From), max(s.To, from.To)
	s.Sent += from.Sent
	s.Completed += from.Completed
	s.Failed += from.Failed
	s.InFlight += from.InFlight
	s.Received += from.Received
	s.Written += from.Written
	for i, n := range from.Status {
		s.Status[i] += n
	}
	if s.Service.Count == 0 && from.Service.Count > 0 {
		s.Service.Add(s.Latency)
	}
	if from.Service.Count > 0 {
		s.Service.Add(from.Service)
	} else if s.Service.Count > 0 {
		s.Service.Add(from.Latency)
	}
	s.Latency.Add(from.Latency)
	s.ErrorLatency.Add(from.ErrorLatency)
}

// Reset makes s empty, to be filled again.
func (s *Counters) Reset() {
	l, v, e := s.Latency, s.Service, s.ErrorLatency
	l.Reset()
	v.Reset()
	e.Reset()
	*s = Counters{Latency: l, Service: v, ErrorLatency: e}
}
