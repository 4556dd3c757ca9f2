package h3

import (
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

// A message with values of its own is encoded here, on the worker, and goes to the ring as bytes of
// its stream: the ring's goroutines may send them when the worker has long used its memory, and the
// message's, for the next one. A long body that the ring has does not go with them.

// A run is what the codecs of a worker's connections share.
type run struct {
	messages []message
	encoder  fields.Encoder
	block    []byte // of the message that is being encoded
}

// appendMessage appends what the ring is asked for exchange id. m has a Fill. The codec reads it no
// more then, so it is no proto.Borrower.
func (r *run) appendMessage(out []byte, m proto.Message, id uint64) []byte {
	order := record{what: askOwn, id: id}
	body, size := m.Fill.Body, 0
	if own := m.Fill.Own; own != nil {
		t := fields.Template{List: append(r.block[:0], blockPrefix...)}
		r.encoder.AppendRequest(&t, own)
		r.block, body, size = t.List, own.Body, len(own.Body)
		order.n = ownN(own.Method == "HEAD", -1)
	} else {
		of := &r.messages[m.Request]
		if of.own == nil { // it has no holes
			return record{what: ask, id: id, n: uint64(m.Request)}.appendTo(out)
		}
		r.block = r.encoder.AppendFilled(r.block[:0], of.own, m.Fill)
		order.n = ownN(of.bare, -1)
		switch size = len(body); {
		case body != nil:
		case len(of.body) > shortMost: // the ring has it
			order.n, size = ownN(of.bare, m.Request), len(of.body)
		default:
			body, size = of.body, len(of.body)
		}
	}
	out = order.appendTo(out)
	from := len(out)
	out = append(appendHead(out, r.block, size), body...)
	setLength(out, from)
	return out
}

// ownN is the N of askOwn: whether the response has no body, and which request of the set has the
// body that follows the text; none if it is below 0.
func ownN(bare bool, body int) uint64 {
	n := uint64(body+1) << 1
	if bare {
		n |= 1
	}
	return n
}

// setOwn makes the exchange's message that of an askOwn. The worker uses the text's memory again at
// once, so the exchange keeps a copy.
func (x *exchange) setOwn(order *record, set []message) {
	x.text = append(x.text[:0], order.text...)
	x.own = message{head: x.text, bare: order.n&1 != 0}
	if n := order.n >> 1; n > 0 {
		x.own.body = set[n-1].body
	} else if len(x.text) <= shortMost {
		x.own.short = x.text
	}
	x.message = &x.own
}
