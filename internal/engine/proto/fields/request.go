package fields

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

// MaxStreams bounds the streams of one connection. Few servers allow more than 250.
const MaxStreams = 1 << 14

// Check returns all reasons why r cannot be sent as a request of HTTP/2 or HTTP/3, with the
// request's name; nil means that both take it. Names may have capitals: they are sent in lower
// case. A Host field becomes :authority.
func Check(r proto.Request) error {
	faults := []error{h1.Check(r)}
	for _, f := range r.Header {
		switch name := strings.ToLower(f.Name); {
		case Named([]byte(name)).kind == forbidden && f.Name != "":
			faults = append(faults, fmt.Errorf("header %s: is about a connection of HTTP/1.1, "+
				"and HTTP/2 and HTTP/3 forbid it", f.Name))
		case name == "te" && !strings.EqualFold(strings.TrimSpace(f.Value), "trailers"):
			faults = append(faults, fmt.Errorf("header %s: HTTP/2 and HTTP/3 allow trailers only, not %q",
				f.Name, f.Value))
		}
	}
	return errors.Join(faults...)
}

// CheckDefaults reports the first default field with a value that no header can have.
func CheckDefaults(defaults []proto.Field) error {
	for _, f := range defaults {
		if proto.HasControl(f.Value) {
			return fmt.Errorf("%s %q: contains a control character", f.Name, f.Value)
		}
	}
	return nil
}

// A Template is a request's header block, without the values that differ between messages. Fields
// with holes are literals without Huffman code.
type Template struct {
	List []byte
	gaps []gap // where those values stand, in order
}

// HasGaps reports whether List is not the whole block.
func (t *Template) HasGaps() bool { return len(t.gaps) > 0 }

// A gap is the place of a value in a template's list, before which its length is to stand.
type gap struct {
	at    int
	text  string // around the holes
	holes []proto.Hole
	size  bool // it is the length of the message's body
}

// An Encoder writes the header blocks of a run's requests. It has memory for one value, so it is of
// one goroutine.
type Encoder struct {
	Coding   Coding
	Scheme   string
	Defaults []proto.Field // of requests that have no field of the name

	name, value []byte
}

// AppendRequest appends r's header block to the template's list.
func (e *Encoder) AppendRequest(t *Template, r *proto.Request) {
	authority, sized, host := r.Authority, r.SendsLength(), -1
	for i, f := range r.Header {
		switch {
		case strings.EqualFold(f.Name, "host"):
			authority, host = f.Value, i
		case strings.EqualFold(f.Name, "content-length"):
			sized = false
		}
	}
	e.appendField(t, ":method", r.Method, nil)
	e.appendField(t, ":scheme", e.Scheme, nil)
	if holes := r.FieldHoles(host); authority != "" || len(holes) > 0 {
		e.appendField(t, ":authority", authority, holes)
	}
	e.appendField(t, ":path", r.Path, r.PathHoles())
	for i := range e.Defaults {
		if f := &e.Defaults[i]; !r.HasField(f.Name) {
			e.appendField(t, f.Name, f.Value, nil)
		}
	}
	for i, f := range r.Header {
		if !strings.EqualFold(f.Name, "host") {
			e.appendField(t, f.Name, f.Value, r.FieldHoles(i))
		}
	}
	if sized {
		e.appendLength(t, r)
	}
}

// appendField appends a field. Its name is written in lower case.
func (e *Encoder) appendField(t *Template, name, value string, holes []proto.Hole) {
	e.name = proto.AppendLower(e.name[:0], name)
	if len(holes) > 0 {
		t.List = e.Coding.AppendName(t.List, e.name)
		t.gaps = append(t.gaps, gap{at: len(t.List), text: value, holes: holes})
		return
	}
	e.value = append(e.value[:0], strings.Trim(value, " \t")...)
	t.List = e.Coding.AppendField(t.List, e.name, e.value)
}

// appendLength appends the length of r's body.
func (e *Encoder) appendLength(t *Template, r *proto.Request) {
	e.name = append(e.name[:0], "content-length"...)
	if r.HasHoles(proto.InBody) {
		t.List = e.Coding.AppendName(t.List, e.name)
		t.gaps = append(t.gaps, gap{at: len(t.List), size: true})
		return
	}
	e.value = strconv.AppendInt(e.value[:0], int64(len(r.Body)), 10)
	t.List = e.Coding.AppendField(t.List, e.name, e.value)
}

// AppendFilled appends a template's header block with the values of one message.
func (e *Encoder) AppendFilled(list []byte, t *Template, fill *proto.Fill) []byte {
	from := 0
	for i := range t.gaps {
		g := &t.gaps[i]
		list = append(list, t.List[from:g.at]...)
		from = g.at
		v := e.value[:0]
		if g.size {
			v = strconv.AppendInt(v, int64(len(fill.Body)), 10)
		} else {
			v = proto.AppendFilled(v, g.text, g.holes, fill.Values)
		}
		e.value = v
		v = bytes.Trim(v, " \t")
		list = append(AppendInteger(list, 0, 0x7f, len(v)), v...)
	}
	return append(list, t.List[from:]...)
}
