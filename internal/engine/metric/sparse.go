package metric

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"iter"
)

// A Sparse is a copy of a Histogram without its empty buckets, small enough to keep one for each
// second of a run. The zero value is empty. It is read only, so copies share their memory.
//
// A bucket takes two bytes, rarely three or four: its distance from the last one and its count, as
// varints. There are at most as many buckets as values. If answers spread over a factor of ten, a
// second of 1,000 takes 2 kB, of 5,000 5 kB, of 20,000 7 kB and of a million 11 kB; an hour of such
// seconds takes 6, 19, 25 and 40 MB.
type Sparse struct {
	Count, Min, Max int64 // as of Histogram
	Sum             Sum

	half   uint
	packed []byte
}

// ToSparse returns a copy of h as it is now.
func (h *Histogram) ToSparse() Sparse {
	s := Sparse{Count: h.Count, Sum: h.Sum, Min: h.Min, Max: h.Max, half: h.half}
	if h.Count == 0 || h.counts == nil {
		s.packed = h.packed
		return s
	}
	first, last := h.bucketIndex(h.Min), 0
	room := make([]byte, 0, 4096) // enough for the usual second, on the stack
	for i, n := range h.countsInRange() {
		if n > 0 {
			room = binary.AppendUvarint(room, uint64(first+i-last))
			room = binary.AppendUvarint(room, uint64(n))
			last = first + i
		}
	}
	s.packed = append(make([]byte, 0, len(room)), room...)
	return s
}

// Mean is the mean of the exact sum, in nanoseconds.
func (s Sparse) Mean() float64 { return s.Sum.Float64() / float64(max(s.Count, 1)) }

// HasBuckets reports whether s has the buckets of that many digits, or is empty.
func (s Sparse) HasBuckets(digits int) bool {
	half, _ := bucketLayout(digits)
	return s.Count == 0 || s.half == half
}

// MemorySize is how many bytes of memory s uses in addition to itself.
func (s Sparse) MemorySize() int { return cap(s.packed) }

// bucketCounts yields the buckets that are not empty, with their counts, in ascending order.
func (s Sparse) bucketCounts() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		bucket := 0
		for rest := s.packed; len(rest) > 0; {
			skip, used := binary.Uvarint(rest)
			n, more := binary.Uvarint(rest[used:])
			rest = rest[used+more:]
			bucket += int(skip)
			if !yield(bucket, int64(n)) {
				return
			}
		}
	}
}

// ValueCounts yields the values that were counted and how often each, in ascending order. A value
// is the largest of its bucket, as in View.Quantile.
func (s Sparse) ValueCounts() iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		for i, n := range s.bucketCounts() {
			if _, greatest := bucketValues(i, s.half); !yield(greatest, n) {
				return
			}
		}
	}
}

// Quantile returns the same as View.Quantile. It takes microseconds, where a View copies all
// buckets.
func (s Sparse) Quantile(q float64) int64 {
	rank, below := max(int64(q*float64(s.Count)+0.5), 1), int64(0)
	for v, n := range s.ValueCounts() {
		if below += n; below >= rank {
			return min(max(v, s.Min), s.Max)
		}
	}
	return s.Max
}

// Histogram returns the counts of s, which have those digits. It takes no more memory than s until
// more is added to it, and records nothing before.
func (s Sparse) Histogram(digits int) *Histogram {
	half, _ := bucketLayout(digits)
	return &Histogram{Count: s.Count, Min: s.Min, Max: s.Max, Sum: s.Sum, digits: digits, half: half,
		packed: s.packed}
}

// MergeSparse adds the counts of s. Both must have the same digits, see HasBuckets.
func (h *Histogram) MergeSparse(s Sparse) {
	if s.Count == 0 {
		return
	}
	if s.half != h.half {
		panic("metric: the buckets of two histograms differ")
	}
	h.unpack()
	for i, n := range s.bucketCounts() {
		h.counts[i] += n
	}
	if h.Count == 0 {
		h.Min, h.Max = s.Min, s.Max
	}
	h.Min, h.Max = min(h.Min, s.Min), max(h.Max, s.Max)
	h.Count, h.Sum = h.Count+s.Count, h.Sum.Plus(s.Sum)
}

// SumOf is the sum of two copies, either of which may be empty. h is scratch space: a new histogram
// for each sum would keep the garbage collector busy.
func (h *Histogram) SumOf(a, b Sparse) Sparse {
	switch {
	case a.Count == 0:
		return b
	case b.Count == 0:
		return a
	}
	h.Reset()
	h.MergeSparse(a)
	h.MergeSparse(b)
	return h.ToSparse()
}

// sparseJSON is the form of a Sparse between processes.
type sparseJSON struct {
	Count   int64  `json:"count"`
	Sum     Sum    `json:"sum"`
	Min     int64  `json:"min"`
	Max     int64  `json:"max"`
	Digits  int    `json:"digits,omitempty"`
	Buckets []byte `json:"buckets,omitempty"`
}

// MarshalJSON writes s for another process, with the buckets in base64.
func (s Sparse) MarshalJSON() ([]byte, error) {
	j := sparseJSON{Count: s.Count, Sum: s.Sum, Min: s.Min, Max: s.Max, Buckets: s.packed}
	for _, digits := range []int{Coarse, Fine} {
		if half, _ := bucketLayout(digits); s.Count > 0 && half == s.half {
			j.Digits = digits
		}
	}
	return json.Marshal(j)
}

// MarshalJSON writes h for another process, as a Sparse.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	j := sparseJSON{Digits: h.digits}
	if s := h.ToSparse(); s.Count > 0 {
		j = sparseJSON{s.Count, s.Sum, s.Min, s.Max, h.digits, s.packed}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote, as Sparse.UnmarshalJSON does. h takes as little
// memory as a Sparse: another process can claim any number of histograms.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var s Sparse
	var j struct{ Digits int }
	if err := cmp.Or(s.UnmarshalJSON(b), json.Unmarshal(b, &j)); err != nil {
		return err
	}
	if j.Digits != Coarse && j.Digits != Fine {
		return errSparse
	}
	*h = *s.Histogram(j.Digits)
	return nil
}

// Digits are the significant digits of h: Coarse or Fine.
func (h *Histogram) Digits() int { return h.digits }

// errSparse is the fault of buckets that no histogram has.
var errSparse = errors.New("a damaged histogram")

// UnmarshalJSON reads what MarshalJSON wrote, and rejects what no histogram can have counted.
func (s *Sparse) UnmarshalJSON(b []byte) error {
	var j sparseJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*s = Sparse{}
	if j.Count == 0 {
		return nil
	}
	if j.Digits != Coarse && j.Digits != Fine {
		return errSparse
	}
	half, buckets := bucketLayout(j.Digits)
	if j.Count < 0 || j.Min > j.Max || !j.hasValidMean() ||
		!packedMatches(j.Buckets, buckets, j.Count) {
		return errSparse
	}
	*s = Sparse{Count: j.Count, Sum: j.Sum, Min: j.Min, Max: j.Max, half: half, packed: j.Buckets}
	if h := (&Histogram{half: half}); !s.spansBuckets(h.bucketIndex(j.Min), h.bucketIndex(j.Max)) {
		*s = Sparse{}
		return errSparse
	}
	return nil
}

// hasValidMean reports whether the mean lies between the least and the greatest value.
func (j *sparseJSON) hasValidMean() bool {
	return j.Sum.subtract(multiply(j.Min, j.Count)).high >= 0 &&
		multiply(j.Max, j.Count).subtract(j.Sum).high >= 0
}

// spansBuckets reports whether from is the lowest bucket of s and to the highest.
func (s Sparse) spansBuckets(from, to int) bool {
	lowest, highest := -1, -1
	for i := range s.bucketCounts() {
		if lowest < 0 {
			lowest = i
		}
		highest = i
	}
	return lowest == from && highest == to
}

// packedMatches reports whether packed has ascending buckets below that number, with count values
// in all.
func packedMatches(packed []byte, buckets int, count int64) bool {
	bucket := uint64(0)
	for first := true; len(packed) > 0; first = false {
		skip, used := binary.Uvarint(packed)
		if used <= 0 {
			return false
		}
		n, more := binary.Uvarint(packed[used:])
		last := uint64(buckets - 1)
		if more <= 0 || skip > last-bucket || skip == 0 && !first || n == 0 || n > uint64(count) {
			return false
		}
		bucket += skip
		count -= int64(n)
		packed = packed[used+more:]
	}
	return count == 0
}
