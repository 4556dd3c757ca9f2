package unanswered

import (
	"reflect"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result/durations"
)

const (
	s  = 1e6 // µs
	ns = 1e9 // of a second
)

// A server that starves some of its users never has the percentiles of the others alone: a slot that
// waited counts as many requests as the others had answers in that time, on average.
func TestHeldSlotsInPercentiles(t *testing.T) {
	for _, c := range []struct {
		slots                int
		held, answers, count int64
	}{{8, 0, 1000, 0}, {8, 1, 700, 100}, {8, 3, 1000, 600}, {16, 12, 400, 1200}, {4, 4, 0, 0}, {4, 3, 1, 3}} {
		l := Load{Planned: true, Drained: 1 * s, Window: 2 * s, Slots: c.slots, Answers: c.answers,
			Waits: loadresult.Unanswered{{After: 2 * ns, Slots: c.held * 2 * ns}}}
		latency, service, first := l.Bounds()
		if latency[0] != (durations.Bound{US: 2 * s, Count: c.count}) || service[0] != latency[0] || first[0] != latency[0] {
			t.Errorf("%+v: %v, %v, %v", c, latency, service, first)
		}
	}
}

// Of 8 slots 3 wait for 12 s, in requests that are given up after 10 s and then in others that have no
// answer at the end. Nobody knows how long the others of an interrupted load would have waited.
func TestBounds(t *testing.T) {
	closed := Load{Planned: true, Drained: 2 * s, Window: 12 * s, Slots: 8, Answers: 60_000, Unfinished: 4,
		Waits: loadresult.Unanswered{{After: 10 * ns, Requests: 3, Slots: 36 * ns}, {Requests: 4, Begun: 1}}}
	open, interrupted, older := closed, closed, closed
	open.Open, open.Waiting, open.Waits = true, 50, loadresult.Unanswered{{After: 10 * ns, Requests: 7, Begun: 2}, {Requests: 4}}
	interrupted.Planned = false
	older.Waits = nil
	type bounds = []durations.Bound
	for name, c := range map[string]struct {
		l                           Load
		latency, service, firstByte bounds
	}{
		"closed": {closed, bounds{{US: 10 * s, Count: 36_000}, {US: 2 * s, Count: 4}}, bounds{{US: 10 * s, Count: 36_000},
			{US: 2 * s, Count: 4}}, bounds{{US: 10 * s, Count: 36_000}, {US: 2 * s, Count: 3}}},
		"open": {open, bounds{{US: 10 * s, Count: 7}, {US: 2 * s, Count: 54}}, bounds{{US: 10 * s, Count: 7}},
			bounds{{US: 10 * s, Count: 5}}},
		"interrupted": {interrupted, bounds{{US: 10 * s, Count: 36_000}}, bounds{{US: 10 * s, Count: 36_000}},
			bounds{{US: 10 * s, Count: 36_000}}},
		"without a list": {older, bounds{{US: 2 * s, Count: 4}}, bounds{{US: 2 * s, Count: 4}}, bounds{{US: 2 * s, Count: 4}}},
	} {
		for i, got := range func() [3]bounds { a, b, c := c.l.Bounds(); return [3]bounds{a, b, c} }() {
			sum := map[float64]int64{}
			for _, b := range got {
				sum[b.US] += b.Count
			}
			want := map[float64]int64{}
			for _, b := range []bounds{c.latency, c.service, c.firstByte}[i] {
				want[b.US] = b.Count
			}
			if !reflect.DeepEqual(sum, want) {
				t.Errorf("%s, %d: %v, want %v", name, i, sum, want)
			}
		}
	}
}

// A route has its share of what all are.
func TestBoundsOfARoute(t *testing.T) {
	l := Load{Planned: true, Drained: 2 * s, Window: 12 * s, Slots: 8, Answers: 60_000, Unfinished: 4,
		Waits: loadresult.Unanswered{{After: 10 * ns, Requests: 4, Slots: 36 * ns}, {Requests: 4}}}
	got := l.RouteBounds(loadresult.Unanswered{{Requests: 1}, {After: 10 * ns, Requests: 3}, {After: ns, Requests: 9}})
	if want := []durations.Bound{{US: 10 * s, Count: 27_000}, {US: 2 * s, Count: 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
