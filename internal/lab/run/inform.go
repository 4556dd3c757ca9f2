package run

import (
	"fmt"
	"strings"

	"dyno/internal/fairness"
	"dyno/internal/observe/probe"
)

// given are what can make servers unequal without showing in their answers. They are told and
// not judged: another number of workers may be the very thing that is compared.
var given = []struct {
	name, why string
	of        func(probe.Setup) string
}{
	{"processes", "more of them may use more CPUs", func(s probe.Setup) string {
		return fmt.Sprint(s.Processes)
	}},
	{"threads_at_rest", "likewise; under load there may be more", func(s probe.Setup) string {
		return fmt.Sprint(s.Threads)
	}},
	{"cpus", "who may run on more CPUs can do more", joined(func(s probe.Setup) []string {
		return s.CPUs
	})},
	{"gomaxprocs", "it is how many CPUs a Go program uses at once", joined(func(
		s probe.Setup) []string {
		return s.MaxProcs
	})},
	{"open_files", "connections beyond the limit are refused", joined(func(s probe.Setup) []string {
		return s.OpenFiles
	})},
	{"backlog", "connections that wait to be accepted beyond it are dropped", joined(func(
		s probe.Setup) []string {
		return backlogs(s)
	})},
	{"writes_to", "who writes a log does more for each request", joined(func(s probe.Setup) []string {
		return s.Writes
	})},
}

func joined(of func(probe.Setup) []string) func(probe.Setup) string {
	return func(s probe.Setup) string { return strings.Join(of(s), ", ") }
}

// backlogs are the lengths alone: ports are drawn anew for each trial.
func backlogs(s probe.Setup) (all []string) {
	seen := map[string]bool{}
	for _, b := range s.Backlogs {
		if _, length, _ := strings.Cut(b, ": "); !seen[length] {
			seen[length] = true
			all = append(all, length)
		}
	}
	return all
}

// inform adds what servers were given to the table of their answers.
func inform(t *fairness.Table, setups map[string][]probe.Setup) {
	for _, g := range given {
		values, any := map[string]string{}, false
		for _, name := range t.Variants {
			values[name] = ofTrees(setups[name], g.of)
			any = any || values[name] != ""
		}
		if any {
			t.Inform(g.name, g.why, values)
		}
	}
}

// ofTrees is a value of each of a variant's processes, named where there are several.
func ofTrees(setups []probe.Setup, of func(probe.Setup) string) string {
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
