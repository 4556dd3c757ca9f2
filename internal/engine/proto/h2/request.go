package h2

import (
	"encoding/binary"
	"fmt"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

func (o Options) checkOptions() error {
	switch {
	case o.Scheme != "http" && o.Scheme != "https":
		return fmt.Errorf("scheme %q is not http or https", o.Scheme)
	case o.Streams < 0 || o.Streams > fields.MaxStreams:
		return fmt.Errorf("streams on a connection %d: allowed are 1 to %d", o.Streams, fields.MaxStreams)
	case o.CloseAfter < 0:
		return fmt.Errorf("requests before closing %d: allowed are 0 (never) and more", o.CloseAfter)
	}
	return fields.CheckDefaults(o.Defaults)
}

// A message is a request as it is sent, in frames of stream 0.
type message struct {
	first []byte // as the first on a connection
	head  []byte
	body  []byte
	bare  bool             // HEAD: the response will have no body
	own   *fields.Template // of a request with holes, else nil
}

// noTable, at the front of a header block, announces that we use no dynamic table.
const noTable = 0x20

func compileRequest(e *fields.Encoder, r *proto.Request) message {
	var t fields.Template
	e.AppendRequest(&t, r)
	m := message{body: r.Body, bare: r.Method == "HEAD"}
	if t.HasGaps() {
		m.own = &t
		return m
	}
	m.first = appendHeaders(nil, append([]byte{noTable}, t.List...), len(r.Body) == 0)
	m.head = appendHeaders(nil, t.List, len(r.Body) == 0)
	return m
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
	set(maxHeaderListSize, fields.MaxHead)
	b = append(appendFrame(b, len(settings), frameSettings, 0, 0), settings...)
	return appendWindow(b, 0, receiveWindow-firstWindow)
}
