package live

import (
	"bufio"
	"io"
	"strconv"

	"dyno/internal/engine/reqlog"
)

// A RequestLog writes a line for each request, as CSV or as JSON. A request's number is that of the
// plan, from 0; of a scenario, that of its step.
type RequestLog struct {
	Lines int64 // that were written

	to   *bufio.Writer
	json bool
	line []byte
	err  error
}

// NewRequestLog returns a log that is written to w: one JSON object a line, or CSV with a head.
func NewRequestLog(w io.Writer, json bool) *RequestLog {
	l := &RequestLog{to: bufio.NewWriterSize(w, 1<<16), json: json}
	if !json {
		_, l.err = l.to.WriteString("due_s,latency_us,service_us,status,bytes,request,thread,error\n")
	}
	return l
}

// Add writes a line. A value that there is not is left out, or empty.
func (l *RequestLog) Add(r reqlog.Line) {
	b := l.line[:0]
	key := func(name string) {
		switch {
		case l.json && len(b) == 0:
			b = append(b, '{')
		case len(b) > 0:
			b = append(b, ',')
		}
		if l.json {
			b = append(append(append(b, '"'), name...), '"', ':')
		}
	}
	number := func(name string, v float64, decimals int) {
		key(name)
		b = strconv.AppendFloat(b, v, 'f', decimals, 64)
	}
	whole := func(name string, v int64, there bool) {
		if there || !l.json {
			key(name)
		}
		if there {
			b = strconv.AppendInt(b, v, 10)
		}
	}
	number("due_s", float64(r.Due)/1e9, 6)
	number("latency_us", float64(r.Ended-r.Due)/1e3, 1)
	number("service_us", float64(r.Ended-r.Sent)/1e3, 1)
	whole("status", int64(r.Status), r.Status >= 100)
	whole("bytes", r.Bytes, r.Bytes >= 0)
	whole("request", int64(r.Request), true)
	whole("thread", int64(r.Thread), true)
	switch {
	case !l.json:
		b = append(append(b, ','), r.Failed...)
	case r.Failed != "":
		key("error")
		b = strconv.AppendQuote(b, r.Failed)
	}
	if l.json {
		b = append(b, '}')
	}
	l.line = append(b, '\n')
	l.Lines++
	if _, err := l.to.Write(l.line); l.err == nil {
		l.err = err
	}
}

// Flush writes what is buffered, and returns the first error of all that was written.
func (l *RequestLog) Flush() error {
	if err := l.to.Flush(); l.err == nil {
		l.err = err
	}
	return l.err
}
