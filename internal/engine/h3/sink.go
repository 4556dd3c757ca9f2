package h3

// giveSink gives the sink what a record has for it.
func (c *codec) giveSink(tag uint32, r *record) {
	switch {
	case c.sink == nil:
	case r.what == piece:
		c.sink.Body(tag, r.text)
	default:
		c.sink.Field(tag, r.text[:r.n], r.text[r.n:], r.what == trailer)
	}
}
