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

// ofParts is before the sentence of a fact that only some of the parts of a load have.
func ofParts(of fact.Scope) string {
	if of.OfParts == 0 {
		return ""
	}
	return fmt.Sprintf("in %s of the load's %d parts: ", partsText(of.Parts), of.OfParts)
}

// partsText names parts of a load: "part 2", "parts 1 and 3".
func partsText(parts []int) string {
	if len(parts) == 1 {
		return "part " + numbers(parts)
	}
	all := make([]string, len(parts))
	for i, n := range parts {
		all[i] = strconv.Itoa(n)
	}
	return "parts " + listed(all)
}
