package run

import (
	"fmt"
	"strings"

	"dyno/internal/fairness"
	"dyno/internal/observe/probe"
)

// givens are settings that can make servers unequal without showing in their answers. They are
// reported and not judged: a different number of workers may be what the experiment compares.
var givens = []struct {
	name string
	of   func(probe.Setup) string
}{
	{"processes", func(s probe.Setup) string { return fmt.Sprint(s.Processes) }},
	{"threads_at_rest", func(s probe.Setup) string { return fmt.Sprint(s.Threads) }},
	{"cpus", joinedBy(func(s probe.Setup) []string { return s.CPUs })},
	{"gomaxprocs", joinedBy(func(s probe.Setup) []string { return s.MaxProcs })},
	{"open_files", joinedBy(func(s probe.Setup) []string { return s.OpenFiles })},
	{"backlog", joinedBy(backlogLengths)},
	{"writes_to", joinedBy(func(s probe.Setup) []string { return s.Writes })},
}

func joinedBy(of func(probe.Setup) []string) func(probe.Setup) string {
	return func(s probe.Setup) string { return strings.Join(of(s), ", ") }
}

// backlogLengths are the lengths of the listen queues, without ports, which differ in each trial.
func backlogLengths(s probe.Setup) (all []string) {
	seen := map[string]bool{}
	for _, b := range s.Backlogs {
		if _, length, _ := strings.Cut(b, ": "); !seen[length] {
			seen[length] = true
			all = append(all, length)
		}
	}
	return all
}

// addGivens adds what servers were given to the table of their answers. It is shown and not judged:
// the number of workers, or GOMAXPROCS, may be what is compared.
func addGivens(t *fairness.Table, setups map[string][]probe.Setup) {
	for _, g := range givens {
		values, any := map[string]string{}, false
		for _, name := range t.Variants {
			values[name] = describeTrees(setups[name], g.of)
			any = any || values[name] != ""
		}
		if any {
			t.AddInformation(g.name, values)
		}
	}
}

// describeTrees lists a value of each process of a variant, with its name if there are several.
func describeTrees(setups []probe.Setup, of func(probe.Setup) string) string {
	var all []string
	for _, s := range setups {
		value := of(s)
		switch {
		case value == "" || s.Processes == 0:
		case len(setups) == 1:
			all = append(all, value)
		default:
			all = append(all, s.Name+" "+value)
		}
	}
	return strings.Join(all, "; ")
}
