package imports

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"dyno/internal/fault"
)

// Lines reads lines one at a time, which LF or CRLF ends, and knows their numbers.
type Lines struct {
	file string
	most int
	scan *bufio.Scanner
	n    int
	text string
}

// NewLines reads r, a file of that name whose lines have so many bytes at most.
func NewLines(file string, r io.Reader, most int) *Lines {
	l := &Lines{file: file, most: most, scan: bufio.NewScanner(r)}
	l.scan.Buffer(make([]byte, 64<<10), most)
	return l
}

// Next moves to the next line. It is false at the end, and where a line cannot be read: see Err.
func (l *Lines) Next() bool {
	if !l.scan.Scan() {
		return false
	}
	b := l.scan.Bytes()
	if l.n++; l.n == 1 {
		b = bytes.TrimPrefix(b, []byte("\ufeff")) // some editors write it
	}
	l.text = string(b)
	return true
}

// Text is the line.
func (l *Lines) Text() string { return l.text }

// Number is that of the line, from 1.
func (l *Lines) Number() int { return l.n }

// Err is why there is no next line; nil at the end of the file.
func (l *Lines) Err() error {
	err := l.scan.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return fault.Fault{File: l.file, Line: l.n + 1,
			Problem: fmt.Sprintf("the line is longer than %d KiB", l.most>>10)}
	case err != nil:
		return fault.Fault{File: l.file, Line: l.n + 1, Problem: "reading: " + err.Error()}
	}
	return nil
}

// Fault is what is wrong with the line, from a column on; 0 is the whole line.
func (l *Lines) Fault(column int, format string, args ...any) error {
	return fault.Fault{File: l.file, Line: l.n, Column: column, Problem: fmt.Sprintf(format, args...)}
}

// Binary is the column of the first byte of the line that is in no text file, or 0.
func (l *Lines) Binary() int { return FirstBinary(l.text) + 1 }

// FirstBinary is the index of the first byte of a text that is in no text file, or -1.
func FirstBinary(text string) int {
	for i, r := range text {
		if size := utf8.RuneLen(r); r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") ||
			r < ' ' && !strings.ContainsRune("\t\r\n", r) || size < 0 {
			return i
		}
	}
	return -1
}

// ReadAll reads all of r, up to MaxBytes.
func ReadAll(file string, r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	switch {
	case err != nil:
		return nil, fault.Fault{File: file, Problem: "reading: " + err.Error()}
	case len(b) > MaxBytes:
		return nil, fault.Fault{File: file,
			Problem: fmt.Sprintf("is larger than %d MiB", MaxBytes>>20)}
	}
	return b, nil
}

// Place is the line and column, from 1, of a byte of a text.
func Place(text []byte, offset int) (line, column int) {
	before := text[:max(min(offset, len(text)), 0)]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}
