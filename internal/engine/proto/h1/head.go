package h1

import (
	"bytes"
	"math"

	"dyno/internal/engine/proto"
)

// How much header a peer may send without completing a response.
const (
	maxHead    = 256 << 10 // bytes, with the headers of interim responses before it
	maxInterim = 64        // 1xx responses to one request
)

// An answer is what the lines of a response's header have meant so far.
type answer struct {
	status  uint16 // 0: not begun
	old     bool   // HTTP/1.0
	close   bool   // Connection: close
	keep    bool   // Connection: keep-alive
	coded   bool   // there is a Transfer-Encoding
	chunked bool   // its last coding is chunked
	length  int64  // Content-Length, or -1
}

// parseStatusLine reads a status line: HTTP/1.x, a space, three digits, and any reason.
func (a *answer) parseStatusLine(line []byte) *proto.Fault {
	if f := foreignProtocol(line); f != nil {
		return f
	}
	if len(line) < 12 || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return statusLineFault(line)
	}
	minor, x, y, z := line[7]-'0', line[9]-'0', line[10]-'0', line[11]-'0'
	if minor > 9 || x < 1 || x > 9 || y > 9 || z > 9 {
		return statusLineFault(line)
	}
	status := uint16(x)*100 + uint16(y)*10 + uint16(z)
	*a = answer{status: status, old: minor == 0, length: -1}
	return nil
}

func statusLineFault(line []byte) *proto.Fault {
	return newFault(proto.FaultGarbage, "not a status line: %q", line[:min(len(line), 80)])
}

const signature = "HTTP/1."

// foreignProtocol fails as soon as b shows that the peer does not speak HTTP/1.x.
func foreignProtocol(b []byte) *proto.Fault {
	k := min(len(b), len(signature))
	if string(b[:k]) == signature[:k] {
		return nil
	}
	hint := ""
	switch {
	case b[0] == 0x15 || b[0] == 0x16:
		hint = "; is this an https:// server?"
	case b[0] == 0:
		hint = "; is this an HTTP/2 server?"
	}
	return newFault(proto.FaultGarbage,
		"not an HTTP/1.x response: it begins with %q%s", b[:min(len(b), 40)], hint)
}

// parseField reads one header line, which is not empty. Only what frames the message
// or ends the connection matters.
func (a *answer) parseField(line []byte) *proto.Fault {
	switch line[0] {
	case 'C', 'c':
		if v, ok := fieldValue(line, "content-length"); ok {
			return a.parseContentLength(v)
		}
		if v, ok := fieldValue(line, "connection"); ok {
			a.parseConnection(v)
			return nil
		}
	case 'T', 't':
		if v, ok := fieldValue(line, "transfer-encoding"); ok {
			last := v[bytes.LastIndexByte(v, ',')+1:]
			a.coded, a.chunked = true, equalsFold(trimBlanks(last), "chunked")
			return nil
		}
	case ' ', '\t':
		return newFault(proto.FaultFraming, "a folded header line (begins with a space): %q",
			line[:min(len(line), 80)])
	}
	if bytes.IndexByte(line, ':') <= 0 {
		return newFault(proto.FaultGarbage, "not a header line: %q", line[:min(len(line), 80)])
	}
	return nil
}

// parseContentLength reads a Content-Length: one number, or the same one several times.
func (a *answer) parseContentLength(v []byte) *proto.Fault {
	if n, ok := parseDecimal(v); ok && a.length < 0 { // nearly always
		a.length = n
		return nil
	}
	for more := true; more; {
		var item []byte
		item, v, more = bytes.Cut(v, comma)
		n, ok := parseDecimal(trimBlanks(item))
		switch {
		case !ok:
			return newFault(proto.FaultFraming, "bad Content-Length %q", item[:min(len(item), 40)])
		case a.length >= 0 && a.length != n:
			return newFault(proto.FaultFraming, "Content-Length is both %d and %d", a.length, n)
		}
		a.length = n
	}
	return nil
}

func (a *answer) parseConnection(v []byte) {
	for more := true; more; {
		var item []byte
		item, v, more = bytes.Cut(v, comma)
		item = trimBlanks(item)
		a.close = a.close || equalsFold(item, "close")
		a.keep = a.keep || equalsFold(item, "keep-alive")
	}
}

var comma = []byte(",")

// fieldValue is what follows the colon, if the line's field has that lower-case name.
func fieldValue(line []byte, name string) ([]byte, bool) {
	if len(line) <= len(name) || !equalsFold(line[:len(name)], name) {
		return nil, false
	}
	rest := trimBlanks(line[len(name):])
	if len(rest) == 0 || rest[0] != ':' {
		return nil, false
	}
	return trimBlanks(rest[1:]), true
}

// equalsFold reports whether b is lower, in any case. Lower has letters and hyphens
// only; what else the folding makes of a hyphen cannot be part of a line's name.
func equalsFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		if b[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// trimBlanks cuts spaces and tabs off both ends.
func trimBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

func parseDecimal(b []byte) (v int64, ok bool) {
	for _, x := range b {
		if x -= '0'; x > 9 || v > math.MaxInt64/10-1 {
			return 0, false
		}
		v = v*10 + int64(x)
	}
	return v, len(b) > 0
}
