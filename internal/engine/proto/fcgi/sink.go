package fcgi

import (
	"bytes"

	"dyno/internal/engine/proto"
)

// noteText takes a part of a line of the header, and gives the sink the line's field once it is
// whole. The codec keeps what there is of it until then: maxHead bytes, and one record's.
func (c *codec) noteText(part []byte, whole bool) {
	switch {
	case !c.run.want.WantsFields():
	case !whole:
		c.text = append(c.text, part...)
	case len(c.text) > 0:
		c.text = append(c.text, part...)
		c.giveField(c.text)
		c.text = c.text[:0]
	default:
		c.giveField(part)
	}
}

// giveField gives the sink a line of the header, if its field is wanted. Status is no field: it is
// what the web server makes the status of. Nor is what continues another line.
func (c *codec) giveField(line []byte) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || line[0] == ' ' || line[0] == '\t' || c.answer.size > maxHead {
		return
	}
	name := proto.AppendLower(c.run.name[:0], bytes.TrimRight(line[:colon], blanks))
	c.run.name = name
	if string(name) == "status" || !c.run.want.WantsField(name) {
		return
	}
	value := bytes.TrimSuffix(line[colon+1:], carriage)
	c.sink.Field(c.tag, name, bytes.Trim(value, blanks), false)
}

const blanks = " \t"

var carriage = []byte("\r")

// giveBody gives the sink what it is to have of b, the next bytes of the body.
func (c *codec) giveBody(b []byte) {
	if b = c.run.want.Cut(c.answer.body, b); len(b) > 0 {
		c.sink.Body(c.tag, b)
	}
}
