package metric

import (
	"errors"
	"fmt"
	"slices"
)

// A Streams is what was counted of the events of streams in an interval. Streams due in the
// measured window are counted, in the interval in which it happened to them.
type Streams struct {
	StreamCounts
	First   *Histogram // Fine; ns from due to the first arrival
	Service *Histogram // Fine; ns from sent to the first arrival
	Gap     *Histogram // Fine; ns between two arrivals of a stream, and the silence before it stalled
	Token   *Histogram // Coarse; ns a token, a value for each stream
	Events  *Histogram // Coarse; counted events of a stream
	Tokens  *Histogram // Coarse; tokens of a stream
	ReadLag *Histogram // Coarse; ns that bytes lay in the generator at most
}

// StreamCounts are the numbers of a Streams.
type StreamCounts struct {
	All        int64 `json:"events"`     // events with data
	Counted    int64 `json:"counted"`    // of those, the ones that are counted
	Arrivals   int64 `json:"arrivals"`   // instants at which counted events came
	KeepAlives int64 `json:"keepalives"` // comments, and events without data
	Told       int64 `json:"tokens"`     // tokens that the server has told of
	Untold     int64 `json:"untold"`     // complete streams of which it has told none
	Taken      int64 `json:"taken"`      // streams that their users have left

	Received       int64 `json:"received"`        // counted events of any stream, in the window
	ReceivedTokens int64 `json:"received_tokens"` // tokens of streams that ended in the window

	Stalled int64 `json:"stalled"` // streams that were given up after a silence
	Bunched int64 `json:"bunched"` // gaps of 38 to 46 ms: as delayed acknowledgements make

	Eventful int64     `json:"eventful"` // streams with a counted event
	Cut      int64     `json:"cut"`      // of those, not ended when the run did
	CutMost  int64     `json:"cut_most"` // ns: the longest of their silences at the end
	Cuts     [63]int64 `json:"cuts"`     // of Cut, by the logarithm of that silence
}

// streamDigits are the digits of the histograms of a Streams, in the order of histograms.
var streamDigits = [7]int{Fine, Fine, Fine, Coarse, Coarse, Coarse, Coarse}

// NewStreams returns a Streams of nothing.
func NewStreams() *Streams {
	s := &Streams{}
	for i, h := range s.places() {
		*h = NewHistogram(streamDigits[i])
	}
	return s
}

// places are where the histograms of s stand, in one order.
func (s *Streams) places() [7]**Histogram {
	return [...]**Histogram{&s.First, &s.Service, &s.Gap, &s.Token, &s.Events, &s.Tokens, &s.ReadLag}
}

// Merge adds from to s.
func (s *Streams) Merge(from *Streams) {
	s.AddCounts(&from.StreamCounts)
	other := from.places()
	for i, h := range s.places() {
		(*h).Merge(*other[i])
	}
}

// AddCounts adds from to c.
func (c *StreamCounts) AddCounts(from *StreamCounts) {
	c.All += from.All
	c.Counted += from.Counted
	c.Arrivals += from.Arrivals
	c.KeepAlives += from.KeepAlives
	c.Told += from.Told
	c.Untold += from.Untold
	c.Taken += from.Taken
	c.Received += from.Received
	c.ReceivedTokens += from.ReceivedTokens
	c.Stalled += from.Stalled
	c.Cut += from.Cut
	for i, n := range from.Cuts {
		c.Cuts[i] += n
	}
	c.CutMost = max(c.CutMost, from.CutMost)
	c.Eventful += from.Eventful
	c.Bunched += from.Bunched
}

// Gathered is the share, 0 to 1, of counted events that came together with another.
func (c *StreamCounts) Gathered() float64 {
	return 1 - float64(c.Arrivals)/max(float64(c.Counted), 1)
}

// Reset makes s empty, to be filled again.
func (s *Streams) Reset() {
	s.StreamCounts = StreamCounts{}
	for _, h := range s.places() {
		(*h).Reset()
	}
}

// A StreamsSparse is a copy of a Streams, small enough for each second of a run.
type StreamsSparse struct {
	StreamCounts
	Histograms [7]Sparse `json:"histograms"` // those of a Streams, in its order
}

// First is Streams.First.
func (s *StreamsSparse) First() Sparse { return s.Histograms[0] }

// Gap is Streams.Gap.
func (s *StreamsSparse) Gap() Sparse { return s.Histograms[2] }

// ToSparse returns a copy of s as it is now; nil of nil.
func (s *Streams) ToSparse() *StreamsSparse {
	if s == nil {
		return nil
	}
	c := &StreamsSparse{StreamCounts: s.StreamCounts}
	for i, h := range s.places() {
		c.Histograms[i] = (*h).ToSparse()
	}
	return c
}

// Streams is what s is a copy of; nil of nil.
func (s *StreamsSparse) Streams() *Streams {
	if s == nil {
		return nil
	}
	all := &Streams{StreamCounts: s.StreamCounts}
	for i, h := range all.places() {
		*h = s.Histograms[i].Histogram(streamDigits[i])
	}
	return all
}

// AddStreams is the sum of two, each of which may be nil.
func AddStreams(a, b *StreamsSparse) *StreamsSparse {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	sum := NewStreams()
	for _, s := range []*StreamsSparse{a, b} {
		sum.AddCounts(&s.StreamCounts)
		for i, h := range sum.places() {
			(*h).MergeSparse(s.Histograms[i])
		}
	}
	return sum.ToSparse()
}

// MemorySize is how many bytes of memory s uses, roughly.
func (s *StreamsSparse) MemorySize() int {
	if s == nil {
		return 0
	}
	n := 1 << 10
	for _, h := range s.Histograms {
		n += h.MemorySize()
	}
	return n
}

// Check returns why no generator can have counted s, of which no count may be above most.
func (s *StreamsSparse) Check(most int64) error {
	if s == nil {
		return nil
	}
	counts := append([]int64{s.All, s.Counted, s.Arrivals, s.KeepAlives, s.Told, s.Untold,
		s.Taken, s.Received, s.ReceivedTokens, s.Stalled, s.Bunched, s.Eventful, s.Cut}, s.Cuts[:]...)
	if slices.Min(counts) < 0 || slices.Max(counts) > most || s.CutMost < 0 {
		return fmt.Errorf("%d events of streams", slices.Max(counts))
	}
	for i, h := range s.Histograms {
		if !h.HasBuckets(streamDigits[i]) || h.Count > most {
			return errors.New("the histograms of its streams are of another kind")
		}
	}
	if first, gap := s.First(), s.Gap(); s.Arrivals > s.Counted ||
		first.Count != s.Eventful || gap.Count > s.Arrivals+s.Stalled {
		return fmt.Errorf("%d arrivals of %d events, with %d gaps", s.Arrivals, s.Counted, gap.Count)
	}
	return nil
}
