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

	EarlyCounts
	GoodCounts

	Iterations, IterationsFailed int64      // of a scenario: completed, and failed
	IterationTime                *Histogram // due to done, of Iterations; nil: not wanted
	Checks                       []Outcomes // of a scenario, in the plan's order; nil: not wanted

	Received, Written int64 // bytes; Written counts what the socket accepted
	Bodies            int64 // bytes of the bodies of answers, without headers and framing

	Status  [Statuses]int64
	Latency *Histogram // due to done; completed requests only
	Service *Histogram // sent to done; empty if all were sent when due, because it equals Latency

	ErrorLatency *Histogram // due to done, of failed requests that were answered completely

	Stream *Streams // of answers that are streams; nil: not wanted
}

// EarlyCounts count what ended in the window and was due in the warm-up. Rates have it; other
// counts, and distributions, do not.
type EarlyCounts struct {
	Early           int64 `json:"early,omitempty"`            // right answers
	EarlyErrors     int64 `json:"early_errors,omitempty"`     // answers that were errors
	EarlyIterations int64 `json:"early_iterations,omitempty"` // of a scenario: completed
}

// GoodCounts count answers that kept all limits of the plan's goodput.
type GoodCounts struct {
	Good      int64 `json:"good,omitempty"`       // to requests due in the window
	GoodEnded int64 `json:"good_ended,omitempty"` // that ended in the window
}

// AddGood adds from to c.
func (c *GoodCounts) AddGood(from GoodCounts) {
	c.Good += from.Good
	c.GoodEnded += from.GoodEnded
}

// AddEarly adds from to c.
func (c *EarlyCounts) AddEarly(from EarlyCounts) {
	c.Early += from.Early
	c.EarlyErrors += from.EarlyErrors
	c.EarlyIterations += from.EarlyIterations
}

// Outcomes are how often a check passed and failed.
type Outcomes struct{ Passed, Failed int64 }

// AddOutcomes adds the outcomes of checks in the same order; to may have fewer.
func AddOutcomes(to, from []Outcomes) []Outcomes {
	for i, n := range from {
		if i == len(to) {
			to = append(to, Outcomes{})
		}
		to[i].Passed += n.Passed
		to[i].Failed += n.Failed
	}
	return to
}

// CountScenario has s count the times of iterations, if these are wanted, and so many checks.
func (s *Counters) CountScenario(iterations bool, checks int) {
	if iterations && s.IterationTime == nil {
		s.IterationTime = NewHistogram(Fine)
	}
	if len(s.Checks) < checks {
		s.Checks = make([]Outcomes, checks)
	}
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
	s.AddEarly(from.EarlyCounts)
	s.AddGood(from.GoodCounts)
	s.Iterations += from.Iterations
	s.IterationsFailed += from.IterationsFailed
	s.Received += from.Received
	s.Written += from.Written
	s.Bodies += from.Bodies
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
	if from.IterationTime != nil {
		s.CountScenario(true, 0)
		s.IterationTime.Merge(from.IterationTime)
	}
	s.Checks = AddOutcomes(s.Checks, from.Checks)
	if from.Stream != nil {
		s.CountStreams()
		s.Stream.Merge(from.Stream)
	}
}

// CountStreams has s count the events of streams.
func (s *Counters) CountStreams() {
	if s.Stream == nil {
		s.Stream = NewStreams()
	}
}

// Reset makes s empty, to be filled again.
func (s *Counters) Reset() {
	l, v, e := s.Latency, s.Service, s.ErrorLatency
	l.Reset()
	v.Reset()
	e.Reset()
	if s.IterationTime != nil {
		s.IterationTime.Reset()
	}
	if s.Stream != nil {
		s.Stream.Reset()
	}
	clear(s.Checks)
	*s = Counters{Latency: l, Service: v, ErrorLatency: e, IterationTime: s.IterationTime,
		Checks: s.Checks, Stream: s.Stream}
}

// ByStatus are the numbers of answers by status; nil if there were none.
func (s *Counters) ByStatus() (all map[uint16]int64) {
	for code, n := range s.Status {
		if n > 0 && all == nil {
			all = map[uint16]int64{}
		}
		if n > 0 {
			all[uint16(code)] = n
		}
	}
	return all
}
