package metric

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"iter"
)

// A Sparse is what a Histogram had counted, without the buckets that were
// empty: to keep one for each second of a run. The zero value is an empty one.
// It is read only, so copies share what they hold.
//
// A bucket takes two bytes, rarely three or four: its distance from the last
// and its count, as varints. There are at most as many as values. Of answers that
// spread over a factor of ten, a second of 1,000 takes 2 kB, of 5,000 5 kB, of
// 20,000 7 kB and of a million 11 kB; an hour of such seconds 6, 19, 25 and 40 MB.
type Sparse struct {
	Count, Min, Max int64 // as of Histogram
	Sum             Sum

	half   uint
	packed []byte
}

// Sparse is a copy of h as it is now.
func (h *Histogram) Sparse() Sparse {
	s := Sparse{Count: h.Count, Sum: h.Sum, Min: h.Min, Max: h.Max, half: h.half}
	if h.Count == 0 {
		return s
	}
	first, last := h.bucketIndex(h.Min), 0
	room := make([]byte, 0, 4096) // of the usual second: on the stack
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
func (s Sparse) Mean() float64 { return s.Sum.Float() / float64(max(s.Count, 1)) }

// Finely reports whether s tells values apart as Fine does, or is empty.
func (s Sparse) Finely() bool {
	half, _ := bucketLayout(Fine)
	return s.Count == 0 || s.half == half
}

// Size is how many bytes of memory s holds besides itself.
func (s Sparse) Size() int { return cap(s.packed) }

// buckets are those that are not empty, and their counts, in ascending order.
func (s Sparse) buckets() iter.Seq2[int, int64] {
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

// Values are the values that were counted and how often each, in ascending
// order: as View.Quantile has them, the largest of each bucket.
func (s Sparse) Values() iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		for i, n := range s.buckets() {
			octave := max(i>>s.half-1, 0)
			top := (int64(i)-int64(octave)<<s.half+1)<<octave - 1
			if !yield(top, n) {
				return
			}
		}
	}
}

// Quantile is as that of a View, and takes microseconds: a View has copied all buckets.
func (s Sparse) Quantile(q float64) int64 {
	rank, below := max(int64(q*float64(s.Count)+0.5), 1), int64(0)
	for v, n := range s.Values() {
		if below += n; below >= rank {
			return min(max(v, s.Min), s.Max)
		}
	}
	return s.Max
}

// AddSparse counts all that s holds. Both must have the same digits, see Finely.
func (h *Histogram) AddSparse(s Sparse) {
	if s.Count == 0 {
		return
	}
	if s.half != h.half {
		panic("metric: the buckets of two histograms differ")
	}
	for i, n := range s.buckets() {
		h.counts[i] += n
	}
	if h.Count == 0 {
		h.Min, h.Max = s.Min, s.Max
	}
	h.Min, h.Max = min(h.Min, s.Min), max(h.Max, s.Max)
	h.Count, h.Sum = h.Count+s.Count, h.Sum.Plus(s.Sum)
}

// sparseJSON is a Sparse between processes.
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

// errSparse is the fault of buckets that no histogram has.
var errSparse = errors.New("a damaged histogram")

// UnmarshalJSON reads what MarshalJSON wrote, and refuses what no histogram can
// have counted.
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
	if j.Count < 0 || j.Min > j.Max || !j.hasMean() || !packedMatches(j.Buckets, buckets, j.Count) {
		return errSparse
	}
	*s = Sparse{Count: j.Count, Sum: j.Sum, Min: j.Min, Max: j.Max, half: half, packed: j.Buckets}
	if h := (&Histogram{half: half}); !s.between(h.bucketIndex(j.Min), h.bucketIndex(j.Max)) {
		*s = Sparse{}
		return errSparse
	}
	return nil
}

// hasMean reports whether the mean lies between the least and the greatest.
func (j *sparseJSON) hasMean() bool {
	return j.Sum.subtract(product(j.Min, j.Count)).high >= 0 &&
		product(j.Max, j.Count).subtract(j.Sum).high >= 0
}

// between reports whether s's lowest bucket is from and its highest is to.
func (s Sparse) between(from, to int) bool {
	lowest, highest := -1, -1
	for i := range s.buckets() {
		if lowest < 0 {
			lowest = i
		}
		highest = i
	}
	return lowest == from && highest == to
}

// packedMatches reports whether packed are some of so many buckets, ascending, with count values.
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
