package h2

import (
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
	case !isClean([]byte(o.UserAgent)):
		return fmt.Errorf("User-Agent %q: contains CR, LF or NUL, or begins or ends with a space",
			o.UserAgent)
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
		case fieldOf([]byte(name)).kind == forbidden && f.Name != "":
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
}

// noTable, at the front of a header block, announces that we use no dynamic table.
const noTable = 0x20

func (o Options) encodeRequest(r proto.Request) message {
	list := o.headerList(r)
	return message{
		first: appendHeaders(append([]byte{noTable}, list...), len(r.Body) == 0),
		head:  appendHeaders(list, len(r.Body) == 0),
		body:  r.Body,
		bare:  r.Method == "HEAD",
	}
}

// headerList is r's header block.
func (o Options) headerList(r proto.Request) (b []byte) {
	authority, agent, sized := r.Authority, o.UserAgent, len(r.Body) > 0
	switch r.Method {
	case "POST", "PUT", "PATCH":
		sized = true
	}
	for _, f := range r.Header {
		switch strings.ToLower(f.Name) {
		case "host":
			authority = f.Value
		case "user-agent":
			agent = ""
		case "content-length":
			sized = false
		}
	}
	b = appendField(b, ":method", r.Method)
	b = appendField(b, ":scheme", o.Scheme)
	if authority != "" {
		b = appendField(b, ":authority", strings.Trim(authority, " \t"))
	}
	b = appendField(b, ":path", r.Path)
	if agent != "" {
		b = appendField(b, "user-agent", agent)
	}
	for _, f := range r.Header {
		if name := strings.ToLower(f.Name); name != "host" {
			b = appendField(b, name, strings.Trim(f.Value, " \t"))
		}
	}
	if sized {
		b = appendField(b, "content-length", strconv.Itoa(len(r.Body)))
	}
	return b
}

// appendHeaders cuts a header block into frames that every server takes.
func appendHeaders(list []byte, ends bool) (b []byte) {
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
	out = append(out, frames...)
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
