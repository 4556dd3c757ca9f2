package requests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"dyno/internal/fault"
)

// Limits of input files and of their contents.
const (
	MaxFile     = 1 << 30 // bytes in a file, and of the bodies of all requests
	MaxLine     = 64 << 20
	MaxRequests = 1 << 20
	MaxWeight   = 1_000_000
)

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
// each returns. Errors become a fault.List of the file name. After a fault it continues with the
// next line, unless there is an excess.
func eachLine(name string, r io.Reader, each func(line []byte) error) error {
	limited := &io.LimitedReader{R: r, N: MaxFile + 1}
	scan := bufio.NewScanner(limited)
	scan.Buffer(make([]byte, 64<<10), MaxLine)
	faults, n := fault.List{File: name}, 0
	for scan.Scan() {
		n++
		line := scan.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // some editors write it
		}
		if err := each(line); err != nil {
			for _, one := range joined(err) {
				at, _ := errors.AsType[atColumn](one)
				faults.Add(n, at.column, "%v", one)
			}
			if _, over := errors.AsType[excess](err); over {
				return faults.Err()
			}
		}
	}
	switch err := scan.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		faults.Add(n+1, 0, "the line is longer than %d MiB", MaxLine>>20)
	case err != nil:
		faults.Add(0, 0, "reading: %v", err)
	case limited.N <= 0:
		faults.Add(0, 0, "is larger than %d GiB", MaxFile>>30)
	}
	return faults.Err()
}
