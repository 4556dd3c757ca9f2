package metric

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// What a Sparse gives back is what was counted, to the last bucket.
func TestSparseLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, digits := range []int{Coarse, Fine} {
		for _, values := range [][]int64{nil, {0}, {-5, 0, 7}, {Longest * 4, Longest}, drawn(r, 10_000)} {
			h, back := NewHistogram(digits), NewHistogram(digits)
			back.Record(1) // and it adds to what is there
			h.Record(1)
			for _, v := range values {
				h.Record(v)
			}
			only := NewHistogram(digits)
			for _, v := range values {
				only.Record(v)
			}
			back.MergeSparse(only.ToSparse())
			if back.Count != h.Count || back.Sum != h.Sum || back.Min != h.Min || back.Max != h.Max ||
				!slices.Equal(back.counts, h.counts) {
				t.Errorf("%d digits, %d values: %d counted, sum %d, %d to %d; want %d, %d, %d to %d", digits,
					len(values), back.Count, back.Sum, back.Min, back.Max, h.Count, h.Sum, h.Min, h.Max)
			}
		}
	}
}

// Values are those that HdrHistogram has for the same counts.
func TestSparseValues(t *testing.T) {
	h := NewHistogram(Fine)
	for _, v := range drawn(rand.New(rand.NewPCG(5, 6)), 5000) {
		h.Record(v)
	}
	hdr, below := h.HDR(), int64(0)
	for v, n := range h.ToSparse().ValueCounts() {
		below += n
		if q := hdr.ValueAtQuantile(100 * float64(below) / float64(h.Count)); q != v {
			t.Fatalf("value %d of %d is %d, HdrHistogram's %d", below, h.Count, v, q)
		}
	}
	if below != h.Count {
		t.Errorf("%d values, want %d", below, h.Count)
	}
}

// A quantile is that of a View of the same counts.
func TestSparseQuantile(t *testing.T) {
	for _, values := range [][]int64{nil, {-5}, {0, 7}, {3, 3, 9}, {Longest * 4, 1},
		drawn(rand.New(rand.NewPCG(5, 7)), 5000)} {
		h := NewHistogram(Fine)
		for _, v := range values {
			h.Record(v)
		}
		s, v := h.ToSparse(), h.View()
		for _, q := range []float64{0.001, 0.5, 0.9, 0.99, 0.999, 1} {
			if got, want := s.Quantile(q), v.Quantile(q); got != want {
				t.Errorf("%d values: the %v-quantile is %d, a View's %d", len(values), q, got, want)
			}
		}
		if got, want := s.Mean(), h.Mean(); got != want {
			t.Errorf("%d values: the mean is %v, the histogram's %v", len(values), got, want)
		}
	}
}

// The figures of the doc comment.
func TestSparseIsSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct{ answers, most int }{{1000, 2000}, {5000, 5500}, {20_000, 7200}, {1_000_000, 11_500}} {
		h := NewHistogram(Fine)
		for range c.answers {
			h.Record(int64(100e3 * math.Pow(10, r.Float64())))
		}
		if size := h.ToSparse().MemorySize(); size > c.most || size < c.most*3/4 {
			t.Errorf("%d answers take %d bytes, want at most %d", c.answers, size, c.most)
		}
	}
}

// drawn are n values of all sizes.
func drawn(r *rand.Rand, n int) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = r.Int64N(1 << (1 + i%42))
	}
	return all
}

// Between processes nothing is lost either.
func TestSparseJSON(t *testing.T) {
	for _, digits := range []int{Coarse, Fine} {
		for _, values := range [][]int64{nil, {0}, drawn(rand.New(rand.NewPCG(9, 1)), 2000)} {
			h, back := NewHistogram(digits), NewHistogram(digits)
			for _, v := range values {
				h.Record(v)
			}
			b, err := json.Marshal(h.ToSparse())
			if err != nil {
				t.Fatal(err)
			}
			var s Sparse
			if err := json.Unmarshal(b, &s); err != nil {
				t.Fatal(err)
			}
			back.MergeSparse(s)
			if back.Count != h.Count || back.Sum != h.Sum || !slices.Equal(back.counts, h.counts) {
				t.Errorf("%d digits, %d values: %d came back", digits, len(values), back.Count)
			}
		}
	}
}

// A Sparse whose least or greatest is in no bucket of its, or not in its last, would leave
// counts behind in a histogram that is made empty.
func TestSparseJSONRefusesEnds(t *testing.T) {
	h := NewHistogram(Fine)
	h.Record(1000)
	h.Record(5000)
	for _, ends := range [][2]int64{{1000, 5000}, {1000, 4000}, {900, 5000}, {0, 1 << 40}} {
		s := h.ToSparse()
		s.Min, s.Max = ends[0], ends[1]
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Sparse
		err = json.Unmarshal(b, &back)
		if honest := ends == [2]int64{1000, 5000}; (err == nil) != honest || !honest && back.Count != 0 {
			t.Errorf("from %d to %d: %v, %d values", ends[0], ends[1], err, back.Count)
		}
	}
}

// Whatever another process sends, what is taken can be added.
func FuzzSparseJSON(f *testing.F) {
	h := NewHistogram(Fine)
	h.Record(1)
	h.Record(1 << 40)
	good, err := json.Marshal(h.ToSparse())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, s := range []string{`{"count":1,"digits":3}`, `{"count":1,"digits":3,"buckets":"AAE="}`,
		`{"count":1,"digits":3,"buckets":"gA=="}`, `{"count":1,"digits":3,"buckets":"/////w8B"}`,
		`{"count":-1,"digits":3,"buckets":"AP///////////wE="}`,
		`{"count":2,"digits":3,"buckets":"AQEAAQ=="}`, `{"count":-1,"digits":2,"buckets":"AQE="}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Sparse
		if json.Unmarshal(b, &s) != nil || s.Count == 0 {
			return
		}
		digits := map[uint]int{7: Coarse, 10: Fine}[s.half]
		h := NewHistogram(digits)
		h.MergeSparse(s)
		var all, last int64 = 0, -1
		for v, n := range s.ValueCounts() {
			if v <= last || n < 1 {
				t.Fatalf("%d after %d, %d times", v, last, n)
			}
			all, last = all+n, v
		}
		if all != s.Count {
			t.Errorf("%d values, and %d in the buckets", s.Count, all)
		}
		if h.Reset(); slices.Max(h.counts) != 0 {
			t.Error("counts were left behind")
		}
	})
}

// Streams add up as copies as they do whole, also between processes; what cannot be is refused.
func TestStreamsSparse(t *testing.T) {
	var sum *StreamsSparse
	whole := NewStreams()
	for i := range int64(3) {
		s := NewStreams()
		s.All, s.Counted, s.Arrivals, s.Eventful, s.CutMost = 10*i, 9*i, 8*i, i, i
		for k := range i {
			for at, h := range s.places() {
				(*h).Record(1000*k + int64(at))
			}
		}
		whole.Merge(s)
		b, err := json.Marshal(s.ToSparse())
		if err != nil {
			t.Fatal(err)
		}
		var copied *StreamsSparse
		if err := json.Unmarshal(b, &copied); err != nil {
			t.Fatal(err)
		}
		sum = AddStreams(sum, copied)
	}
	if got := sum.Streams(); got.StreamCounts != whole.StreamCounts {
		t.Errorf("%+v, want %+v", got.StreamCounts, whole.StreamCounts)
	}
	all := whole.places()
	for i, h := range sum.Streams().places() {
		if (*h).Count != (*all[i]).Count || (*h).EncodeHDR() != (*all[i]).EncodeHDR() {
			t.Errorf("histogram %d: %d values, want %d", i, (*h).Count, (*all[i]).Count)
		}
	}
	if err := sum.Check(1 << 40); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(s *StreamsSparse){
		"below 0":    func(s *StreamsSparse) { s.Cuts[3] = -1 },
		"too many":   func(s *StreamsSparse) { s.All = 1 << 41 },
		"arrivals":   func(s *StreamsSparse) { s.Arrivals = s.Counted + 1 },
		"firsts":     func(s *StreamsSparse) { s.Eventful++ },
		"histograms": func(s *StreamsSparse) { s.Histograms[0] = s.Histograms[3] },
	} {
		wrong := *sum
		if change(&wrong); wrong.Check(1<<40) == nil {
			t.Errorf("%s: nothing is wrong with %+v", name, wrong.StreamCounts)
		}
	}
	if (*StreamsSparse)(nil).Check(0) != nil || (*Streams)(nil).ToSparse() != nil || AddStreams(nil, sum) != sum {
		t.Error("no streams are something")
	}
}
