package requests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits of input files and of their contents.
const (
	MaxFile     = 1 << 30 // bytes in a file, and of the bodies of all requests
	MaxLine     = 64 << 20
	MaxRequests = 1 << 20
	MaxWeight   = 1_000_000
	maxFaults   = 10 // shown for one file
)

// A Fault is an error in a file.
type Fault struct {
	File         string
	Line, Column int // from 1; 0 where it does not apply
	Problem      string
}

// Error begins as a compiler's messages do: file:line:column.
func (f Fault) Error() string {
	switch {
	case f.Line == 0:
		return f.File + ": " + f.Problem
	case f.Column == 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Problem)
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Problem)
}

// atColumn is an error at a column of the current line.
type atColumn struct {
	column int
	error
}

// excess is an error after which the rest of a file is not read, because it has more than a run can
// hold.
type excess string

func (e excess) Error() string { return string(e) }

func tooMany(format string, args ...any) error { return excess(fmt.Sprintf(format, args...)) }

// eachLine calls each with every line of r without its end, LF or CRLF. The line is valid until
// each returns. Errors become Faults of the file name, and are joined, up to maxFaults. After a
// fault it continues with the next line, unless there is an excess.
func eachLine(name string, r io.Reader, each func(line []byte) error) error {
	limited := &io.LimitedReader{R: r, N: MaxFile + 1}
	scan := bufio.NewScanner(limited)
	scan.Buffer(make([]byte, 64<<10), MaxLine)
	var faults []error
	count, n := 0, 0
	fault := func(f Fault) {
		if count++; count <= maxFaults {
			faults = append(faults, f)
		}
	}
	for scan.Scan() {
		n++
		line := scan.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // some editors write it
		}
		if err := each(line); err != nil {
			for _, one := range joined(err) {
				f := Fault{File: name, Line: n, Problem: one.Error()}
				if at, ok := errors.AsType[atColumn](one); ok {
					f.Column = at.column
				}
				fault(f)
			}
			if _, over := errors.AsType[excess](err); over {
				return errors.Join(faults...)
			}
		}
	}
	switch err := scan.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		fault(Fault{name, n + 1, 0, fmt.Sprintf("the line is longer than %d MiB", MaxLine>>20)})
	case err != nil:
		fault(Fault{File: name, Problem: "reading: " + err.Error()})
	case limited.N <= 0:
		fault(Fault{File: name, Problem: fmt.Sprintf("is larger than %d GiB", MaxFile>>30)})
	}
	if count > maxFaults {
		faults = append(faults, Fault{File: name, Problem: fmt.Sprintf("and %d more", count-maxFaults)})
	}
	return errors.Join(faults...)
}
