package say

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// ofParts is a sentence, and which parts of a load it is about if not all: each is made by a
// generator of its own. "Generator 3 (of 4) was busy", "on generator 3 (of 4): no local port was
// left".
func ofParts(of fact.Scope, sentence string) string {
	if len(of.Parts) == 0 {
		return sentence
	}
	all := make([]string, len(of.Parts))
	for i, n := range of.Parts {
		all[i] = strconv.Itoa(n)
	}
	who, each := "generators ", "each of "
	if len(all) == 1 {
		who, each = "generator ", ""
	}
	who += Listed(all)
	if of.OfParts > 0 {
		who += fmt.Sprintf(" (of %d)", of.OfParts)
	}
	if does, is := strings.CutPrefix(sentence, "the generator "); is {
		return each + who + " " + does
	}
	return "on " + who + ": " + sentence
}
