package h1

import (
	"bytes"

	"dyno/internal/engine/proto"
)

// giveField gives the sink a line of a header or trailer, if its field is wanted. A line of a
// trailer that is no field is passed over.
func (c *codec) giveField(line []byte, trailer bool) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !c.run.want.WantsFields() {
		return
	}
	name := proto.AppendLower(c.run.name[:0], trimBlanks(line[:colon]))
	c.run.name = name
	if c.run.want.WantsField(name) {
		c.sink.Field(c.requestSlot(c.first).tag, name, trimBlanks(line[colon+1:]), trailer)
	}
}

// giveKnownFields is giveField of a whole header that was read before.
func (c *codec) giveKnownFields(head []byte) {
	if c.sink == nil || !c.run.want.WantsFields() {
		return
	}
	_, head, _ = bytes.Cut(head, newline) // the status line
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, newline)
		c.giveField(bytes.TrimSuffix(line, carriage), false)
	}
}

var newline, carriage = []byte("\n"), []byte("\r")

// giveBody gives the sink, which is there, what it is to have of b, before which got bytes of the
// body came.
func (c *codec) giveBody(got int64, b []byte) {
	if b = c.run.want.Cut(got, b); len(b) > 0 {
		c.sink.Body(c.requestSlot(c.first).tag, b)
	}
}
