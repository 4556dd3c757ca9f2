package experiment

import "strings"

// orAllowed goes on after what was given: with the name that was meant, or with
// all that are allowed.
func orAllowed(given string, allowed []string) string {
	if n := nearest(given, allowed); n != "" {
		return "; did you mean " + n + "?"
	}
	return "; allowed are " + strings.Join(allowed, ", ")
}

// nearest is the name that someone who wrote s had in mind: that with the
// fewest letters to change, if these are few. "" is none.
func nearest(s string, names []string) string {
	best, least := "", len(s)/3+1
	if len(s) < 2 || len(s) > 64 {
		return ""
	}
	for _, n := range names {
		if len(n) > 64 {
			continue
		}
		if d := distance(strings.ToLower(s), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is how many letters must be added, removed, changed or swapped with
// their neighbour to make b of a.
func distance(a, b string) int {
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
