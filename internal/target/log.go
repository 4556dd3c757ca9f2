package target

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// A requestLog writes a line for each request. All workers share it: who asks
// for a log does not ask for the last bit of speed.
type requestLog struct {
	mu    sync.Mutex
	w     *bufio.Writer
	line  []byte
	epoch int64 // the origin of the instants, in nanoseconds since 1970
}

func newRequestLog(w io.Writer, start time.Time) *requestLog {
	return &requestLog{w: bufio.NewWriterSize(w, 64<<10), epoch: start.UnixNano()}
}

// addRequest adds a line. A failed write shows when the log is flushed.
func (l *requestLog) addRequest(arrival, start, service int64, path []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := strconv.AppendInt(l.line[:0], l.epoch+arrival, 10)
	b = strconv.AppendInt(append(b, ','), l.epoch+start, 10)
	b = strconv.AppendInt(append(b, ','), service, 10)
	b = appendCSV(append(b, ','), path)
	l.line = append(b, '\n')
	l.w.Write(l.line)
}

// addEvent adds the line of an event of a stream.
func (l *requestLog) addEvent(stream int64, arrived time.Time, event int, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, "%d,%d,%d,%d\n", stream, arrived.UnixNano(), event, at.UnixNano())
}

func (l *requestLog) flushLog() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.w.Flush(); err != nil {
		return fmt.Errorf("--log: the lines could not all be written: %w", err)
	}
	return nil
}

// appendCSV appends a field, quoted if it must be.
func appendCSV(b, field []byte) []byte {
	if !bytes.ContainsAny(field, `,"`) {
		return append(b, field...)
	}
	b = append(b, '"')
	for _, c := range field {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"')
}
