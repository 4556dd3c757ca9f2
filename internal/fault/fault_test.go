package fault

import (
	"fmt"
	"strings"
	"testing"
)

func TestError(t *testing.T) {
	for want, f := range map[string]Fault{
		"a.csv: is empty":        {File: "a.csv", Problem: "is empty"},
		"a.csv:3: is too long":   {File: "a.csv", Line: 3, Problem: "is too long"},
		"a.csv:3:4: is no quote": {File: "a.csv", Line: 3, Column: 4, Problem: "is no quote"},
		"a.yaml:3:4: levels[0].rate: is missing": {File: "a.yaml", Line: 3, Column: 4, Path: "levels[0].rate",
			Problem: "is missing"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Ten faults are shown, and how many more there are.
func TestList(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "f:1:2: bad 1", 10: "f:10:2: bad 10", 12: "f: and 2 more"} {
		l := List{File: "f"}
		for i := range n {
			l.Add(i+1, 2, "bad %d", i+1)
		}
		got := ""
		if err := l.Err(); err != nil {
			got = err.Error()
		}
		lines := strings.Split(got, "\n")
		if lines[len(lines)-1] != want || len(lines) != max(min(n, 11), 1) {
			t.Errorf("%d faults: %s", n, fmt.Sprint(lines))
		}
	}
}
