// Package fault has mistakes in what a user wrote: which file, line and column, and what is wrong.
// A reader of a file collects all of them, up to a limit, so that one try shows each.
//
//	fault.go   Fault, and the List of them
//	text.go    an error as text, which names a file in one way
package fault

import (
	"errors"
	"fmt"
)

// most is how many faults of one text are shown.
const most = 10

// A Fault is a mistake at a place in a file, or in the value of a flag, which File then names.
type Fault struct {
	File         string
	Line, Column int    // from 1, in bytes, in YAML in characters; 0 where it does not apply
	Path         string // of an experiment's value that is wrong, as levels[0].pipeline; or ""
	Problem      string
}

// Error begins as a compiler's messages do: file:line:column.
func (f Fault) Error() string {
	problem := f.Problem
	if f.Path != "" {
		problem = f.Path + ": " + problem
	}
	switch {
	case f.Line == 0:
		return f.File + ": " + problem
	case f.Column == 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, problem)
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, problem)
}

// A List collects the faults of one text. It is usable as it is, with File set.
type List struct {
	File  string
	all   []error
	count int
}

// Add adds a fault. Beyond the first ten they are only counted.
func (l *List) Add(line, column int, format string, args ...any) {
	if l.count++; l.count <= most {
		l.all = append(l.all, Fault{File: l.File, Line: line, Column: column,
			Problem: fmt.Sprintf(format, args...)})
	}
}

// Err is all faults, joined; nil if there is none.
func (l *List) Err() error {
	if l.count <= most {
		return errors.Join(l.all...)
	}
	more := Fault{File: l.File, Problem: fmt.Sprintf("and %d more", l.count-most)}
	return errors.Join(append(l.all[:most:most], more)...)
}
