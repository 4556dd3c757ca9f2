package h2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

func (o Options) checkOptions() error {
	switch {
	case o.Scheme != "http" && o.Scheme != "https":
		return fmt.Errorf("scheme %q is not http or https", o.Scheme)
	case o.Streams < 0 || o.Streams > MaxStreams:
		return fmt.Errorf("streams on a connection %d: allowed are 1 to %d", o.Streams, MaxStreams)
	case o.CloseAfter < 0:
		return fmt.Errorf("requests before closing %d: allowed are 0 (never) and more", o.CloseAfter)
	}
	for _, f := range o.Defaults {
		if !isClean([]byte(f.Value)) {
			return fmt.Errorf("%s %q: contains CR, LF or NUL, or begins or ends with a space", f.Name,
				f.Value)
		}
	}
	return nil
}

// Check returns all reasons why r cannot be sent as an HTTP/2 request, with the request's name; nil
// means that Protocol accepts it. Names may have capitals: they are sent in lower case. A Host
// field becomes :authority.
func Check(r proto.Request) error {
	faults := []error{h1.Check(r)}
	for _, f := range r.Header {
		switch name := strings.ToLower(f.Name); {
		case FieldOf([]byte(name)).kind == forbidden && f.Name != "":
			faults = append(faults, fmt.Errorf("header %s: is about a connection of HTTP/1.1, "+
				"and HTTP/2 forbids it", f.Name))
		case name == "te" && !strings.EqualFold(strings.TrimSpace(f.Value), "trailers"):
			faults = append(faults, fmt.Errorf("header %s: HTTP/2 allows trailers only, not %q",
				f.Name, f.Value))
		}
	}
	return errors.Join(faults...)
}

// A message is a request as it is sent, in frames of stream 0.
type message struct {
	first []byte // as the first on a connection
	head  []byte
	body  []byte
	bare  bool // HEAD: the response will have no body
	own   *template
}

// A template is the header block of a request with holes, and of others nil. Fields with holes are
// literals without Huffman code.
type template struct {
	list []byte // without the values that differ between messages
	gaps []gap  // where those stand, in order
}

// A gap is the place of a value in a template's list, before which its length is to stand.
type gap struct {
	at    int
	text  string // around the holes
	holes []proto.Hole
	size  bool // it is the length of the message's body
}

// noTable, at the front of a header block, announces that we use no dynamic table.
const noTable = 0x20

func (o Options) compileRequest(r *proto.Request) message {
	var t template
	o.appendList(&t, r)
	m := message{body: r.Body, bare: r.Method == "HEAD"}
	if len(t.gaps) > 0 {
		m.own = &t
		return m
	}
	m.first = appendHeaders(nil, append([]byte{noTable}, t.list...), len(r.Body) == 0)
	m.head = appendHeaders(nil, t.list, len(r.Body) == 0)
	return m
}

// appendList appends r's header block.
func (o Options) appendList(t *template, r *proto.Request) {
	authority, sized, host := r.Authority, r.SendsLength(), -1
	for i, f := range r.Header {
		switch {
		case strings.EqualFold(f.Name, "host"):
			authority, host = f.Value, i
		case strings.EqualFold(f.Name, "content-length"):
			sized = false
		}
	}
	t.appendField(":method", r.Method, nil)
	t.appendField(":scheme", o.Scheme, nil)
	if holes := r.FieldHoles(host); authority != "" || len(holes) > 0 {
		t.appendField(":authority", authority, holes)
	}
	t.appendField(":path", r.Path, r.PathHoles())
	for _, f := range o.Defaults {
		if !r.HasField(f.Name) {
			t.appendField(strings.ToLower(f.Name), f.Value, nil)
		}
	}
	for i, f := range r.Header {
		if name := strings.ToLower(f.Name); name != "host" {
			t.appendField(name, f.Value, r.FieldHoles(i))
		}
	}
	switch {
	case sized && r.HasHoles(proto.InBody):
		t.list = appendName(t.list, "content-length")
		t.gaps = append(t.gaps, gap{at: len(t.list), size: true})
	case sized:
		t.appendField("content-length", strconv.Itoa(len(r.Body)), nil)
	}
}

// appendField appends a field. A name is in lower case.
func (t *template) appendField(name, value string, holes []proto.Hole) {
	if len(holes) == 0 {
		t.list = appendField(t.list, name, strings.Trim(value, " \t"))
		return
	}
	t.list = appendName(t.list, name)
	t.gaps = append(t.gaps, gap{at: len(t.list), text: value, holes: holes})
}

// appendFilled appends the header block with the values of one message. Value is memory for one.
func (t *template) appendFilled(list []byte, fill *proto.Fill, value *[]byte) []byte {
	from := 0
	for i := range t.gaps {
		g := &t.gaps[i]
		list = append(list, t.list[from:g.at]...)
		from = g.at
		v := (*value)[:0]
		if g.size {
			v = strconv.AppendInt(v, int64(len(fill.Body)), 10)
		} else {
			v = proto.AppendFilled(v, g.text, g.holes, fill.Values)
		}
		*value = v
		v = bytes.Trim(v, " \t")
		list = append(AppendInteger(list, 0, 0x7f, len(v)), v...)
	}
	return append(list, t.list[from:]...)
}

// appendHeaders appends a header block in frames that every server takes.
func appendHeaders(b, list []byte, ends bool) []byte {
	kind, flags := byte(frameHeaders), byte(0)
	if ends {
		flags = flagEnd
	}
	for {
		n := min(len(list), frameMin)
		if n == len(list) {
			flags |= flagEndHeaders
		}
		b = append(appendFrame(b, n, kind, flags, 0), list[:n]...)
		if list = list[n:]; len(list) == 0 {
			return b
		}
		kind, flags = frameContinuation, 0
	}
}

// appendFrames appends frames, as those of a stream.
func appendFrames(out, frames []byte, id uint32) []byte {
	i := len(out)
	return setStream(append(out, frames...), i, id)
}

// setStream makes the frames from out[i] on those of a stream.
func setStream(out []byte, i int, id uint32) []byte {
	for i < len(out) {
		binary.BigEndian.PutUint32(out[i+5:], id)
		i += frameHeader + int(out[i])<<16 + int(out[i+1])<<8 + int(out[i+2])
	}
	return out
}

// clientPreface is the first bytes of a connection.
func (o Options) clientPreface() []byte {
	b := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	settings := []byte{}
	set := func(which uint16, value uint32) {
		settings = binary.BigEndian.AppendUint16(settings, which)
		settings = binary.BigEndian.AppendUint32(settings, value)
	}
	if o.NoTable {
		set(headerTableSize, 0)
	}
	set(enablePush, 0)
	set(initialWindowSize, receiveWindow)
	set(maxHeaderListSize, maxHead)
	b = append(appendFrame(b, len(settings), frameSettings, 0, 0), settings...)
	return appendWindow(b, 0, receiveWindow-firstWindow)
}
