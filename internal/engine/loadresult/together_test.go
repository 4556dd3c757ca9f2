package loadresult

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"dyno/internal/engine/metric"
)

// What generators completed in a second has the percentiles of one that counted all of
// it, and what they told stays as it was.
func TestSum(t *testing.T) {
	whole := metric.NewHistogram(metric.Fine)
	var parts []Interval
	for i := range int64(3) {
		h := metric.NewHistogram(metric.Fine)
		for v := range 100 * (i + 1) {
			h.Record((v + 1) * 1000)
			whole.Record((v + 1) * 1000)
		}
		parts = append(parts, Interval{Index: 4, From: 4 * time.Second, To: 5*time.Second + time.Duration(i),
			Completed: h.Count, Latency: h.ToSparse(), Status: map[uint16]int64{200: h.Count}})
	}
	sum := Sum(parts)
	if !reflect.DeepEqual(sum.Latency, whole.ToSparse()) || !slices.Equal(sum.Heat, whole.ToSparse().ToHeat()) {
		t.Errorf("latency %+v, want %+v", sum.Latency, whole.ToSparse())
	}
	v := whole.View()
	if sum.P50 != time.Duration(v.Quantile(0.5)) || sum.P99 != time.Duration(v.Quantile(0.99)) ||
		sum.Max != time.Duration(whole.Max) || sum.Mean != time.Duration(whole.Mean()) {
		t.Errorf("p50 %v, p99 %v, max %v, mean %v", sum.P50, sum.P99, sum.Max, sum.Mean)
	}
	if sum.Service.Count != 0 || sum.Served().Count != 600 {
		t.Errorf("%d of service time, which is latency", sum.Service.Count)
	}
	short := metric.NewHistogram(metric.Fine)
	short.Record(1)
	some := Sum([]Interval{parts[0], {Completed: 1, Latency: parts[0].Latency, Service: short.ToSparse()}})
	if some.Service.Count != 101 || some.Service.Sum != parts[0].Latency.Sum.Plus(nanoseconds(1)) {
		t.Errorf("service time of a part that has it and one that has not: %+v", some.Service)
	}
	if sum.Completed != 600 || sum.Status[200] != 600 || sum.To != 5*time.Second+2 || sum.Index != 4 {
		t.Errorf("%+v", sum)
	}
	if parts[0].Status[200] != 100 || parts[0].Completed != 100 {
		t.Errorf("a part is now %+v", parts[0])
	}
}

// A second is told of when all that still measure have ended it.
func TestTogether(t *testing.T) {
	var got []int64
	interval := Together(2, func(iv Interval) { got = append(got, iv.Completed) })
	at := func(i int, n int64) *Interval { return &Interval{Index: i, Completed: n} }
	for _, step := range []struct {
		from int
		iv   *Interval
		want []int64
	}{
		{0, at(0, 1), nil},
		{0, at(1, 2), nil},
		{1, at(0, 10), []int64{11}},
		{1, nil, []int64{11, 2}},
		{0, at(2, 3), []int64{11, 2, 3}},
		{0, nil, []int64{11, 2, 3}},
	} {
		if interval(step.from, step.iv); !slices.Equal(got, step.want) {
			t.Errorf("%+v: %v, want %v", step, got, step.want)
		}
	}
}

// A generator that says nothing, or is far behind, keeps the others' intervals waiting only up to
// a number and a size; what it says of those too late is not shown, and none is shown twice.
func TestTogetherWaitsForSoMuch(t *testing.T) {
	h := metric.NewHistogram(metric.Fine)
	for v := range int64(30_000) {
		h.Record(v * v)
	}
	large := h.ToSparse()
	for name, c := range map[string]struct {
		latency metric.Sparse
		least   int // shown of 1000 without the silent one
		most    int
	}{"in number": {metric.Sparse{}, 1000 - pendingMost, 1000 - pendingMost},
		"in bytes": {large, 1000 - pendingBytes/large.MemorySize() - 1, 999}} {
		var shown []int
		tell := Together(2, func(iv Interval) { shown = append(shown, iv.Index) })
		for i := range 1000 {
			tell(0, &Interval{Index: i, Latency: c.latency})
		}
		if n := len(shown); n < c.least || n > c.most {
			t.Errorf("%s: %d of 1000 were shown while one was silent, want %d to %d", name, n, c.least, c.most)
		}
		for i := range 1000 {
			tell(1, &Interval{Index: i, Latency: c.latency})
		}
		tell(0, nil)
		tell(1, nil)
		if len(shown) != 1000 || !slices.IsSorted(shown) || shown[999] != 999 {
			t.Errorf("%s: shown at last: %d, the last %v", name, len(shown), shown[max(len(shown)-3, 0):])
		}
	}
	tell := Together(2, func(iv Interval) { t.Errorf("%d is shown", iv.Index) })
	tell(0, &Interval{Index: -1})
	tell(1, &Interval{Index: -1})
}

// nanoseconds is a sum of latencies that is known.
func nanoseconds(n int64) (s metric.Sum) {
	s.AddValue(n)
	return s
}
