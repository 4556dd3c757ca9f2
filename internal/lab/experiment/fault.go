package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Fault is an error in an experiment file. Line and Column count from 1, the column in
// characters. Path is the value that is at fault, as levels[0].pipeline; "": the file.
type Fault struct {
	File          string
	Line, Column  int
	Path, Message string
}

// Error begins as a compiler's messages do: file:line:column.
func (f Fault) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s%s", f.File, f.Line, f.Column, withPath(f.Path), f.Message)
}

// Faults are all errors in a file, in its order.
type Faults []Fault

// Error has a line for each.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns each of them.
func (f Faults) Unwrap() []error {
	all := make([]error, len(f))
	for i, fault := range f {
		all[i] = fault
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
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	f = slices.Compact(f)
	if len(f) > maxFaults {
		f = f[:maxFaults:maxFaults]
		f[maxFaults-1].Path, f[maxFaults-1].Message = "", "more faults follow"
	}
	return f
}
