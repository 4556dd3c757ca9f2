package loadresult

import (
	"cmp"
	"slices"
)

// CompareFrequency orders failures for slices.SortFunc: the most frequent first, and those of kind
// Behind, which are consequences, last. It is 0 only for failures of one phase, kind, address,
// detail and count.
func CompareFrequency(a, b Failure) int {
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

// mergeFailures merges the failures of two intervals, or of two parts of one. It changes neither:
// somebody may be shown them.
func mergeFailures(to, from []Failure) []Failure {
	if len(from) == 0 {
		return to
	}
	place, to := make(map[way]int, len(to)+len(from)), slices.Clone(to)
	for i, f := range to {
		place[f.way()] = i
	}
	for _, f := range from {
		if i, known := place[f.way()]; known {
			to[i].Count += f.Count
			to[i].Unfinished = cmp.Or(to[i].Unfinished, f.Unfinished)
			continue
		}
		place[f.way()] = len(to)
		to = append(to, f)
	}
	slices.SortStableFunc(to, CompareFrequency)
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

// Refused is the kind, of phase Check, of requests that were not sent because a value does not fit
// its place.
const Refused = "value"

// IsRefusal reports whether a failure is of requests that were not sent: see Refused. The failure
// of a check with the same name has an address.
func IsRefusal(phase Phase, kind, address string) bool {
	return phase == Check && kind == Refused && address == ""
}

// Behind is the kind of requests that were lost with their connection because another request
// failed. They are a consequence; the cause is counted as well.
const Behind = "behind"
