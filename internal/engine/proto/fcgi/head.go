package fcgi

import (
	"bytes"
	"strconv"

	"dyno/internal/engine/proto"
)

// maxLine is how many bytes of a header line are kept, enough for the fields that matter.
const maxLine = 128

// An answer is the part of a response that has arrived.
type answer struct {
	touched bool // a record of it has arrived
	whole   bool // the header is complete
	located bool // there is a Location
	status  uint16
	kept    uint8
	size    int   // bytes of header
	length  int64 // Content-Length, or -1
	body    int64
	fault   *proto.Fault // the first thing that was wrong with the header
	line    [maxLine]byte
}

// resetAnswer resets everything except the line, whose old content does not matter.
func (a *answer) resetAnswer() {
	a.touched, a.whole, a.located, a.status, a.kept = false, false, false, 0, 0
	a.size, a.length, a.body, a.fault = 0, -1, 0, nil
}

// statusCode is the status, or CGI's default if the header has none.
func (a *answer) statusCode() uint16 {
	switch {
	case a.status != 0:
		return a.status
	case a.located:
		return 302
	}
	return 200
}

// readHead reads lines from b, up to the end of the header.
func (c *codec) readHead(b []byte) (n int) {
	a := &c.answer
	for n < len(b) && !a.whole && a.size <= maxHead {
		rest := b[n:]
		end := bytes.IndexByte(rest, '\n')
		part, k := rest, len(rest)
		if end >= 0 {
			part, k = rest[:end], end+1
		}
		a.kept += uint8(copy(a.line[a.kept:], part))
		a.size += k
		if c.sink != nil {
			c.noteText(part, end >= 0)
		}
		if n += k; end >= 0 {
			a.parseLine()
		}
	}
	return n
}

// parseLine evaluates a complete line, of which only the beginning may have been kept.
func (a *answer) parseLine() {
	line := a.line[:a.kept]
	if a.kept = 0; len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	if len(line) == 0 {
		a.whole = true
		return
	}
	colon := bytes.IndexByte(line, ':')
	if colon == 0 || colon < 0 && len(line) < maxLine {
		a.noteFault(newFault(proto.FaultGarbage, "not a header line: %q", line[:min(len(line), 80)]))
	}
	if colon <= 0 {
		return
	}
	name, value := line[:colon], bytes.TrimSpace(line[colon+1:])
	switch line[0] | 0x20 {
	case 's':
		if equalsFold(name, "status") {
			a.parseStatus(value)
		}
	case 'l':
		a.located = a.located || equalsFold(name, "location")
	case 'c':
		if equalsFold(name, "content-length") {
			a.parseContentLength(value)
		}
	}
}

// equalsFold reports whether b is lower in any case.
func equalsFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		if b[i]|0x20 != lower[i]|0x20 { // \r becomes a hyphen too, but is in no name
			return false
		}
	}
	return true
}

// parseStatus parses the value of Status: three digits, and any reason.
func (a *answer) parseStatus(v []byte) {
	code, _, _ := bytes.Cut(v, space)
	n, err := strconv.ParseUint(string(code), 10, 16)
	if err != nil || len(code) != 3 || n < 200 {
		a.noteFault(newFault(proto.FaultGarbage, "bad Status %q", v))
		return
	}
	a.status = uint16(n)
}

var space = []byte(" ")

func (a *answer) parseContentLength(v []byte) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	switch {
	case err != nil || n < 0 || v[0] == '+':
		a.noteFault(newFault(proto.FaultFraming, "bad Content-Length %q", v))
	case a.length >= 0 && a.length != n:
		a.noteFault(newFault(proto.FaultFraming, "Content-Length is both %d and %d", a.length, n))
	default:
		a.length = n
	}
}

func (a *answer) noteFault(f *proto.Fault) {
	if a.fault == nil {
		a.fault = f
	}
}

// headFault is the fault of a response's header, or nil; the response is complete.
func (a *answer) headFault(bare bool) *proto.Fault {
	switch {
	case a.fault != nil:
		return a.fault
	case !a.whole:
		return newFault(proto.FaultTruncated,
			"the application ended its response inside the header, after %d bytes", a.size)
	case a.length >= 0 && a.length != a.body && !(bare && a.body == 0) && a.statusCode() != 304:
		return newFault(proto.FaultFraming,
			"the response has %d bytes of body and a Content-Length of %d", a.body, a.length)
	}
	return nil
}
