package metric

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The layout is HdrHistogram's: the same values recorded by both give the same
// counts, so that any HdrHistogram tool reads what Encode writes.
func TestLayoutIsHdrHistograms(t *testing.T) {
	for _, digits := range []int{Coarse, Fine} {
		ours, theirs := NewHistogram(digits), hdrhistogram.New(1, Longest, digits)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 200_000 {
			v := r.Int64N(1 << (1 + i%42))
			ours.Record(v)
			if err := theirs.RecordValue(v); err != nil {
				t.Fatal(v, err)
			}
		}
		back, err := hdrhistogram.Decode([]byte(ours.EncodeHDR()))
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []float64{0, 1, 25, 50, 90, 99, 99.9, 99.99, 100} {
			a, b := back.ValueAtQuantile(q), theirs.ValueAtQuantile(q)
			if a != b {
				t.Errorf("%d digits, p%v: %d, HdrHistogram %d", digits, q, a, b)
			}
		}
		if back.TotalCount() != theirs.TotalCount() {
			t.Errorf("%d values, HdrHistogram %d", back.TotalCount(), theirs.TotalCount())
		}
	}
}

// What others say of a histogram's ends holds within its buckets only.
func TestExact(t *testing.T) {
	for _, c := range []struct {
		least, greatest int64
		ok              bool
	}{{1_000_001, 5_000_001, true}, {1_000_001, 4_000_000, false}, {900_000, 5_000_001, false},
		{5_000_001, 1_000_001, false}, {0, Longest, false}} {
		h := NewHistogram(Fine)
		h.Record(1_000_000)
		h.Record(5_000_000)
		if err := h.SetExactValues(c.least, c.greatest, 3_000_001); (err == nil) != c.ok {
			t.Errorf("%d to %d: %v", c.least, c.greatest, err)
		}
		both := NewHistogram(Fine)
		if both.Merge(h); both.Count != 2 || both.counts[both.bucketIndex(1_000_000)] != 1 ||
			both.counts[both.bucketIndex(5_000_000)] != 1 {
			t.Errorf("%d to %d: counts were lost", c.least, c.greatest)
		}
		if both.Reset(); slices.Max(both.counts) != 0 {
			t.Errorf("%d to %d: counts were left behind", c.least, c.greatest)
		}
	}
}

func TestExtremes(t *testing.T) {
	h := NewHistogram(Fine)
	for _, v := range []int64{-5, 0, 1, Longest, Longest * 4} {
		h.Record(v)
	}
	if h.Count != 5 || h.Min != -5 || h.Max != Longest*4 {
		t.Errorf("count %d, min %d, max %d", h.Count, h.Min, h.Max)
	}
	if q := h.View().Quantile(0.5); q != 1 {
		t.Errorf("median %d, want 1", q)
	}
	both := NewHistogram(Fine)
	if both.Merge(h); !slices.Equal(both.counts, h.counts) {
		t.Error("the sum with an empty one has other counts")
	}
	if h.Reset(); slices.Max(h.counts) != 0 {
		t.Error("counts were left behind")
	}
}

func TestAddIsRecordingBoth(t *testing.T) {
	a, b, both := NewCounters(), NewCounters(), NewCounters()
	for i := range int64(1000) {
		for _, s := range []*Counters{a, both} {
			s.Latency.Record(i * 1000)
			s.Status[200]++
		}
		for _, s := range []*Counters{b, both} {
			s.Latency.Record(i * 777)
			s.Completed++
		}
	}
	a.Merge(b)
	if a.Completed != both.Completed || a.Status != both.Status {
		t.Error("counters differ")
	}
	l, w := a.Latency.View(), both.Latency.View()
	for _, q := range []float64{0.1, 0.5, 0.99, 1} {
		if l.Quantile(q) != w.Quantile(q) {
			t.Errorf("p%v: %d, want %d", q*100, l.Quantile(q), w.Quantile(q))
		}
	}
	a.Reset()
	if a.Latency.Count != 0 || a.Completed != 0 || a.Latency.View().Quantile(1) != 0 {
		t.Error("Reset left something")
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	h, v := NewHistogram(Fine), int64(1)
	if n := testing.AllocsPerRun(1000, func() { h.Record(v); v = v*3 + 1 }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	h, v := NewHistogram(Fine), int64(1)
	for b.Loop() {
		h.Record(v & (1<<24 - 1))
		v += 7919
	}
}

// Of a snapshot without service time it is latency, whichever is added to the other.
func TestServiceTimeOfSome(t *testing.T) {
	for _, turned := range []bool{false, true} {
		a, b := NewCounters(), NewCounters()
		a.Latency.Record(10)
		a.Latency.Record(20)
		b.Latency.Record(500)
		b.Service.Record(5)
		if turned {
			a, b = b, a
		}
		a.Merge(b)
		if l, s := a.Latency, a.Service; l.Count != 3 || l.Sum.Float64() != 530 || s.Count != 3 || s.Sum.Float64() != 35 ||
			s.Max != 20 || s.Min != 5 {
			t.Errorf("turned %v: latency %d, %d; service time %d, %d, from %d to %d", turned, l.Count, l.Sum,
				s.Count, s.Sum, s.Min, s.Max)
		}
		a.Merge(NewCounters())
		if a.Service.Count != 3 {
			t.Errorf("an empty one changes it: %d", a.Service.Count)
		}
	}
}

// What other machines name costs no more than they counted, and adds up.
func TestNamedTakesLittle(t *testing.T) {
	var all []Named
	var before, after runtime.MemStats
	runtime.GC() // what other tests have left is no part of it
	runtime.ReadMemStats(&before)
	for machine := range int64(3) {
		var more []Named
		h := NewHistogram(Fine)
		h.Record(machine * 1e6)
		for i := range 300 {
			more = append(more, Named{Name: fmt.Sprintf("%03d", i), Histogram: h.ToSparse().Histogram(Fine)})
		}
		all = AddNamed(all, more)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 8<<20 {
		t.Errorf("%d names take %d KB", len(all), used>>10)
	}
	for _, one := range all {
		if h := one.Histogram; h.Count != 3 || h.View().Quantile(1) != 2e6 || h.Max != 2e6 {
			t.Fatalf("%s: %+v", one.Name, h)
		}
	}
	if len(all) != 300 {
		t.Errorf("%d names", len(all))
	}
}
