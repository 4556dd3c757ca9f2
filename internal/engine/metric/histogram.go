// Package metric counts: the histogram, and the snapshot that carries one
// interval's measurements from a worker to every reader of them.
//
//	counters.go    what a worker counts in an interval
//	hdr.go         HdrHistogram's encoding
//	heat.go        counts in coarse buckets, for heat maps
//	histogram.go   the histogram: Record, quantiles
//	named.go       counters and histograms of scripts, by name, and how two lists of them add up
//	percentiles.go which percentiles a struct has
//	sparse.go      a histogram for seconds: only buckets that are not empty
//	streams.go     what a worker counts of events in an interval
//	sum.go         a sum of 128 bits
package metric

import (
	"errors"
	"math"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Histogram counts nanoseconds in the layout of HdrHistogram, from 1 ns to a little over an hour;
// longer values count as the longest. It never grows, so Record neither allocates nor fails. Merge
// loses nothing. Min, Max and Sum are exact, and Sum does not overflow; every other value is that
// of its bucket.
//
// Histogram only counts. hdrhistogram-go, the reference implementation, reads quantiles from the
// counts.
type Histogram struct {
	Count, Min, Max int64 // Min and Max are meaningless while Count is 0
	Sum             Sum

	digits int
	half   uint // log2 of the buckets in an octave
	counts []int64
	packed []byte // the buckets of one without counts, as in a Sparse: see Sparse.Histogram
}

// Longest is the largest value that is distinguished from larger ones, in nanoseconds.
const Longest = 1<<42 - 1

// Precision, in significant decimal digits: Fine for what results are judged by (264 kB a
// histogram), Coarse where there are many histograms (35 kB).
const (
	Coarse = 2
	Fine   = 3
)

// NewHistogram returns an empty histogram that distinguishes values to that number of significant
// digits.
func NewHistogram(digits int) *Histogram {
	half, buckets := bucketLayout(digits)
	return &Histogram{digits: digits, half: half, counts: make([]int64, buckets)}
}

// bucketLayout returns log2 of the buckets in an octave, and the number of all buckets.
func bucketLayout(digits int) (half uint, buckets int) {
	// HdrHistogram: the smallest power of two that is at least 2×10^digits.
	sub := uint(bits.Len(uint(2*math.Pow10(digits)) - 1))
	octaves := bits.Len64(Longest) - int(sub) + 1
	return sub - 1, (octaves + 1) << (sub - 1)
}

// Record counts v once.
func (h *Histogram) Record(v int64) {
	h.counts[h.bucketIndex(v)]++
	h.Sum.AddValue(v)
	if h.Count == 0 || v < h.Min {
		h.Min = v
	}
	if v > h.Max || h.Count == 0 {
		h.Max = v
	}
	h.Count++
}

// RecordMany counts v n times.
func (h *Histogram) RecordMany(v, n int64) {
	if n <= 0 {
		return
	}
	h.Record(v)
	h.counts[h.bucketIndex(v)] += n - 1
	h.Count, h.Sum = h.Count+n-1, h.Sum.Plus(nearestSum(float64(v)*float64(n-1)))
}

func (h *Histogram) bucketIndex(v int64) int {
	u := uint64(min(max(v, 0), Longest))
	octave := uint(bits.Len64(u >> (h.half + 1)))
	return int(uint64(octave)<<h.half + u>>octave)
}

// bucketValues is the least and the greatest value of a bucket.
func bucketValues(bucket int, half uint) (least, greatest int64) {
	octave := max(bucket>>half-1, 0)
	least = (int64(bucket) - int64(octave)<<half) << octave
	return least, least + 1<<octave - 1
}

// countsInRange is the buckets from that of the least value to that of the greatest, of a histogram
// that is not empty. In a second these are some hundreds of 33,792. Reading only these once a
// second takes microseconds of the load's CPU time, not a millisecond.
func (h *Histogram) countsInRange() []int64 {
	return h.counts[h.bucketIndex(h.Min) : h.bucketIndex(h.Max)+1]
}

// Merge adds the counts of from; nil has none. Both must have the same digits.
func (h *Histogram) Merge(from *Histogram) {
	if from == nil || from.Count == 0 {
		return
	}
	if from.counts == nil {
		h.MergeSparse(from.ToSparse())
		return
	}
	h.unpack()
	first := from.bucketIndex(from.Min)
	for i, n := range from.countsInRange() {
		h.counts[first+i] += n
	}
	if h.Count == 0 {
		h.Min, h.Max = from.Min, from.Max
	}
	h.Min, h.Max = min(h.Min, from.Min), max(h.Max, from.Max)
	h.Count, h.Sum = h.Count+from.Count, h.Sum.Plus(from.Sum)
}

// unpack gives h room for counts, if it has none: see Sparse.Histogram.
func (h *Histogram) unpack() {
	if h.counts == nil {
		h.counts = h.allCounts()
		h.packed = nil
	}
}

// allCounts are the counts of all buckets: a copy, if h is packed.
func (h *Histogram) allCounts() []int64 {
	if h.counts != nil {
		return h.counts
	}
	_, buckets := bucketLayout(h.digits)
	counts := make([]int64, buckets)
	for i, n := range (Sparse{packed: h.packed}).bucketCounts() {
		counts[i] = n
	}
	return counts
}

// Reset makes h empty.
func (h *Histogram) Reset() {
	if h.Count > 0 && h.counts != nil {
		clear(h.countsInRange())
	}
	h.packed = nil
	h.Count, h.Sum, h.Min, h.Max = 0, Sum{}, 0, 0
}

// Mean is the mean of the exact sum, in nanoseconds.
func (h *Histogram) Mean() float64 { return h.Sum.Float64() / float64(max(h.Count, 1)) }

// HDR is a copy of the counts in the type of hdrhistogram-go.
func (h *Histogram) HDR() *hdrhistogram.Histogram {
	return hdrhistogram.Import(&hdrhistogram.Snapshot{LowestTrackableValue: 1,
		HighestTrackableValue: Longest, SignificantFigures: int64(h.digits), Counts: h.allCounts()})
}

// errEnds is the fault of a least or greatest value that was not counted.
var errEnds = errors.New("its least or greatest value is not among those counted")

// SetExactValues sets what the buckets only approximate: the least and the greatest value, and the
// mean, in ns. It fails if the least or the greatest value is not in the first or the last bucket
// that is used.
func (h *Histogram) SetExactValues(least, greatest int64, mean float64) error {
	if h.Count == 0 {
		return nil
	}
	if h.bucketIndex(least) != h.bucketIndex(h.Min) ||
		h.bucketIndex(greatest) != h.bucketIndex(h.Max) {
		return errEnds
	}
	h.Min, h.Max, h.Sum = least, greatest, nearestSum(mean*float64(h.Count))
	return nil
}

// A View reads the counts as they were when it was made.
type View struct {
	hdr      *hdrhistogram.Histogram
	min, max int64
}

// View returns a view of h as it is now.
func (h *Histogram) View() View { return View{h.HDR(), h.Min, h.Max} }

// Quantile is the value, in nanoseconds, that a fraction q of the values did not exceed. It lies
// between the least and the greatest value.
func (v View) Quantile(q float64) int64 {
	return min(max(v.hdr.ValueAtQuantile(q*100), v.min), v.max)
}

// Stdev is the standard deviation, in nanoseconds.
func (v View) Stdev() float64 { return v.hdr.StdDev() }
