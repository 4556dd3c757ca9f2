package fields

import (
	"bytes"
	"math"

	"dyno/internal/engine/proto"
)

// A Field is a header field of a response without its text. Only two fields matter. Of all others
// their length does, and whether HTTP allows them.
type Field struct {
	value int64  // of :status and content-length; -1: not a number
	Size  uint32 // as HPACK and QPACK count: name and value, and Overhead for an entry
	name  uint32 // bytes of the name
	kind  kind
	bad   bool // its value is not allowed
}

type kind uint8

const (
	other kind = iota
	status
	length
	pseudo    // a pseudo-header field that responses do not have
	forbidden // a name that HTTP/2 and HTTP/3 do not allow
)

// Overhead is the bytes that an entry of a table counts for beside its text.
const Overhead = 32

// Named is the field of that name, without a value.
func Named(name []byte) Field {
	f := Field{name: uint32(len(name))}
	switch string(name) {
	case ":status":
		f.kind = status
	case "content-length":
		f.kind = length
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		f.kind = forbidden
	default:
		if len(name) > 0 && name[0] == ':' {
			f.kind = pseudo
		} else if !isLowerToken(name) {
			f.kind = forbidden
		}
	}
	return f
}

// With is f with another value.
func (f Field) With(value []byte) Field {
	f.Size = f.name + uint32(len(value)) + Overhead
	f.bad = !isValue(value)
	if f.value = 0; f.kind == status || f.kind == length {
		f.value = parseDecimal(value)
	}
	if f.kind == status && (len(value) != 3 || f.value < 100) {
		f.value = -1
	}
	return f
}

func isLowerToken(b []byte) bool {
	for _, x := range b {
		switch {
		case 'a' <= x && x <= 'z', '0' <= x && x <= '9', x == '-', x == '_':
		case bytes.IndexByte(symbols, x) >= 0:
		default:
			return false
		}
	}
	return len(b) > 0
}

var symbols = []byte("!#$%&'*+.^`|~")

// isValue reports whether HTTP allows b as the value of a field (RFC 9110, 5.5). HTTP/3 wants just
// that (RFC 9114, 10.3). HTTP/2 allows it (RFC 9113, 8.2.1), where it wants less: that a value has
// no NUL, CR or LF, and no blank at its ends.
func isValue(b []byte) bool {
	n := len(b)
	return n == 0 || !isBlank(b[0]) && !isBlank(b[n-1]) && !proto.HasControl(b)
}

func isBlank(x byte) bool { return x == ' ' || x == '\t' }

func parseDecimal(b []byte) (v int64) {
	for _, x := range b {
		if x -= '0'; x > 9 || v > math.MaxInt64/10-1 {
			return -1
		}
		v = v*10 + int64(x)
	}
	if len(b) == 0 {
		return -1
	}
	return v
}

// A Header is the meaning of a header block. The zero value with a Length of -1 is that of none.
type Header struct {
	Status  uint16 // 0: none
	regular bool   // it has fields that are not pseudo-header fields
	Size    int    // of the list, as HPACK and QPACK count
	Length  int64  // content-length; -1: none
	wrong   string // the first violation of HTTP, or ""
}

// SetField adds a field.
func (h *Header) SetField(f *Field) {
	h.Size += int(f.Size)
	wrong := ""
	switch f.kind {
	case status:
		switch {
		case f.value < 0:
			wrong = "its :status is not a status code"
		case h.Status != 0:
			wrong = "it has two fields :status"
		case h.regular:
			wrong = ":status comes after other fields"
		default:
			h.Status = uint16(f.value)
		}
	case pseudo:
		wrong = "it has a pseudo-header field that no response has"
	case forbidden:
		wrong = "it has a field whose name HTTP/2 and HTTP/3 do not allow"
	case length:
		if f.value < 0 || h.Length >= 0 && h.Length != f.value {
			wrong = "its content-length is not one number"
		}
		h.Length = f.value
	}
	if f.bad {
		wrong = "it has a field whose value HTTP does not allow"
	}
	h.regular = h.regular || f.kind != status
	if h.wrong == "" {
		h.wrong = wrong
	}
}
