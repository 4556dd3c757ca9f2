package h3

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// postFields reports the fields that are wanted. quic-go does not keep their order: they come by
// name, and those of one name in theirs. It takes out the field Trailer.
func (x *exchange) postFields(what byte, all http.Header) {
	var records []byte
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lower := []byte(strings.ToLower(name))
		if !x.conn.ring.want.WantsField(lower) {
			continue
		}
		for _, value := range all[name] {
			r := record{what: what, id: x.id, n: uint64(len(lower)), text: append(lower, value...)}
			records = r.appendTo(records)
		}
	}
	x.conn.postRecords(records)
}

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
