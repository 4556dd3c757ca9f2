package loadresult

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/metric"
)

// Limits of what a Together keeps while one generator is behind: intervals, and bytes of what they
// measured. A generator that is silent or sends nonsense must not fill the memory.
const (
	pendingMost  = 64
	pendingBytes = 32 << 20
)

// byPartMost is how many counts by part intervals have at most, about a megabyte of JSON: an hour
// of 36 generators, eleven minutes of 200. More intervals have none.
const byPartMost = 1 << 17

// unshownMost is how many intervals may wait to be shown. Each can have histograms of some hundred
// kilobytes.
const unshownMost = 256

// A Together adds up what generators count that load at once: the intervals that they tell one
// after the other, and at last the rest. An interval is shown once every generator that still
// measures has told its part. If one is more than 64 intervals behind, or 32 MiB wait for it, the
// oldest interval is shown without it, and its part is counted when it comes.
type Together struct {
	parts   []Tally
	done    []int // intervals measured by each generator; all, once it has ended
	pending map[int][]told
	next    int // those with a lower index were shown
	bytes   int // of pending

	seconds []Interval // that were shown, without distributions
	viewer  *Viewer
	scratch *metric.Histogram
}

// A told is an interval, and which generator's it is.
type told struct {
	Interval
	from int
}

// NewTogether returns the sum of n generators. It calls each with every interval: see Viewer. nil:
// nobody sees them. Close must be called at the end.
func NewTogether(n int, each func(Interval)) *Together {
	return &Together{parts: make([]Tally, n), done: make([]int, n), pending: map[int][]told{},
		viewer: NewViewer(unshownMost, each), scratch: metric.NewHistogram(metric.Fine)}
}

// Tally is what a generator has told so far.
func (t *Together) Tally(from int) *Tally { return &t.parts[from] }

// Add adds an interval of a generator, which must give them in order.
func (t *Together) Add(from int, iv Interval) {
	if iv.Index < 0 {
		return
	}
	t.parts[from].Add(iv, t.scratch)
	if t.done[from] != math.MaxInt {
		t.done[from] = iv.Index + 1
	}
	if iv.Index < t.next {
		t.addLate(from, iv)
		return
	}
	t.pending[iv.Index] = append(t.pending[iv.Index], told{iv, from})
	t.bytes += iv.memorySize()
	t.showComplete()
}

// End notes that a generator has ended: the others do not wait for it. What it still tells counts.
func (t *Together) End(from int) {
	t.done[from] = math.MaxInt
	t.showComplete()
}

// showComplete shows the intervals that are complete, and those that wait for too long.
func (t *Together) showComplete() {
	for len(t.pending) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(t.pending)))
		if first >= slices.Min(t.done) && len(t.pending) <= pendingMost && t.bytes <= pendingBytes {
			return
		}
		t.show(first)
	}
}

// show shows an interval, and keeps it for the result.
func (t *Together) show(index int) {
	var parts []Interval
	for _, p := range t.pending[index] {
		t.bytes -= p.memorySize()
		parts = append(parts, p.Interval)
	}
	sum := Sum(parts)
	t.viewer.Show(sum)
	t.keep(sum)
	for _, p := range t.pending[index] {
		t.countPart(len(t.seconds)-1, p.from, p.Completed)
	}
	delete(t.pending, index)
	t.next = index + 1
}

// keep keeps an interval without its distributions, which would take 40 MB for an hour, and without
// what the generators tell at their end.
func (t *Together) keep(iv Interval) {
	iv = iv.Kept()
	iv.Failures = nil
	t.seconds = append(t.seconds, iv)
}

// countPart notes what a part completed in an interval: the sum does not show which part was slow
// or stopped.
func (t *Together) countPart(at, from int, completed int64) {
	switch n := len(t.parts); {
	case n == 1 || t.seconds[0].ByPart == nil && at > 0:
		return
	case n*len(t.seconds) > byPartMost:
		for i := range t.seconds {
			t.seconds[i].ByPart = nil
		}
		return
	case t.seconds[at].ByPart == nil:
		t.seconds[at].ByPart = make([]*int64, n)
	}
	t.seconds[at].ByPart[from] = &completed
}

// addLate counts a part of an interval that was shown without it. Its percentiles are then unknown.
func (t *Together) addLate(from int, iv Interval) {
	at, known := slices.BinarySearchFunc(t.seconds, iv.Index, func(s Interval, index int) int {
		return cmp.Compare(s.Index, index)
	})
	if !known { // no other generator measured then
		t.keep(iv)
		late := t.seconds[len(t.seconds)-1]
		t.seconds = slices.Insert(t.seconds[:len(t.seconds)-1], at, late)
		t.countPart(at, from, iv.Completed)
		return
	}
	s := &t.seconds[at]
	switch all := s.Completed + iv.Completed; {
	case s.Completed == 0:
		s.LatencyTimes = iv.LatencyTimes
	case iv.Completed > 0:
		sum := s.Mean*float64(s.Completed) + iv.Mean*float64(iv.Completed)
		s.LatencyTimes = LatencyTimes{Mean: micros(1e3 * sum / float64(all)), Max: max(s.Max, iv.Max)}
	}
	s.Heat = s.Heat.Plus(iv.Heat)
	s.Status = maps.Clone(s.Status) // of the one that was shown
	s.Add(iv)
	s.Checks, s.Failures, s.Stream, s.StreamTimes = nil, nil, nil, StreamTimes{}
	t.countPart(at, from, iv.Completed)
}

// Close shows what is left to show. Nothing may be added afterwards.
func (t *Together) Close() {
	for from := range t.done {
		t.End(from)
	}
	t.viewer.Close()
}

// Complete sets what r, the result of a generator, lacks: it told that once a second.
func (t *Together) Complete(from int, r *Result) {
	if r.Total == nil {
		r.setIntervals(&t.parts[from])
	}
}

// Join is the result of what all generators told, after Close: their intervals, and at last a
// result each, with its plan, in the order of the generators.
func (t *Together) Join(last []*Result) (*Result, error) {
	for i, r := range last {
		t.Complete(i, r)
	}
	return Join(last, t.seconds)
}

// IntervalOf is what a generator's counters have of an interval.
func IntervalOf(s *metric.Counters) Interval {
	iv := Interval{
		Index: s.Interval, From: time.Duration(s.From), To: time.Duration(s.To),
		Sent: s.Sent, Completed: s.Completed, Failed: s.Failed, InFlight: s.InFlight,
		Received: s.Received, Written: s.Written, Status: s.ByStatus(),
		Iterations: s.Iterations, IterationsFailed: s.IterationsFailed,
		Latency: s.Latency.ToSparse(), Service: s.Service.ToSparse(), Checks: slices.Clone(s.Checks),
	}
	iv.EarlyCounts, iv.GoodCounts, iv.Bodies = s.EarlyCounts, s.GoodCounts, s.Bodies
	iv.ErrorLatency, iv.Stream = s.ErrorLatency.ToSparse(), s.Stream.ToSparse()
	if s.Stream != nil {
		iv.Events = s.Stream.Received
	}
	if s.IterationTime != nil {
		iv.IterationTime = s.IterationTime.ToSparse()
	}
	iv.Measure()
	return iv
}

// Kept is an interval without its distributions, which would take 40 MB for an hour (see
// metric.Sparse).
func (iv Interval) Kept() Interval {
	iv.Latency, iv.Service, iv.ErrorLatency = metric.Sparse{}, metric.Sparse{}, metric.Sparse{}
	iv.IterationTime, iv.Checks, iv.Stream = metric.Sparse{}, nil, nil
	return iv
}

// memorySize is roughly how many bytes of memory an interval takes.
func (iv *Interval) memorySize() int {
	const each = 128 // bytes of each entry of a map or slice, roughly
	n := iv.Latency.MemorySize() + iv.Service.MemorySize() + iv.ErrorLatency.MemorySize() +
		iv.IterationTime.MemorySize() + iv.Stream.MemorySize() + 16*len(iv.Checks) +
		each*(1+len(iv.Failures)+len(iv.Status)) + 16*len(iv.Heat)
	for _, f := range iv.Failures {
		n += f.MemorySize()
	}
	return n
}

// MemorySize is roughly how many bytes of memory a failure takes in addition to itself.
func (f *Failure) MemorySize() int {
	const remedy, unfinished = 32, 96 // bytes of one without its texts
	n := len(f.Phase) + len(f.Kind) + len(f.Address) + len(f.Detail)
	if f.Unfinished != nil {
		n += unfinished
	}
	for _, r := range f.Remedies {
		n += remedy + len(r.Setting) + len(r.Value)
	}
	return n
}

// Sum adds up the intervals of several generators. Its percentiles are those of all requests that
// they completed.
func Sum(parts []Interval) Interval {
	sum := parts[0]
	if len(parts) == 1 {
		return sum
	}
	sum.Status, sum.Checks = nil, slices.Clone(parts[0].Checks)
	sum.addStatuses(parts[0])
	latency, service := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	errors, iterations := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	latency.MergeSparse(sum.Latency)
	service.MergeSparse(sum.Served())
	errors.MergeSparse(sum.ErrorLatency)
	iterations.MergeSparse(sum.IterationTime)
	differ := sum.Service.Count > 0
	for _, part := range parts[1:] {
		sum.Add(part)
		sum.Stream = metric.AddStreams(sum.Stream, part.Stream)
		latency.MergeSparse(part.Latency)
		service.MergeSparse(part.Served())
		errors.MergeSparse(part.ErrorLatency)
		iterations.MergeSparse(part.IterationTime)
		differ = differ || part.Service.Count > 0
	}
	if sum.Latency = latency.ToSparse(); differ {
		sum.Service = service.ToSparse()
	}
	sum.ErrorLatency, sum.IterationTime = errors.ToSparse(), iterations.ToSparse()
	sum.Measure()
	return sum
}

// Served is the service time of completed requests, also where it equals latency.
func (iv *Interval) Served() metric.Sparse {
	if iv.Service.Count == 0 {
		return iv.Latency
	}
	return iv.Service
}

// Measure sets what an interval shows of its latencies: mean, percentiles, maximum and Heat; and of
// its streams.
func (iv *Interval) Measure() {
	iv.StreamTimes = timesOf(iv.Stream)
	iv.LatencyTimes, iv.Heat = LatencyTimes{}, nil
	if iv.Latency.Count == 0 {
		return
	}
	iv.Mean, iv.Max = micros(iv.Latency.Mean()), micros(float64(iv.Latency.Max))
	for _, p := range metric.Percentiles(&iv.LatencyTimes) {
		*p.Value = micros(float64(iv.Latency.Quantile(p.Percent / 100)))
	}
	iv.Heat = iv.Latency.ToHeat()
}

// micros converts ns to µs, of whole nanoseconds.
func micros(ns float64) float64 { return math.Trunc(ns) / 1e3 }

// Add adds the counts of another interval. It does not merge distributions: see Sum.
func (iv *Interval) Add(part Interval) {
	iv.From, iv.To = min(iv.From, part.From), max(iv.To, part.To)
	iv.Sent += part.Sent
	iv.Completed += part.Completed
	iv.Failed += part.Failed
	iv.InFlight += part.InFlight
	iv.AddEarly(part.EarlyCounts)
	iv.AddGood(part.GoodCounts)
	iv.Iterations += part.Iterations
	iv.IterationsFailed += part.IterationsFailed
	iv.Events += part.Events
	iv.Checks = metric.AddOutcomes(iv.Checks, part.Checks)
	iv.Received += part.Received
	iv.Written += part.Written
	iv.Bodies += part.Bodies
	iv.addStatuses(part)
	iv.Failures = mergeFailures(iv.Failures, part.Failures)
	iv.Busy, iv.LagMax = max(iv.Busy, part.Busy), max(iv.LagMax, part.LagMax)
}

func (iv *Interval) addStatuses(part Interval) {
	for code, n := range part.Status {
		if iv.Status == nil {
			iv.Status = map[uint16]int64{}
		}
		iv.Status[code] += n
	}
}
