package ring

import (
	"slices"
	"testing"
)

// A waiter has departures, by descriptor, and notes whom it has given up.
type waiter struct {
	has   map[int]bool
	given []int
}

func (w *waiter) stillDeparts(l departure) bool { return w.has[l.fd] }

func (w *waiter) closeLate(fd int) bool {
	delete(w.has, fd)
	w.given = append(w.given, fd)
	return false
}

// graceOf is what a ring has learned of its peers.
func graceOf(r Ring) *grace {
	switch r := r.(*poisoner).Ring.(type) {
	case *epoll:
		return &r.departures.grace
	case *uringRing:
		return &r.departures.grace
	default:
		return &r.(*portable).grace
	}
}

// TestDepartures has some that leave by themselves, and some that must be given up.
func TestDepartures(t *testing.T) {
	w := &waiter{has: map[int]bool{}}
	var q departures
	for fd := range 8 {
		q.addDeparture(departure{fd: fd, till: int64(10 * fd)})
		w.has[fd] = fd%3 > 0 // the others have left
	}
	for _, test := range []struct {
		now, next int64
		given     []int
	}{
		{5, 10, nil}, {10, 20, []int{1}}, {45, 50, []int{2, 4}}, {46, 50, nil},
		{1000, Never, []int{5, 7}}, {1001, Never, nil},
	} {
		w.given = nil
		if next := q.closeExpired(test.now, w); next != test.next || !slices.Equal(w.given, test.given) {
			t.Errorf("at %d: %v are given up, and next at %d; want %+v", test.now, w.given, next, test)
		}
	}
	if q.hasAny() {
		t.Errorf("%d are left", len(q.queue)-q.gone)
	}
	// While others come and leave at once the queue does not grow.
	for n := range int64(10 * departuresMost) {
		q.addDeparture(departure{fd: int(n), till: n})
		if q.closeExpired(n, w); len(q.queue) > 4 {
			t.Fatalf("%d in the queue, of which none waits", len(q.queue))
		}
	}
	for fd := range departuresMost {
		q.addDeparture(departure{fd: fd, till: Never})
	}
	if !q.isFull() {
		t.Error("it is never full")
	}
}
