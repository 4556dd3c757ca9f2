package load

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A health is what a worker reports of an interval besides its counters: what failed, and how busy
// and late the worker itself was.
type health struct {
	failures failures
	busy     float64 // share of the time in which there was something to do
	lag      int64   // open workload: the longest send lag; ns
}

// takeHealth returns the health since its last call, and begins anew. The caller owns the failures
// (nil if there are none); the account continues with an empty map. idle is the worker's idle time
// in ns since the run began.
func (a *account) takeHealth(now, idle int64) health {
	h := health{busy: a.meter.busySince(now, idle), lag: a.lag}
	a.lag = 0
	if len(a.errors) > 0 {
		h.failures, a.errors = a.errors, failures{}
	}
	return h
}

// addHealth adds the health of another worker in the same interval.
func (h *health) addHealth(from health) {
	if len(from.failures) > 0 && h.failures == nil {
		h.failures = failures{}
	}
	h.failures.addCounts(from.failures)
	h.busy, h.lag = max(h.busy, from.busy), max(h.lag, from.lag)
}

// writeTo sets the health fields of the interval.
func (h health) writeTo(iv *Interval) {
	iv.Failures, iv.Busy, iv.LagMax = h.failures.byFrequency(), h.busy, time.Duration(h.lag)
}

// addCounts adds failures that were counted elsewhere.
func (f failures) addCounts(from failures) {
	for key, more := range from {
		if known := f[key]; known != nil {
			known.Count += more.Count
			continue
		}
		first := *more
		f[key] = &first
	}
}

// byFrequency returns all failures, the most frequent first, and consequences (Behind) last.
func (f failures) byFrequency() []Failure {
	if len(f) == 0 {
		return nil
	}
	all := make([]Failure, 0, len(f))
	for known := range maps.Values(f) {
		all = append(all, *known)
	}
	slices.SortFunc(all, compareFrequency)
	return all
}

func compareFrequency(a, b Failure) int {
	if behind := a.Kind == Behind; behind != (b.Kind == Behind) {
		if behind {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Phase, b.Phase),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Address, b.Address),
		cmp.Compare(a.Detail, b.Detail))
}

// A way is what failures that are counted together have in common. Answers that are errors are
// counted apart by their status.
type way struct {
	phase                 Phase
	kind, address, status string
}

func (f Failure) way() way {
	w := way{phase: f.Phase, kind: f.Kind, address: f.Address}
	if f.Phase == Expect {
		w.status = f.Detail
	}
	return w
}

// mergeFailures merges the failures of two intervals, or of two parts of one.
func mergeFailures(to, from []Failure) []Failure {
	if len(from) == 0 {
		return to
	}
	place := make(map[way]int, len(to)+len(from))
	for i, f := range to {
		place[f.way()] = i
	}
	for _, f := range from {
		if i, known := place[f.way()]; known {
			to[i].Count += f.Count
			continue
		}
		place[f.way()] = len(to)
		to = append(to, f)
	}
	slices.SortStableFunc(to, compareFrequency)
	return to
}

// OtherWays is the kind of failures that were not kept apart: see Fewer.
const OtherWays = "(others)"

// Fewer keeps the first failures, at most that many. It counts the others as one of each phase, of
// kind OtherWays; those come last.
func Fewer(all []Failure, most int) []Failure {
	if len(all) <= most {
		return all
	}
	kept, others := make([]Failure, 0, most+len(Phases)), []Failure(nil)
	for _, f := range all {
		if f.Kind != OtherWays && len(kept) < most {
			kept = append(kept, f)
			continue
		}
		f = Failure{Phase: f.Phase, Kind: OtherWays, Detail: "failures of further kinds, counted as one",
			Count: f.Count}
		others = mergeFailures(others, []Failure{f})
	}
	return append(kept, others...)
}
