package unanswered

import (
	"reflect"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
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

// What was never sent counts for how long it had been due, if the server ended the load; otherwise, if
// at all, for as long as the drain.
func TestBoundsOfWaited(t *testing.T) {
	by := [63]int64{}
	by[20], by[31] = 3, 4 // 1.05 ms, 2.15 s
	l := Load{Open: true, Waiting: 7, Waited: Waited(by), Drained: 1 * s}
	got, service, first := l.Bounds()
	if want := []durations.Bound{{US: 1048.576, Count: 3}, {US: 2147483.648, Count: 4}}; !reflect.DeepEqual(got, want) || len(service)+len(first) > 0 {
		t.Errorf("%v, %v, %v", got, service, first)
	}
	h := metric.NewHistogram(metric.Fine)
	h.RecordMany(2e6, 93)
	if d := durations.New(h).WithUnanswered(got...); d.IsOver(93) || d.P90 != 2000 || !d.IsOver(95) || d.P95 != 2000 || d.P99 != 2147483.648 {
		t.Errorf("%+v", d) // p95 is of the seven: over 2.00 ms, that of those answered
	}
	if got := l.Missing(93); got != (fact.AnswersMissing{Count: 7, Of: 100, By: fact.WhenGone}) {
		t.Error(got)
	}
	l.Planned = true
	latency, _, _ := l.Bounds()
	if len(latency) != 2 || latency[1] != (durations.Bound{US: 1 * s, Count: 7}) {
		t.Error(latency)
	}
	if l = (Load{Open: true, Waiting: 7}); l.Missing(93) != (fact.AnswersMissing{}) { // interrupted
		t.Error(l.Missing(93))
	}
	for i := range by {
		by[i] = 1 // as many as there can be
	}
	if all := Waited(by); len(all) != 8 || durations.CheckBounds(all, 63) != nil || durations.CheckBounds(all, 62) == nil {
		t.Error(all)
	}
}
