package say

import (
	"fmt"
	"slices"
	"strconv"

	"dyno/internal/fact"
)

// MergeParts are the facts that the parts of a load have, those that are said alike once: the first
// of the worst, and the place of its part. A fact's scope has the parts that have it, unless all
// have. found has a fact for each part, or nil.
func MergeParts(found []*fact.Fact) (all []fact.Fact, of []int) {
	var said []string
	for i, f := range found {
		if f == nil {
			continue
		}
		sentence := Sentence(*f)
		at := slices.Index(said, sentence)
		if at < 0 {
			at, said, all, of = len(said), append(said, sentence), append(all, *f), append(of, i)
		}
		parts := append(all[at].Scope.Parts, i+1)
		if f.Severity.IsWorse(all[at].Severity) {
			all[at], of[at] = *f, i
		}
		all[at].Scope.Parts = parts
	}
	for i := range all {
		scope := &all[i].Scope
		if scope.OfParts = len(found); len(scope.Parts) == len(found) {
			scope.Parts, scope.OfParts = nil, 0
		}
	}
	return all, of
}

// ofParts is before the sentence of a fact that only some of the parts of a load have, each of
// which a generator makes: "on generators 1 and 3 (of 4): ".
func ofParts(of fact.Scope) string {
	if len(of.Parts) == 0 {
		return ""
	}
	all := make([]string, len(of.Parts))
	for i, n := range of.Parts {
		all[i] = strconv.Itoa(n)
	}
	on := "on generators "
	if len(all) == 1 {
		on = "on generator "
	}
	on += listed(all)
	if of.OfParts > 0 {
		on += fmt.Sprintf(" (of %d)", of.OfParts)
	}
	return on + ": "
}
