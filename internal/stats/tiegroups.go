package stats

import (
	"slices"
	"strings"
	"unicode"
)

// TieGroups gives letters to n items, which are numbered in the order in which they will be
// shown (the best first): two items share a letter if and only if they are not separable, so
// that a table can rank without claiming an order that the data do not support. separable
// must be symmetric; it is asked once for each i < j. The first item has the letter a; after
// z follow A to Z and then accented letters.
//
// Source: the insert-and-absorb algorithm of Piepho, "An algorithm for a letter-based
// representation of all-pairwise comparisons", Journal of Computational and Graphical
// Statistics 13 (2004), without its last step, which takes out letters that others make
// unnecessary. If items are separable by their distance on a line there are at most n
// letters. Time and letters can be exponential in n for separations that no order explains.
func TieGroups(n int, separable func(i, j int) bool) []string {
	if n <= 0 {
		return nil
	}
	groups := [][]bool{slices.Repeat([]bool{true}, n)}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if separable(i, j) {
				groups = splitGroups(groups, i, j)
			}
		}
	}
	slices.SortFunc(groups, compareGroups)
	items := make([]strings.Builder, n)
	letter := 'a'
	for _, group := range groups {
		for i, in := range group {
			if in {
				items[i].WriteRune(letter)
			}
		}
		letter = nextLetter(letter)
	}
	letters := make([]string, n)
	for i := range items {
		letters[i] = items[i].String()
	}
	return letters
}

// splitGroups makes two of each group that has both i and j, one without either, and leaves out
// those that lie within another.
func splitGroups(groups [][]bool, i, j int) [][]bool {
	var kept, halves [][]bool
	for _, group := range groups {
		if !group[i] || !group[j] {
			kept = append(kept, group)
			continue
		}
		without := slices.Clone(group)
		without[i], group[j] = false, false
		halves = append(halves, group, without)
	}
	// A group that is kept lacks i or j and was within no other: only halves can be absorbed,
	// and not by each other.
	whole := len(kept)
	for _, half := range halves {
		if !slices.ContainsFunc(kept[:whole], func(g []bool) bool { return isSubset(half, g) }) {
			kept = append(kept, half)
		}
	}
	return kept
}

// isSubset says whether all that is in the group is in the other.
func isSubset(group, other []bool) bool {
	for i, in := range group {
		if in && !other[i] {
			return false
		}
	}
	return true
}

// compareGroups orders groups by their first member, then by the next in which they differ.
func compareGroups(a, b []bool) int {
	for i := range a {
		if a[i] != b[i] {
			if a[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

func nextLetter(letter rune) rune {
	switch letter {
	case 'z':
		return 'A'
	case 'Z':
		letter = 'À' - 1
	}
	for letter++; !unicode.IsLetter(letter); {
		letter++
	}
	return letter
}
