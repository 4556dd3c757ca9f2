package experiment

import (
	"cmp"
	"slices"
	"strings"

	"dyno/internal/fault"
)

// Faults are all mistakes in an experiment's file, in its order.
type Faults []fault.Fault

// Error has a line for each.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns each of them.
func (f Faults) Unwrap() []error {
	all := make([]error, len(f))
	for i, one := range f {
		all[i] = one
	}
	return all
}

// maxMessage is the length of the longest message, in bytes; quoted input may be longer.
const maxMessage = 400

// Limits of faults: maxFaults are reported, the first in the file. After maxLooked no more are
// looked for.
const (
	maxFaults = 100
	maxLooked = 1000
)

// sortFaults returns the faults in the file's order, each once, and at most maxFaults.
func (f Faults) sortFaults() Faults {
	slices.SortStableFunc(f, func(a, b fault.Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	f = slices.Compact(f)
	if len(f) > maxFaults {
		f = f[:maxFaults:maxFaults]
		f[maxFaults-1].Path, f[maxFaults-1].Problem = "", "more faults follow"
	}
	return f
}
