package loadresult

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/fact"
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
			Completed: h.Count, Latency: h.ToSparse(), Status: map[uint16]int64{200: h.Count},
			Failures: []Failure{{Phase: Read, Kind: "reset", Count: 5}, {Phase: Timeout, Kind: "total", Count: 10 * i}},
			Checks:   []metric.Outcomes{{Passed: 1}}})
	}
	sum := Sum(parts)
	if !reflect.DeepEqual(sum.Latency, whole.ToSparse()) || !slices.Equal(sum.Heat, whole.ToSparse().ToHeat()) {
		t.Errorf("latency %+v, want %+v", sum.Latency, whole.ToSparse())
	}
	v := whole.View()
	if sum.P50 != micros(float64(v.Quantile(0.5))) || sum.P99 != micros(float64(v.Quantile(0.99))) ||
		sum.Max != micros(float64(whole.Max)) || sum.Mean != micros(whole.Mean()) {
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
	if f := sum.Failures; len(f) != 2 || f[0].Count != 30 || f[1].Count != 15 || sum.Checks[0].Passed != 3 {
		t.Errorf("%+v, %+v", f, sum.Checks)
	}
	if f := parts[0].Failures; f[0].Kind != "reset" || f[0].Count != 5 || f[1].Count != 0 || parts[0].Status[200] != 100 ||
		parts[0].Completed != 100 || parts[0].Checks[0].Passed != 1 {
		t.Errorf("a part is now %+v", parts[0])
	}
}

// together is the sum of n generators, and the intervals that it has shown so far.
func together(n int) (*Together, func() []Interval) {
	shown := make(chan Interval, 4096)
	t := NewTogether(n, func(iv Interval) { shown <- iv })
	var all []Interval
	return t, func() []Interval {
		for len(all) < len(t.seconds) { // each is shown soon
			all = append(all, <-shown)
		}
		return all
	}
}

// A second is told of when all that still measure have ended it, and counts in full.
func TestTogether(t *testing.T) {
	sum, shown := together(2)
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
		{1, at(2, 4), []int64{11, 2, 3}}, // of one that was taken for ended
		{1, at(5, 1), []int64{11, 2, 3}},
		{0, at(6, 1), []int64{11, 2, 3, 1, 1}},
		{0, nil, []int64{11, 2, 3, 1, 1}},
	} {
		if step.iv == nil {
			sum.End(step.from)
		} else {
			sum.Add(step.from, *step.iv)
		}
		var got []int64
		for _, iv := range shown() {
			got = append(got, iv.Completed)
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%+v: %v, want %v", step, got, step.want)
		}
	}
	var got []int64
	for _, iv := range sum.seconds {
		got = append(got, iv.Completed)
	}
	if want := []int64{11, 2, 7, 1, 1}; !slices.Equal(got, want) || *sum.seconds[2].ByPart[1] != 4 || sum.seconds[1].ByPart[1] != nil {
		t.Errorf("kept %v, want %v", got, want)
	}
	if a, b := sum.Tally(0), sum.Tally(1); a.Completed != 7 || b.Completed != 15 || a.Count != 4 || b.Next != 6 {
		t.Errorf("%+v %+v", a, b)
	}
	sum.Close()
}

// A generator that says nothing, or is far behind, keeps the others' intervals waiting only up to
// a number and a size; what it says of those too late is not shown, and counted. Their percentiles
// are then unknown.
func TestTogetherWaitsForSoMuch(t *testing.T) {
	h := metric.NewHistogram(metric.Fine)
	for v := range int64(30_000) {
		h.Record(v * v)
	}
	large := h.ToSparse()
	for name, c := range map[string]struct {
		latency metric.Sparse
		n       int
		least   int // shown of n without the silent one
		most    int
	}{"in number": {metric.Sparse{}, 200, 200 - pendingMost, 200 - pendingMost},
		"in bytes": {large, 60, 60 - pendingBytes/large.MemorySize() - 1, 59}} {
		if large.MemorySize() < pendingBytes/59 && name == "in bytes" {
			c.n = pendingMost
			c.least = 0
		}
		sum, shown := together(2)
		add := func(from, i int) {
			iv := Interval{Index: i, Completed: c.latency.Count, Latency: c.latency}
			iv.Measure()
			sum.Add(from, iv)
		}
		for i := range c.n {
			add(0, i)
		}
		early := len(shown())
		if early < c.least || early > c.most {
			t.Errorf("%s: %d of %d were shown while one was silent, want %d to %d", name, early, c.n, c.least, c.most)
		}
		for i := range c.n {
			add(1, i)
		}
		sum.Close()
		if got := shown(); len(got) != c.n || got[c.n-1].Index != c.n-1 || len(sum.seconds) != c.n {
			t.Errorf("%s: shown at last: %d", name, len(got))
		}
		for i, s := range sum.seconds {
			if late := i < early; s.Index != i || s.Completed != 2*c.latency.Count || (s.P99 == 0) != (late || c.latency.Count == 0) ||
				c.latency.Count > 0 && (s.Mean != micros(large.Mean()) || len(s.Heat) == 0) {
				t.Errorf("%s: second %d: %+v", name, i, s)
			}
		}
	}
	sum, shown := together(2)
	sum.Add(0, Interval{Index: -1})
	sum.Close()
	if len(shown()) != 0 {
		t.Error("a second before the first is shown")
	}
}

// Whoever watches and is stopped sees fewer intervals, and they add up to what was counted.
func TestViewerLosesNothing(t *testing.T) {
	for _, n := range []int{1, 3, 4, 10} {
		stopped, all := make(chan bool), metric.NewHistogram(metric.Fine)
		var seen []Interval
		v := NewViewer(2, func(iv Interval) { <-stopped; seen = append(seen, iv) })
		for i := range n {
			h := metric.NewHistogram(metric.Fine)
			h.Record(int64(i) * 1000)
			all.Merge(h)
			v.Show(Interval{Index: i, From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second, Sent: 2, Completed: 1,
				Failed: 1, InFlight: int64(i), Latency: h.ToSparse(), Status: map[uint16]int64{200: 1},
				Failures: []Failure{{Phase: Read, Kind: "reset", Count: 1}}})
		}
		close(stopped)
		v.Close()
		var sum Tally
		for i, iv := range seen {
			if i > 0 && iv.From != seen[i-1].To || iv.Index != int(iv.To/time.Second)-1 || iv.InFlight != int64(iv.Index) {
				t.Errorf("of %d: interval %d from %v to %v, %d in flight", n, iv.Index, iv.From, iv.To, iv.InFlight)
			}
			sum.Add(iv, metric.NewHistogram(metric.Fine))
		}
		if sum.Sent != int64(2*n) || sum.Completed != int64(n) || sum.Failed != int64(n) || sum.Status[200] != int64(n) ||
			sum.Failures[0].Count != int64(n) || !reflect.DeepEqual(sum.Latency, all.ToSparse()) || sum.To != time.Duration(n)*time.Second {
			t.Errorf("of %d: %+v", n, sum)
		}
		if len(seen) > 4 { // one is seen, two wait, one has the others
			t.Errorf("of %d: %d are shown", n, len(seen))
		}
	}
	none := NewViewer(2, nil)
	none.Show(Interval{})
	none.Close()
}

// What an interval costs has the remedies of its failures.
func TestMemoryOfRemedies(t *testing.T) {
	iv := Interval{Failures: []Failure{{Remedies: slices.Repeat([]fact.Remedy{{Setting: strings.Repeat("x", 100)}}, 50)}}}
	if n := iv.memorySize(); n < 5000 {
		t.Errorf("%d bytes", n)
	}
}

// A sum has how much each part completed in an interval, unless that is too much to keep.
func TestByPart(t *testing.T) {
	const n = 1000
	sum := NewTogether(n, nil)
	for i := range byPartMost/n + 1 {
		if i > 0 && len(sum.seconds[0].ByPart) != n {
			t.Fatalf("%d seconds: %d counts", i, len(sum.seconds[0].ByPart))
		}
		sum.Add(0, Interval{Index: i, Completed: 1})
		for from := 1; i == 0 && from < n; from++ {
			sum.End(from)
		}
	}
	if sum.seconds[0].ByPart != nil || sum.seconds[byPartMost/n].ByPart != nil {
		t.Error("all is kept")
	}
	sum.Close()
}

// nanoseconds is a sum of latencies that is known.
func nanoseconds(n int64) (s metric.Sum) {
	s.AddValue(n)
	return s
}
