package proto

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Message is one request to send: one of the run's set, with what fills its holes, or one of its
// own. It is small so that it travels in registers (see RUNTIME.md).
type Message struct {
	Request int   // which of the run's set
	Fill    *Fill // nil: the request as the set has it, which has no holes
}

// A Fill is what a message has of its own. Its bytes may not change until the exchange is over and
// all of the request is sent: see Borrower.
type Fill struct {
	Values [][]byte // what stands in the holes, by Hole.Value; each passed CheckValue
	Body   []byte   // the whole body, if a hole is in it
	Own    *Request // sent instead of one of the set; it passed the protocol's Check
}

// A Hole is a place in a Request where each message has a value of its own.
type Hole struct {
	In    Part
	Field int // InHeader: which of Header
	At    int // bytes of that part's text before the hole
	Value int // which of the message's values
}

// A Part is a part of a request that can have holes.
type Part uint8

// The parts of a request, in the order in which they are sent.
const (
	InPath Part = iota
	InHeader
	InBody
)

// HasHoles reports whether a hole is in that part.
func (r *Request) HasHoles(in Part) bool {
	return slices.ContainsFunc(r.Holes, func(h Hole) bool { return h.In == in })
}

// SendsLength reports whether the length of the body is sent, unless a header says it: of a body,
// and of a method whose requests usually have one.
func (r *Request) SendsLength() bool {
	switch r.Method {
	case "POST", "PUT", "PATCH":
		return true
	}
	return len(r.Body) > 0 || r.HasHoles(InBody)
}

// FieldHoles are the holes in field i of the header, or nil.
func (r *Request) FieldHoles(i int) []Hole { return r.holesOf(InHeader, i) }

// PathHoles are the holes in the path, or nil.
func (r *Request) PathHoles() []Hole { return r.holesOf(InPath, 0) }

// BodyHoles are the holes in the body, or nil.
func (r *Request) BodyHoles() []Hole { return r.holesOf(InBody, 0) }

// holesOf are the holes of one text. They lie side by side, for CheckHoles wants them in order.
func (r *Request) holesOf(in Part, field int) []Hole {
	is := func(h Hole) bool { return h.In == in && (in != InHeader || h.Field == field) }
	first := slices.IndexFunc(r.Holes, is)
	if first < 0 {
		return nil
	}
	n := slices.IndexFunc(r.Holes[first:], func(h Hole) bool { return !is(h) })
	if n < 0 {
		n = len(r.Holes) - first
	}
	return r.Holes[first : first+n]
}

// framing are the fields that decide where a message or a connection ends. A codec reads them when
// it compiles a request, so their values are fixed.
var framing = []string{"connection", "content-length", "te", "trailer", "transfer-encoding",
	"upgrade"}

// CheckHoles reports the first hole of r that is not in its text, not in order (by part, field and
// place), or in a field that frames the message; nil if there is none.
func (r *Request) CheckHoles() error {
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, "content-length") && r.HasHoles(InBody) {
			return fmt.Errorf("header %s: the body's length differs from message to message; leave it out, "+
				"it is sent when needed", f.Name)
		}
	}
	last := Hole{Field: math.MinInt}
	for i, h := range r.Holes {
		text := 0
		switch {
		case h.In == InPath:
			text = len(r.Path)
		case h.In == InBody:
			text = len(r.Body)
		case h.In != InHeader || h.Field < 0 || h.Field >= len(r.Header):
			return fmt.Errorf("hole %d: is in no part of the request", i+1)
		default:
			f := r.Header[h.Field]
			if slices.Contains(framing, strings.ToLower(f.Name)) {
				return fmt.Errorf("header %s: frames the message, so its value is the same in all", f.Name)
			}
			text = len(f.Value)
		}
		if h.At < 0 || h.At > text || h.Value < 0 || h.In == InPath && (h.At == 0 || r.Path == "*") {
			return fmt.Errorf("hole %d: byte %d of %d bytes, value %d", i+1, h.At, text, h.Value)
		}
		if i > 0 && (h.In < last.In || h.In == last.In &&
			(h.Field < last.Field || h.Field == last.Field && h.At < last.At)) {
			return fmt.Errorf("hole %d: comes before the hole that it follows", i+1)
		}
		last = h
	}
	return nil
}

// IsChunked reports whether the header says that the body is sent in chunks. It passed
// CheckFraming, so that it says nothing else.
func (r *Request) IsChunked() bool {
	return r.HasField("Transfer-Encoding")
}

// HasField reports whether the header has a field of that name, in any case.
func (r *Request) HasField(name string) bool {
	return slices.ContainsFunc(r.Header, func(f Field) bool { return f.is(name) })
}

// is reports whether the field has that name, in any case.
func (f *Field) is(name string) bool {
	return len(f.Name) == len(name) && strings.EqualFold(f.Name, name)
}

// CheckFraming reports a field of the header that says otherwise where the body ends than it does:
// a server would take the rest for another request, or wait for more. nil if there is none. A body
// can be chunked, but not have its length said, too: of the two, servers differ in which they obey.
func (r *Request) CheckFraming() error {
	lengths, chunked := 0, false
	for i := range r.Header {
		switch f := &r.Header[i]; {
		case f.is("transfer-encoding"):
			if !strings.EqualFold(strings.Trim(f.Value, " \t"), "chunked") {
				return fmt.Errorf("header %s: %.40q is not chunked, the only coding that is sent", f.Name,
					f.Value)
			}
			if chunked {
				return fmt.Errorf("header %s: is given twice", f.Name)
			}
			chunked = true
		case !f.is("content-length"):
		case r.HasHoles(InBody): // see CheckHoles
		case strings.Trim(f.Value, " \t") != strconv.Itoa(len(r.Body)):
			return fmt.Errorf("header %s: %.40q is not the length of the body, %d; leave it out, "+
				"it is sent when needed", f.Name, f.Value, len(r.Body))
		default:
			if lengths++; lengths > 1 {
				return fmt.Errorf("header %s: is given twice", f.Name)
			}
		}
	}
	if chunked && lengths > 0 {
		return errors.New("headers Content-Length and Transfer-Encoding: both say where the body ends; " +
			"leave one of them out")
	}
	return nil
}

// CheckValue reports why a value may not stand in a hole of that part, with the value's beginning:
// nil if it may. A path takes no space and no control character, a header no control character but
// a tab.
func CheckValue(in Part, value []byte) error {
	if problem := ValueProblem(in, value); problem != "" {
		return fmt.Errorf("%.40q %s", value, problem)
	}
	return nil
}

// ValueProblem is CheckValue without the value, which may be a secret; "" if it may stand there.
func ValueProblem(in Part, value []byte) string {
	switch in {
	case InPath:
		for _, b := range value {
			if b <= ' ' || b == 0x7f {
				return "contains a space or a control character, which no path can have; write it as " +
					"%20 or the like"
			}
		}
	case InHeader:
		if HasControl(value) {
			return "contains a control character, which no header can have"
		}
	}
	return ""
}

// HasControl reports whether a value of a header has a control character that is no tab: then HTTP
// does not allow it (RFC 9110, 5.5).
func HasControl[T string | []byte](value T) bool {
	for i := range len(value) {
		if x := value[i]; x < ' ' && x != '\t' || x == 0x7f {
			return true
		}
	}
	return false
}

// Filled is the request without holes that a message of r with that Fill is; nil fills nothing.
// Own is not looked at. The header is a copy; the body is Fill.Body, or that of r.
func (r *Request) Filled(fill *Fill) Request {
	plain := *r
	plain.Holes, plain.Header = nil, slices.Clone(r.Header)
	if fill == nil {
		return plain
	}
	text := func(s string, holes []Hole) string {
		if len(holes) == 0 {
			return s
		}
		return string(AppendFilled(nil, s, holes, fill.Values))
	}
	plain.Path = text(r.Path, r.PathHoles())
	for i := range plain.Header {
		f := &plain.Header[i]
		f.Value = text(f.Value, r.FieldHoles(i))
	}
	if fill.Body != nil {
		plain.Body = fill.Body
	}
	return plain
}

// AppendFilled appends text with values in its holes.
func AppendFilled[T string | []byte](b []byte, text T, holes []Hole, values [][]byte) []byte {
	from := 0
	for _, h := range holes {
		b = append(append(b, text[from:h.At]...), values[h.Value]...)
		from = h.At
	}
	return append(b, text[from:]...)
}

// A Borrower is a Codec that may still read a message after its exchange is over, because a
// response came before all of the request was sent. Until that is sent it has no Room.
type Borrower interface {
	// Borrows reports whether the codec has still to send a part of the message that the last
	// Encode with that tag was given. Once it reports false, the message is not read again.
	Borrows(tag uint32) bool
}
