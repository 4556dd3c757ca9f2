// Package nearest finds the name that somebody had in mind who wrote another.
package nearest

import "strings"

// longest is the length of a name beyond which nobody looks for what was meant.
const longest = 64

// ClosestName is the one of names that someone who wrote s had in mind: that with the
// fewest letters to change, in whatever case, if these are few, else the one that
// begins with s, if only one does. "" is none.
func ClosestName(s string, names []string) string {
	if len(s) < 2 || len(s) > longest {
		return ""
	}
	best, least, begun := "", max(len(s)/3+1, 2), []string{}
	for _, n := range names {
		if len(n) > longest {
			continue
		}
		if strings.HasPrefix(n, s) {
			begun = append(begun, n)
		}
		if d := Distance(strings.ToLower(s), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	if best == "" && len(begun) == 1 {
		return begun[0]
	}
	return best
}

// Distance is how many letters must be added, removed, changed or swapped with
// their neighbour to make b of a.
func Distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
