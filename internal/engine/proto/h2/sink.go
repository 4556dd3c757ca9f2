package h2

import "dyno/internal/engine/proto/fields"

// giveField gives the sink a field, if it is one of a final response or its trailer, and wanted. It
// gives none of a list that is longer than allowed: a byte of the block can stand for 4 KiB of it.
func (d *decoder) giveField(h *fields.Header, name, value []byte) {
	if h.Size <= fields.MaxHead && (h.Status >= 200 || d.trailer) && len(name) > 0 && name[0] != ':' &&
		d.want.WantsField(name) {
		d.sink.Field(d.tag, name, value, d.trailer)
	}
}

// feedSink says of a DATA frame that is coming that the sink is given its body, of size bytes.
func (c *codec) feedSink(slot uint16, padded bool, size int) {
	c.feed = feed{feeding: slot + 1, body: size}
	if padded {
		c.skip = 1
	}
}

// giveBody gives the sink what it is to have of b, the next bytes of a DATA frame.
func (c *codec) giveBody(b []byte) {
	skip := min(c.skip, len(b))
	b = b[skip:]
	c.skip -= skip
	s := &c.slots[c.feeding-1]
	b = b[:min(len(b), c.body)]
	wanted := c.run.want.Cut(s.Got-int64(c.body), b)
	if len(wanted) > 0 {
		c.sink.Body(s.tag, wanted)
	}
	if c.body -= len(b); c.body == 0 {
		c.feeding = 0
	}
}
