package server

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// What is kept of a process's output: the beginning, where it says what it is,
// and the end, where it says why it died.
const (
	logHead = 1 << 20
	logTail = 1 << 20

	tailMax   = 8 << 10 // bytes of last lines shown
	tailLines = 20      // in a Failure
)

// A log is the bounded file of a process's output. Writing never fails and
// never waits for more than a file's first logHead bytes: the rest goes to a
// ring in memory, which flush puts into the file.
type log struct {
	path string

	mu    sync.Mutex
	file  *os.File
	head  int64  // bytes written to the file at once
	ring  []byte // the last logTail bytes after them
	after int64  // bytes that came after the head
	taken bool   // the output claims that an address is in use
	last  string // end of the previous write: words may be cut in two
	seek  string // is looked for in all output; "": nothing is, or it was found
	tail  string // likewise, for what is sought
	dirty bool   // the ring is not in the file
}

// openLog makes the file of a process's output in place of one that is there. Whoever owns its
// folder may have put a link there, which is not followed.
//
// Something may be sought in what the process writes.
func openLog(path, sought string) (*log, error) {
	file, err := createIn(filepath.Dir(path), filepath.Base(path), 0o644)
	if err != nil {
		return nil, fmt.Errorf("output file: %w", err)
	}
	return &log{path: path, file: file, seek: sought}, nil
}

// Write takes all of p, whatever becomes of the file.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	if l.seek != "" {
		l.find(p)
	}
	if room := logHead - l.head; room > 0 {
		first := p[:min(int64(len(p)), room)]
		p = p[len(first):]
		l.findPortClaim(first)
		l.head += int64(len(first))
		l.file.Write(first) // a full disk costs the output, not the server
	}
	l.keepTail(p)
	return n, nil
}

// find looks for what is sought.
func (l *log) find(p []byte) {
	text := l.tail + string(p)
	if strings.Contains(text, l.seek) {
		l.seek, l.tail = "", ""
		return
	}
	l.tail = text[max(0, len(text)-len(l.seek)):]
}

// hasSought reports whether what was sought has been written.
func (l *log) hasSought() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seek == ""
}

// findPortClaim searches what was written for the words that say a port is taken.
func (l *log) findPortClaim(p []byte) {
	const longestWords = 64
	text := l.last + string(p)
	l.taken = l.taken || mentionsUsedPort(text)
	l.last = text[max(0, len(text)-longestWords):]
}

// keepTail puts p into the ring.
func (l *log) keepTail(p []byte) {
	if len(p) == 0 {
		return
	}
	if l.ring == nil {
		l.ring = make([]byte, logTail)
	}
	l.dirty = true
	if skip := len(p) - logTail; skip > 0 {
		l.after += int64(skip)
		p = p[skip:]
	}
	for len(p) > 0 {
		n := copy(l.ring[l.after%logTail:], p)
		l.after += int64(n)
		p = p[n:]
	}
}

// flushTail makes the file as complete as it will ever be.
func (l *log) flushTail() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.dirty {
		return nil
	}
	l.dirty = false
	var parts [][]byte
	if lost := l.after - logTail; lost <= 0 {
		parts = [][]byte{l.ring[:l.after]}
	} else {
		start := l.after % logTail
		mark := fmt.Appendf(nil, "\n… %d bytes left out …\n", lost)
		parts = [][]byte{mark, l.ring[start:], l.ring[:start]}
	}
	at := int64(logHead)
	for _, part := range parts {
		if _, err := l.file.WriteAt(part, at); err != nil {
			return fmt.Errorf("output file: %w", err)
		}
		at += int64(len(part))
	}
	return l.file.Truncate(at)
}

func (l *log) claimsPort() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

// lastLines are the last of them, for a Failure; why there are none would only
// hide what failed.
func (l *log) lastLines() string {
	if l.flushTail() != nil {
		return ""
	}
	s, err := readTail(l.path, tailLines)
	if err != nil {
		return ""
	}
	return s
}

// readTail is the end of a file, n lines and tailMax bytes at most.
func readTail(path string, n int) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read output: %w", err)
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return "", fmt.Errorf("read output: %w", err)
	}
	text := make([]byte, min(size, tailMax))
	read, err := file.ReadAt(text, size-int64(len(text)))
	if err != nil && err != io.EOF { // shorter than it was: being written
		return "", fmt.Errorf("read output: %w", err)
	}
	lines := strings.Split(strings.TrimRight(string(text[:read]), "\n"), "\n")
	lines = lines[max(0, len(lines)-n):]
	return strings.ToValidUTF8(strings.Join(lines, "\n"), "�"), nil
}
