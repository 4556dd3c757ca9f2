package h3

import (
	"bytes"
	"encoding/binary"
	"errors"

	"dyno/internal/engine/proto"
)

// A message with values of its own goes to the ring as text, for the ring's goroutines may send it
// when the worker has long used its memory for the next one: method, authority, path, how many
// fields, the name and the value of each, and the body. Before each but the body stands its length.

// appendMessage appends what the ring is asked for exchange id. The codec reads the message no
// more then, so it is no proto.Borrower.
func appendMessage(out []byte, reqs []proto.Request, m proto.Message, id uint64) []byte {
	r, body := m.Fill.Own, m.Fill.Body
	order := record{what: askText, id: id}
	switch {
	case r != nil:
		body = r.Body
	case len(reqs[m.Request].Holes) == 0:
		return record{what: ask, id: id, n: uint64(m.Request)}.appendTo(out)
	default:
		if r = &reqs[m.Request]; body == nil { // the ring has it
			order.n = uint64(m.Request) + 1
		}
	}
	out = order.appendTo(out)
	from := len(out)
	out = appendRequest(out, r, m.Fill.Values)
	out = append(out, body...)
	setLength(out, from)
	return out
}

// appendRequest appends r's text without its body, with values in its holes.
func appendRequest(b []byte, r *proto.Request, values [][]byte) []byte {
	b = appendText(b, r.Method, nil, nil)
	b = appendText(b, r.Authority, nil, nil)
	b = appendText(b, r.Path, r.PathHoles(), values)
	b = binary.BigEndian.AppendUint32(b, uint32(len(r.Header)))
	for i, f := range r.Header {
		b = appendText(b, f.Name, nil, nil)
		b = appendText(b, f.Value, r.FieldHoles(i), values)
	}
	return b
}

func appendText(b []byte, text string, holes []proto.Hole, values [][]byte) []byte {
	b = append(b, 0, 0, 0, 0)
	from := len(b)
	b = proto.AppendFilled(b, text, holes, values)
	binary.BigEndian.PutUint32(b[from-4:], uint32(len(b)-from))
	return b
}

// parseRequest reads what appendMessage wrote of a request. Its body is a part of b. It reports
// false if b is no such text.
func parseRequest(b []byte) (r proto.Request, ok bool) {
	ok = true
	number := func() (n uint32) {
		if ok = ok && len(b) >= 4; ok {
			n, b = binary.BigEndian.Uint32(b), b[4:]
		}
		return n
	}
	text := func() (s string) {
		n := number()
		if ok = ok && uint64(n) <= uint64(len(b)); ok {
			s, b = string(b[:n]), b[n:]
		}
		return s
	}
	r.Method, r.Authority, r.Path = text(), text(), text()
	for n := number(); n > 0 && ok; n-- {
		r.Header = append(r.Header, proto.Field{Name: text(), Value: text()})
	}
	r.Body = b
	return r, ok
}

// readMessage is the message of a text.
func (r *Ring) readMessage(text []byte, n uint64) (*message, error) {
	request, ok := parseRequest(text)
	if !ok || n > uint64(len(r.messages)) {
		return nil, errNoRequest
	}
	if n > 0 {
		request.Body = r.messages[n-1].body
	}
	m := compileRequest(&r.encoder, &request)
	if m.short == nil && n == 0 { // it is sent when the worker has long used the text's memory
		m.body = bytes.Clone(m.body)
	}
	return &m, nil
}

var errNoRequest = errors.New("the text is none of a request")
