package h1

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/engine/proto"
)

func (o Options) checkOptions() error {
	switch {
	case o.Depth < 0 || o.Depth > MaxDepth:
		return fmt.Errorf("pipelining depth %d: allowed are 1 to %d", o.Depth, MaxDepth)
	case o.CloseAfter < 0:
		return fmt.Errorf("requests before closing %d: allowed are 0 (never) and more", o.CloseAfter)
	case o.ChunkSize < 0:
		return fmt.Errorf("bytes of a chunk %d: allowed are 1 and more", o.ChunkSize)
	}
	for _, f := range o.Defaults {
		if !isToken(f.Name) || proto.HasControl(f.Value) {
			return fmt.Errorf("%s %q: contains a control character", f.Name, f.Value)
		}
	}
	return nil
}

// Check returns all reasons why r cannot be sent as an HTTP/1.x request, with the request's name;
// nil means that Protocol accepts it.
func Check(r proto.Request) error {
	var faults []error
	add := func(format string, a ...any) { faults = append(faults, fmt.Errorf(format, a...)) }
	switch {
	case !isToken(r.Method):
		add("method %q is not a token", r.Method)
	case r.Method == "CONNECT":
		add("method CONNECT asks for a tunnel, which dyno does not make")
	}
	switch {
	case r.Path == "*" && r.Method == "OPTIONS":
	case !strings.HasPrefix(r.Path, "/"):
		add("path %q does not begin with /", r.Path)
	case strings.ContainsFunc(r.Path, isBlank):
		add("path %q contains a space or a control character; write it as %%20 or the like", r.Path)
	}
	if strings.ContainsFunc(r.Authority, isBlank) {
		add("host %q contains a space or a control character", r.Authority)
	}
	for _, f := range r.Header {
		switch {
		case !isToken(f.Name):
			add("header name %q is not a token", f.Name)
		case proto.HasControl(f.Value):
			add("header %s: its value contains a control character", f.Name) // it may be a secret
		}
	}
	if err := r.CheckHoles(); err != nil {
		faults = append(faults, err)
	}
	if err := r.CheckFraming(); err != nil {
		faults = append(faults, err)
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%.40q %.100q: %w", r.Method, r.Path, errors.Join(faults...))
}

func isBlank(r rune) bool { return r <= ' ' || r == 0x7f }

// isToken reports whether s is one of RFC 9110's tokens.
func isToken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

// A message is a request as it is sent.
type message struct {
	head, last template // and as a connection's last, if CloseAfter will ask for it
	body       []byte
	bare       bool // HEAD: the response will have no body
	ends       bool // head itself ends the connection
	chunked    bool // the body is sent in chunks
}

// A template is the head of a request, without the values that differ between messages.
type template struct {
	text []byte
	gaps []gap // where those stand, in order
}

// A gap is the place of a value in a template's text.
type gap struct{ at, value int }

// bodyLength as a gap's value stands for the length of the message's body.
const bodyLength = -1

func (o Options) compileRequest(r *proto.Request) message {
	m := message{body: r.Body, bare: r.Method == "HEAD", ends: o.EndsConnection(r),
		chunked: o.chunks(r)}
	o.appendHead(&m.head, r, false)
	if o.CloseAfter > 0 {
		o.appendHead(&m.last, r, true)
	}
	return m
}

// EndsConnection reports whether the request itself asks for the connection's end.
func (o Options) EndsConnection(r *proto.Request) bool {
	return hasItem(r.Header, "Connection", "close") ||
		o.Version10 && !hasItem(r.Header, "Connection", "keep-alive")
}

// appendHead appends r's head. It allocates nothing but what the text needs.
func (o Options) appendHead(h *template, r *proto.Request, last bool) {
	version := " HTTP/1.1\r\n"
	if o.Version10 {
		version = " HTTP/1.0\r\n"
	}
	h.text = append(append(append(h.text, r.Method...), ' '), o.Origin...)
	if o.Origin == "" || r.Path != "*" { // which an absolute URL says by having no path
		h.appendText(r.Path, r.PathHoles())
	}
	h.text = append(h.text, version...)
	if !r.HasField("Host") {
		h.appendField("Host", r.Authority, nil)
	}
	for _, f := range o.Defaults {
		if !r.HasField(f.Name) {
			h.appendField(f.Name, f.Value, nil)
		}
	}
	if o.Authorization != "" && !r.HasField("Proxy-Authorization") {
		h.appendField("Proxy-Authorization", o.Authorization, nil)
	}
	says := last && !o.Version10 // of which every request is the last, unless it asks to be kept
	drop := says || last && hasItem(r.Header, "Connection", "keep-alive")
	for i, f := range r.Header {
		if !drop || !strings.EqualFold(f.Name, "Connection") {
			h.appendField(f.Name, f.Value, r.FieldHoles(i))
		}
	}
	switch {
	case o.chunks(r):
		if !r.IsChunked() {
			h.appendField("Transfer-Encoding", "chunked", nil)
		}
	case hasBodyLength(r):
		h.text = append(h.text, "Content-Length: "...)
		if r.HasHoles(proto.InBody) {
			h.gaps = append(h.gaps, gap{len(h.text), bodyLength})
		} else {
			h.text = strconv.AppendInt(h.text, int64(len(r.Body)), 10)
		}
		h.text = append(h.text, "\r\n"...)
	}
	if says {
		h.appendField("Connection", "close", nil)
	}
	h.text = append(h.text, "\r\n"...)
}

func (h *template) appendField(name, value string, holes []proto.Hole) {
	h.text = append(append(h.text, name...), ':')
	if value != "" || len(holes) > 0 {
		h.text = append(h.text, ' ')
		h.appendText(value, holes)
	}
	h.text = append(h.text, "\r\n"...)
}

func (h *template) appendText(text string, holes []proto.Hole) {
	from := 0
	for _, o := range holes {
		h.text = append(h.text, text[from:o.At]...)
		h.gaps = append(h.gaps, gap{len(h.text), o.Value})
		from = o.At
	}
	h.text = append(h.text, text[from:]...)
}

// appendFilled appends the head with the values of one message.
func (h *template) appendFilled(out []byte, fill *proto.Fill) []byte {
	from := 0
	for _, g := range h.gaps {
		out = append(out, h.text[from:g.at]...)
		if from = g.at; g.value == bodyLength {
			out = strconv.AppendInt(out, int64(len(fill.Body)), 10)
		} else {
			out = append(out, fill.Values[g.value]...)
		}
	}
	return append(out, h.text[from:]...)
}

// chunks reports whether the body is sent in chunks: the header says so, or the options do of all
// bodies whose length no header says.
func (o Options) chunks(r *proto.Request) bool {
	return r.IsChunked() || o.ChunkSize > 0 && (len(r.Body) > 0 || r.HasHoles(proto.InBody)) &&
		!r.HasField("Content-Length")
}

// hasBodyLength reports whether the request must contain the length of its body.
func hasBodyLength(r *proto.Request) bool {
	return r.SendsLength() && !r.HasField("Content-Length")
}

// hasItem reports whether header has a field of that name, in any case, whose list contains item.
func hasItem(header []proto.Field, name, item string) bool {
	for _, f := range header {
		if !strings.EqualFold(f.Name, name) {
			continue
		}
		for s := range strings.SplitSeq(f.Value, ",") {
			if strings.EqualFold(strings.TrimSpace(s), item) {
				return true
			}
		}
	}
	return false
}
