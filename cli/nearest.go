package cli

import "strings"

// elsewhere has what flags of curl, wrk, hey and others are called here.
var elsewhere = map[string]string{
	"-k": "insecure", "-z": "duration", "-m": "method", "-s": "quiet",
	"--request": "method", "--data": "body", "--qps": "rate", "--clients": "connections",
	"--concurrency": "connections", "--silent": "quiet", "--max-time": "timeout",
	"--out": "output", "--servername": "sni",
}

// nearestFlag is the option that someone who wrote flag, with its dashes, had
// in mind.
func nearestFlag(flag string, groups []group) (option, bool) {
	byName := map[string]option{}
	var names []string
	for _, g := range groups {
		for _, o := range g.options {
			names, byName[o.long] = append(names, o.long), o
		}
	}
	if o, known := byName[elsewhere[flag]]; known {
		return o, true
	}
	o, found := byName[nearest(strings.TrimLeft(flag, "-"), names)]
	return o, found
}

// nearest is the name that someone who wrote s had in mind: the one that it
// begins, if there is only one, else that with the fewest letters to change, if
// these are few. "" is none.
func nearest(s string, names []string) string {
	if len(s) < 2 {
		return ""
	}
	best, least, begun := "", len(s)/3+1, []string{}
	for _, n := range names {
		if strings.HasPrefix(n, s) {
			begun = append(begun, n)
		}
		if d := distance(s, n); d < least {
			best, least = n, d
		}
	}
	if best == "" && len(begun) == 1 {
		return begun[0]
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
