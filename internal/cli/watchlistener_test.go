package cli

import (
	"reflect"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/observe/probe"
)

// Of several processes of a name, those that listen where the load goes are watched; if none is known
// to, all are, and that is told.
func TestOthersOfAName(t *testing.T) {
	two := []probe.Tree{{PID: 5}, {PID: 7}}
	none := fact.Fact{Severity: fact.Warning, Args: fact.NoListener{Name: "x", Port: 80, Watched: []int{5, 7}}}
	for name, test := range map[string]struct {
		named  []probe.Tree
		at     map[int]int // the port that a process listens on
		unix   string
		others []int
		told   []fact.Fact
	}{
		"one of two": {two, map[int]int{5: 81, 7: 80}, "", []int{5}, []fact.Fact{{Severity: fact.Note,
			Args: fact.OthersOfName{Name: "x", Port: 80, Watched: []int{7}, Others: []int{5}}}}},
		"both share the port": {two, map[int]int{5: 80, 7: 80}, "", nil, nil},
		"a proxy is in front": {two, map[int]int{5: 81}, "", nil, []fact.Fact{none}},
		"the only one":        {two[1:], map[int]int{7: 80}, "", nil, nil},
		"one, elsewhere": {two[:1], nil, "", nil, []fact.Fact{{Severity: fact.Warning,
			Args: fact.NoListener{Name: "x", Port: 80, Watched: []int{5}}}}},
		"one that may not be looked at": {two[:1], map[int]int{5: -1}, "", nil, nil},
		"one behind a Unix socket":      {two[:1], nil, "s", nil, nil},
		"two behind a Unix socket":      {two, map[int]int{5: 80}, "s", nil, []fact.Fact{none}},
	} {
		others, told := othersOf("x", test.named, loadplan.Target{Port: 80, Unix: test.unix}, func(pid, port int) (is, known bool) {
			return test.at[pid] == port, test.at[pid] >= 0
		})
		if !reflect.DeepEqual(others, test.others) || !reflect.DeepEqual(told, test.told) {
			t.Errorf("%s: %v, %+v", name, others, told)
		}
	}
}
