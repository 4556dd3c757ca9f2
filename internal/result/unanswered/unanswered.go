// Package unanswered finds what the waits of a load for answers that did not come are as latency.
// How long they would have taken is not known, but that it is longer than what was waited for.
package unanswered

import (
	"math"
	"slices"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result/durations"
)

// A Load is what is known of a load, or of a part of one.
type Load struct {
	Open    bool
	Planned bool    // it went on until its planned end, and the drain too
	Drained float64 // µs
	Window  float64 // its length, in µs
	Slots   int
	Answers int64 // to requests of the window

	Unfinished int64             // requests that had no answer at the end of the drain
	Waiting    int64             // that were due and never sent
	Waited     []durations.Bound // of Waiting: see Waited
	Waits      loadresult.Unanswered
}

// Bounds are what requests without an answer are known to have exceeded. The service time of an
// open workload, and its first byte, do not count what had no answer at the end of the drain: some
// of that was sent late in the drain.
func (l Load) Bounds() (latency, service, firstByte []durations.Bound) {
	for _, w := range l.waits() {
		b := l.bound(w, max(w.Requests, l.wouldAsk(w.Slots)))
		latency = append(latency, b)
		if w.After == 0 && l.Open {
			continue
		}
		service = append(service, b)
		b.Count = max(w.Requests-w.Begun, l.wouldAsk(w.Slots-w.SlotsBegun))
		firstByte = append(firstByte, b)
	}
	if l.Planned {
		latency = append(latency, durations.Bound{US: l.Drained, Count: l.Waiting})
	} else {
		latency = append(latency, l.Waited...)
	}
	return latency, service, firstByte
}

// FirstEventBounds are what the first events of streams are known to have exceeded that had none.
func (l Load) FirstEventBounds() (all []durations.Bound) {
	for _, w := range l.waits() {
		all = append(all, l.bound(w, max(w.Requests-w.Eventful, l.wouldAsk(w.Slots-w.SlotsBegun))))
	}
	if l.Planned {
		return append(all, durations.Bound{US: l.Drained, Count: l.Waiting})
	}
	return append(all, l.Waited...)
}

// Waited are the bounds of requests that were due and never sent when the server ended the load, as
// loadresult.WaitingTotals has them. Else a server that goes away would have the latency of what it
// answered before. What waits when a user interrupts the load says nothing of the server, and is in
// no percentile.
func Waited(by [63]int64) []durations.Bound {
	var all []durations.Bound
	for i, n := range by {
		all = append(all, durations.Bound{US: float64(int64(1)<<i) / 1e3, Count: n})
	}
	return durations.Together(all...)
}

// RouteBounds are the bounds of latency of a route, of whose requests these had no answer. Each
// counts as many times as in Bounds.
func (l Load) RouteBounds(of loadresult.Unanswered) (all []durations.Bound) {
	for _, w := range l.waits() {
		for _, x := range of {
			if x.After != w.After || w.Requests == 0 {
				continue
			}
			n := float64(max(w.Requests, l.wouldAsk(w.Slots))) / float64(w.Requests)
			all = append(all, l.bound(x, int64(n*float64(x.Requests))))
		}
	}
	return all
}

// Requests is how many requests had no answer, and the least timeout of those that were given up,
// in µs; 0 if none was.
func (l Load) Requests() (n int64, timeout float64) {
	for _, w := range l.waits() {
		n += w.Requests
		if us := float64(w.After) / 1e3; us > 0 && w.Requests > 0 && (timeout == 0 || us < timeout) {
			timeout = us
		}
	}
	if l.Planned {
		return n + l.Waiting, timeout
	}
	for _, b := range l.Waited {
		n += b.Count
	}
	return n, timeout
}

// Missing is how many of the requests, of which so many were sent, had no answer; the zero value if
// all had one.
func (l Load) Missing(sent int64) fact.AnswersMissing {
	if share := l.SlotShare(); share > 0 {
		return fact.AnswersMissing{Waited: 100 * share}
	}
	n, timeout := l.Requests()
	a := fact.AnswersMissing{Count: n, Of: sent + l.Waiting, By: fact.ByDrain, DeadlineUS: l.Drained}
	switch {
	case n == 0:
		return fact.AnswersMissing{}
	case timeout > 0:
		a.By, a.DeadlineUS = fact.ByTimeout, timeout
	case !l.Planned:
		a.By, a.DeadlineUS = fact.WhenGone, 0
	}
	return a
}

// SlotShare is the share of the window, 0 to 1, that slots waited for answers that did not come.
func (l Load) SlotShare() float64 {
	var all int64
	for _, w := range l.Waits {
		all += w.Slots
	}
	return float64(all) / max(float64(l.Slots)*l.Window*1e3, 1)
}

// bound is that of n waits such as w.
func (l Load) bound(w loadresult.Wait, n int64) durations.Bound {
	if w.After == 0 {
		return durations.Bound{US: l.Drained, Count: n}
	}
	return durations.Bound{US: float64(w.After) / 1e3, Count: n}
}

// waits are Waits, with those of Unfinished in any case. If the load did not end as planned, it is
// not known how long these waited.
func (l Load) waits() loadresult.Unanswered {
	isEnd := func(w loadresult.Wait) bool { return w.After == 0 }
	all := slices.Clone(l.Waits)
	if !l.Planned {
		return slices.DeleteFunc(all, isEnd)
	}
	if !slices.ContainsFunc(all, isEnd) {
		all = append(all, loadresult.Wait{Requests: l.Unfinished})
	}
	return all
}

// wouldAsk is how many requests slots would have sent that waited for so many ns of the window: as
// many as the others had answers in that time, on average. A server that starves some of its users
// would otherwise have the percentiles of the others.
func (l Load) wouldAsk(waited int64) int64 {
	all := float64(l.Slots) * l.Window * 1e3
	others := all * (1 - l.SlotShare())
	if waited <= 0 || others <= 0 {
		return 0
	}
	return int64(math.Round(float64(l.Answers) * min(float64(waited)/others, float64(l.Slots))))
}
