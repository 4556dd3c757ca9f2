package h1

import (
	"bytes"
	"math"

	"dyno/internal/engine/proto"
)

// An answer is what a response's header has said so far.
type answer struct {
	status  uint16 // 0: not begun
	old     bool   // HTTP/1.0
	close   bool   // Connection: close
	keep    bool   // Connection: keep-alive
	coded   bool   // there is a Transfer-Encoding
	chunked bool   // whose last coding is chunked
	length  int64  // Content-Length, or -1
}

// begin reads a status line: HTTP/1.x, a space, three digits, and any reason.
func (a *answer) begin(line []byte) *proto.Fault {
	if f := alien(line); f != nil {
		return f
	}
	if len(line) < 12 || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return badStatus(line)
	}
	minor, x, y, z := line[7]-'0', line[9]-'0', line[10]-'0', line[11]-'0'
	if minor > 9 || x < 1 || x > 9 || y > 9 || z > 9 {
		return badStatus(line)
	}
	status := uint16(x)*100 + uint16(y)*10 + uint16(z)
	*a = answer{status: status, old: minor == 0, length: -1}
	return nil
}

func badStatus(line []byte) *proto.Fault {
	return fault(proto.FaultGarbage, "not a status line: %q", line[:min(len(line), 80)])
}

const signature = "HTTP/1."

// alien reports, as soon as b shows it, that the peer does not speak HTTP/1.x.
func alien(b []byte) *proto.Fault {
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
	return fault(proto.FaultGarbage,
		"not an HTTP/1.x response: it begins with %q%s", b[:min(len(b), 40)], hint)
}

// field reads one header line, which is not empty. Only what frames the message
// or ends the connection matters.
func (a *answer) field(line []byte) *proto.Fault {
	switch line[0] {
	case 'C', 'c':
		if v, ok := value(line, "content-length"); ok {
			return a.sized(v)
		}
		if v, ok := value(line, "connection"); ok {
			a.connection(v)
			return nil
		}
	case 'T', 't':
		if v, ok := value(line, "transfer-encoding"); ok {
			last := v[bytes.LastIndexByte(v, ',')+1:]
			a.coded, a.chunked = true, fold(trim(last), "chunked")
			return nil
		}
	case ' ', '\t':
		return fault(proto.FaultFraming, "a folded header line (begins with a space): %q",
			line[:min(len(line), 80)])
	}
	if bytes.IndexByte(line, ':') <= 0 {
		return fault(proto.FaultGarbage, "not a header line: %q", line[:min(len(line), 80)])
	}
	return nil
}

// sized reads a Content-Length: one number, or the same one several times.
func (a *answer) sized(v []byte) *proto.Fault {
	if n, ok := decimal(v); ok && a.length < 0 { // nearly always
		a.length = n
		return nil
	}
	for more := true; more; {
		var item []byte
		item, v, more = bytes.Cut(v, comma)
		n, ok := decimal(trim(item))
		switch {
		case !ok:
			return fault(proto.FaultFraming, "bad Content-Length %q", item[:min(len(item), 40)])
		case a.length >= 0 && a.length != n:
			return fault(proto.FaultFraming, "Content-Length is both %d and %d", a.length, n)
		}
		a.length = n
	}
	return nil
}

func (a *answer) connection(v []byte) {
	for more := true; more; {
		var item []byte
		item, v, more = bytes.Cut(v, comma)
		item = trim(item)
		a.close = a.close || fold(item, "close")
		a.keep = a.keep || fold(item, "keep-alive")
	}
}

var comma = []byte(",")

// value is what follows the colon, if the line's field has that lower-case name.
func value(line []byte, name string) ([]byte, bool) {
	if len(line) <= len(name) || !fold(line[:len(name)], name) {
		return nil, false
	}
	rest := trim(line[len(name):])
	if len(rest) == 0 || rest[0] != ':' {
		return nil, false
	}
	return trim(rest[1:]), true
}

// fold reports whether b is lower, in any case. Lower has letters and hyphens
// only; what else the folding makes of a hyphen cannot be part of a line's name.
func fold(b []byte, lower string) bool {
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

// trim cuts spaces and tabs off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

func decimal(b []byte) (v int64, ok bool) {
	for _, x := range b {
		if x -= '0'; x > 9 || v > math.MaxInt64/10-1 {
			return 0, false
		}
		v = v*10 + int64(x)
	}
	return v, len(b) > 0
}
