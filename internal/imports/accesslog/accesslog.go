// Package accesslog reads access logs, one line at a time: of nginx and Apache by the form of their
// lines, and of all that write JSON by the names of the fields.
//
// A line that has not the form of the log is skipped, counted and shown: logs are cut off, rotated
// and written to by several programs. But if more lines are odd than not, the log is of another
// form, and all of it may be read wrongly: that is an error. A line of the right form whose request
// is none, as scanners and broken clients leave, is skipped and counted, too.
//
//	accesslog.go   reads the lines of a log
//	format.go      the form of a line, as nginx's log_format or Apache's LogFormat
//	json.go        lines of JSON
package accesslog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"dyno/internal/imports"
)

// A Log is what was read of a log besides its requests.
type Log struct {
	Format   string      // its form, in words
	Lines    int         // with a request or without
	Odd      int         // which have not its form, besides Lines
	FirstOdd string      // what is wrong with the first of these
	Skipped  int         // whose request is none
	First    int         // number of the first of these
	Bodiless int         // requests whose method has a body, which no log has
	Failed   map[int]int // responses of a server that failed or was overloaded, by status
}

// Read gives the requests of a log, as file of that name, to take. A nil format is found by the
// first line that has a known one. It stops at the first error, which has the line.
func Read(file string, r io.Reader, format *Format, take func(imports.Request) error) (Log, error) {
	p := reader{log: Log{Failed: map[int]int{}}, lines: imports.NewLines(file, r, imports.MaxLine)}
	if format != nil {
		p.parse = format.parse
	}
	for p.lines.Next() {
		if strings.TrimSpace(p.lines.Text()) == "" {
			continue
		}
		if err := p.line(take); err != nil {
			return p.log, err
		}
	}
	if err := p.lines.Err(); err != nil {
		return p.log, err
	}
	if p.log.Odd > p.log.Lines {
		return p.log, p.odd
	}
	if p.log.Lines == 0 {
		return p.log, p.lines.Fault(0, "has no line")
	}
	return p.log, nil
}

// A reader reads one log.
type reader struct {
	log   Log
	lines *imports.Lines
	parse parser
	odd   error // of the first odd line
	paths bool  // requests of the log are paths, and none is a URL
}

// mostUnknown is after how many lines the form of a log is found or is not known.
const mostUnknown = 100

// line takes a line. Its error ends the log.
func (p *reader) line(take func(imports.Request) error) error {
	text := p.lines.Text()
	if at := p.lines.Binary(); at > 0 {
		err := p.lines.Fault(at, "has a byte that no access log has; is it compressed?")
		if p.log.Lines == 0 {
			return err
		}
		return p.skip(err)
	}
	if p.parse == nil {
		p.parse = detect(text, &p.log)
	}
	if p.parse == nil && strings.HasPrefix(text, "{") {
		_, column, err := parseJSON(text)
		return p.skip(p.lines.Fault(column, "%v", err))
	}
	if p.parse == nil {
		return p.skip(p.lines.Fault(1, "is no line of nginx's or Apache's combined or common log, and "+
			"no JSON; describe it, as in --format '$remote_addr [$time_local] \"$request\"'"))
	}
	e, column, err := p.parse(text)
	if err != nil {
		return p.skip(p.lines.Fault(column, "%v", err))
	}
	p.log.Lines++
	request, ok := e.request()
	path := strings.HasPrefix(request.URL, "/")
	p.paths = p.paths || path
	if !ok || p.paths && !path && e.host == "" && request.URL != "*" { // asked for as of a proxy
		p.log.Skipped++
		p.log.First = cmp.Or(p.log.First, p.lines.Number())
		return nil
	}
	switch request.Method {
	case "POST", "PUT", "PATCH":
		p.log.Bodiless++
	}
	switch status, _ := strconv.Atoi(e.status); status {
	case 408, 429, 500, 501, 502, 503, 504:
		p.log.Failed[status]++
	case 444, 499: // of nginx: nothing was sent
	default:
		request.Status = status
	}
	if err := take(request); err != nil {
		return p.lines.Fault(0, "%v", err)
	}
	return nil
}

// skip skips an odd line. It is an error if the form of the log is still not known.
func (p *reader) skip(odd error) error {
	if p.odd == nil {
		p.odd = odd
		p.log.FirstOdd = odd.Error()
	}
	if p.log.Odd++; p.log.Lines == 0 && p.log.Odd >= mostUnknown {
		return p.odd
	}
	return nil
}

// An entry is what a line has.
type entry struct {
	method, uri, args, host, status string
	at                              time.Duration // after 1970
	timed                           bool
}

// A parser parts a line. Its error is at a column.
type parser func(line string) (e entry, column int, err error)

// detect returns what parses a log whose first line that is; nil if it is of no known form.
func detect(line string, log *Log) parser {
	if strings.HasPrefix(line, "{") {
		if _, _, err := parseJSON(line); err != nil {
			return nil
		}
		log.Format = "JSON"
		return parseJSON
	}
	for _, k := range known {
		f, err := ParseFormat(k.format)
		if err != nil {
			continue
		}
		if _, _, err = f.parse(line); err == nil && !f.hasBlank(line) {
			log.Format = k.name
			return f.parse
		}
	}
	return nil
}

// hasBlank reports whether a line has a blank in its address: it begins with something else.
func (f Format) hasBlank(line string) (blank bool) {
	f.match(line, func(name, text string, _ int) {
		blank = blank || name == "remote_addr" && strings.Contains(text, " ")
	})
	return blank
}

// parse parts a line of the format.
func (f Format) parse(line string) (e entry, column int, err error) {
	at := 0
	column, problem := f.match(line, func(name, text string, column int) {
		if err == nil {
			err, at = e.set(name, text), column
		}
	})
	if problem != "" {
		return e, column, errors.New(problem)
	}
	return e, at, err
}

// set takes the value of a variable of nginx.
func (e *entry) set(name, text string) (err error) {
	switch name {
	case "request":
		e.method, e.uri, _ = requestLine(unescape(text))
	case "request_method":
		e.method = text
	case "request_uri", "uri":
		e.uri = unescape(text)
	case "args", "query_string":
		e.args = strings.TrimPrefix(unescape(text), "?")
	case "host", "http_host", "server_name":
		if text != "-" && text != "_" {
			e.host = text
		}
	case "status":
		if len(text) != 3 || strings.Trim(text, "0123456789") != "" {
			return fmt.Errorf("its status, %.20q, is none", text)
		}
		e.status = text
	default:
		return e.setTime(name, text)
	}
	return nil
}

// layouts of times, by the names of nginx.
var layouts = map[string]string{"time_local": apacheTime, "time_bracketed": "[" + apacheTime + "]",
	"time_iso8601": time.RFC3339Nano}

const apacheTime = "02/Jan/2006:15:04:05 -0700"

// units of times that are numbers since 1970.
var units = map[string]float64{"msec": 1e9, "milliseconds": 1e6, "microseconds": 1e3}

// setTime takes the value of a variable that is a time. The most exact one counts.
func (e *entry) setTime(name, text string) error {
	if layout := layouts[name]; layout != "" {
		t, err := time.Parse(layout, text)
		if err != nil {
			return fmt.Errorf("its time, %.40q, is not like %s", text, layout)
		}
		if !e.timed || e.at%time.Second == 0 {
			e.at, e.timed = since1970(t), true
		}
		return nil
	}
	if unit := units[name]; unit != 0 {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(math.Abs(f*unit) < 1<<62) {
			return fmt.Errorf("its time, %.40q, is not a number since 1970", text)
		}
		e.at, e.timed = time.Duration(math.Round(f*unit/1e3))*1e3, true // float64 has no more
	}
	return nil
}

// since1970 is a time as a duration, or the nearest that there is.
func since1970(t time.Time) time.Duration { return t.Sub(time.Unix(0, 0)) }

// request is the entry as a request; not ok if it is none that HTTP has.
func (e entry) request() (r imports.Request, ok bool) {
	r = imports.Request{Method: e.method, URL: e.uri, Host: e.host, At: e.at, Timed: e.timed}
	if e.args != "" && e.args != "-" && !strings.Contains(r.URL, "?") {
		r.URL += "?" + e.args
	}
	if r.Method == "" {
		r.Method = "GET" // a log of addresses only
	}
	r.URL, _, _ = strings.Cut(r.URL, "#")
	if _, err := imports.ParseHost(cmp.Or(r.Host, "localhost")); err != nil {
		return r, false
	}
	for _, c := range r.Method {
		if (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return r, false
		}
	}
	path := strings.HasPrefix(r.URL, "/") || strings.Contains(r.URL, "://") ||
		r.URL == "*" && r.Method == "OPTIONS"
	r.URL = escapePath(r.URL)
	return r, path && r.Method != "CONNECT" && len(r.URL) < imports.MaxLine
}

// escapePath writes the bytes of a path as %XX that no request line may have.
func escapePath(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
