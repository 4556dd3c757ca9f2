package reqlog

import (
	"sync"
	"testing"
)

// Each line arrives once, in the order of its thread, or is counted as lost.
func TestEachLineArrivesOnce(t *testing.T) {
	const n = 500_000
	l := New(1)
	var adding sync.WaitGroup
	for thread := range 2 {
		r := l.Ring(thread)
		adding.Go(func() {
			for i := range n {
				r.Add(Line{Due: int64(i), Thread: int32(thread)})
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		adding.Wait()
		close(ended)
	}()
	last, got := [2]int64{-1, -1}, int64(0)
	take := func(line Line) {
		if line.Due <= last[line.Thread] {
			t.Errorf("%d after %d", line.Due, last[line.Thread])
		}
		last[line.Thread] = line.Due
		got++
	}
	for {
		select {
		case <-ended:
			if lost := l.Drain(take); got+lost != 2*n {
				t.Errorf("%d arrived and %d were lost of %d", got, lost, 2*n)
			}
			return
		default:
			l.Drain(take)
		}
	}
}

// A full ring loses what comes, keeps what it has, and takes more when there is room.
func TestFullRing(t *testing.T) {
	l := New(1)
	r := l.Ring(0)
	for i := range ringSize + 10 {
		r.Add(Line{Due: int64(i)})
	}
	n := 0
	if lost := l.Drain(func(line Line) { n++ }); lost != 10 || n != ringSize {
		t.Errorf("%d lines, %d lost", n, lost)
	}
	r.Add(Line{Due: 7})
	l.Drain(func(line Line) { n = int(line.Due) })
	if n != 7 {
		t.Errorf("then %d", n)
	}
}

// A share of the requests is drawn at random, and adding allocates nothing.
func TestShareAndAllocations(t *testing.T) {
	l := New(0.1)
	r := l.Ring(0)
	for range 10_000 {
		r.Add(Line{})
	}
	n := 0
	l.Drain(func(Line) { n++ })
	if n < 800 || n > 1200 { // the coin has a seed: always the same number
		t.Errorf("%d of 10,000", n)
	}
	if allocated := testing.AllocsPerRun(1000, func() { r.Add(Line{}) }); allocated > 0 {
		t.Errorf("%v allocations a line", allocated)
	}
}

// BenchmarkAdd is what a line costs the thread that adds it.
func BenchmarkAdd(b *testing.B) {
	l := New(1)
	r := l.Ring(0)
	for i := 0; b.Loop(); i++ {
		if r.Add(Line{Due: int64(i)}); i%ringSize == 0 {
			r.taken.Store(r.added.Load())
		}
	}
}
