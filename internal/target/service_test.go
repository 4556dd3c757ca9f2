package target

import (
	"math"
	"slices"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

func TestConstantQueue(t *testing.T) {
	for _, e := range []struct {
		name          string
		workers       int
		arrivals      []int64
		starts, ends  []int64
		stall         string
		serviceMillis string
	}{
		{name: "alone", workers: 1, serviceMillis: "5ms",
			arrivals: []int64{0, 10, 100}, starts: []int64{0, 10, 100}, ends: []int64{5, 15, 105}},
		{name: "one server", workers: 1, serviceMillis: "5ms",
			arrivals: []int64{0, 1, 1, 14, 30}, starts: []int64{0, 5, 10, 15, 30},
			ends: []int64{5, 10, 15, 20, 35}},
		{name: "two servers", workers: 2, serviceMillis: "5ms",
			arrivals: []int64{0, 1, 2, 3, 4, 20}, starts: []int64{0, 1, 5, 6, 10, 20},
			ends: []int64{5, 6, 10, 11, 15, 25}},
		{name: "three at once", workers: 3, serviceMillis: "4ms",
			arrivals: []int64{0, 0, 0, 0}, starts: []int64{0, 0, 0, 4},
			ends: []int64{4, 4, 4, 8}},
		{name: "through a stall", workers: 1, serviceMillis: "6ms", stall: "10ms/40ms",
			arrivals: []int64{0, 17, 18, 30}, starts: []int64{0, 17, 33, 39},
			ends: []int64{6, 33, 39, 45}},
	} {
		c := Config{Workers: e.workers, Service: "constant:" + e.serviceMillis, Stall: e.stall}
		s := newSite(c)
		s.arriveAt(1) // instants are never 0, so the first is 1 ns
		var starts, ends []int64
		for _, at := range e.arrivals {
			start, end := s.enqueue(at*ms + 1)
			starts, ends = append(starts, (start-1)/ms), append(ends, (end-1)/ms)
		}
		if !slices.Equal(starts, e.starts) || !slices.Equal(ends, e.ends) {
			t.Errorf("%s: begins at %v, ends at %v; want %v, %v",
				e.name, starts, ends, e.starts, e.ends)
		}
	}
}

func TestExponentialQueue(t *testing.T) {
	draw := func(seed uint64) []int64 {
		s, err := parseService("exponential:2ms")
		if err != nil {
			t.Fatal(err)
		}
		q := newQueue(1, s, seed)
		times := make([]int64, 100_000)
		for i := range times {
			_, times[i] = q.scheduleArrival(0)
		}
		return times
	}
	a, b, c := draw(1), draw(1), draw(2)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("the same seed, and it alone, must give the same times")
	}
	var sum, above float64
	for _, d := range a {
		sum += float64(d)
		if d > 2*ms {
			above++
		}
	}
	n := float64(len(a))
	if mean := sum / n / float64(ms); math.Abs(mean-2) > 0.03 {
		t.Errorf("mean %v ms, want 2", mean)
	}
	if p := above / n; math.Abs(p-1/math.E) > 0.006 {
		t.Errorf("%v of the times above the mean, want 1/e", p)
	}
}

func TestStall(t *testing.T) {
	s, err := parseStall("1s/10s")
	if err != nil {
		t.Fatal(err)
	}
	const sec = int64(time.Second)
	for _, e := range []struct{ at, until int64 }{
		{0, 0}, {5*sec - 1, 5*sec - 1}, {5 * sec, 6 * sec}, {6*sec - 1, 6 * sec}, {6 * sec, 6 * sec},
		{15*sec - 1, 15*sec - 1}, {15 * sec, 16 * sec}, {16 * sec, 16 * sec}, {105 * sec, 106 * sec},
		{-1, -1},
	} {
		if got := s.endOf(e.at); got != e.until {
			t.Errorf("at %d: until %d, want %d", e.at, got, e.until)
		}
	}
	for _, e := range []struct{ at, work, done int64 }{
		{0, sec, sec}, {0, 5 * sec, 5 * sec}, {0, 5*sec + 1, 6*sec + 1}, {5 * sec, 1, 6*sec + 1},
		{4 * sec, 3 * sec, 8 * sec}, {6 * sec, 9 * sec, 15 * sec}, {6 * sec, 9*sec + 1, 16*sec + 1},
		{4 * sec, 10 * sec, 15 * sec}, {0, 32*sec + 1, 36*sec + 1}, {0, 5*sec + 9*sec*1000, 10005 * sec},
	} {
		if got := s.workEnd(e.at, e.work); got != e.done {
			t.Errorf("%d of work begun at %d: done at %d, want %d", e.work, e.at, got, e.done)
		}
	}
	if none := (stall{}); none.endOf(7) != 7 || none.workEnd(7, 8) != 15 {
		t.Error("without a stall time passes")
	}
}
