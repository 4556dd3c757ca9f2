// Package h1 speaks HTTP/1.1, and HTTP/1.0 as the older generators do.
//
// Requests are encoded once for a run: to send one is to append its bytes. What
// is sent is the request line, Host, User-Agent, the user's own fields exactly
// as given, and Content-Length where it is due; a field that the user gives
// takes the place of ours. A body goes out in pieces of 64 KiB, so that
// connections which upload many megabytes share the one copy of them.
//
// Responses are read a line at a time, in one pass, and each line is given back
// as used once it is read: however the bytes arrive, a connection keeps at most
// part of a line, and no header, chunk or trailer can make it keep more than a
// named limit. Of a header only three fields matter here; the others are known
// by their first letter not to.
//
// What RFC 9112 lets a lenient client accept is accepted where it is harmless
// (a bare LF, a missing reason, a space before a colon) and refused where two
// readers could disagree about where a message ends (folded lines, differing
// Content-Lengths, junk after a chunk), since the next response would then be
// measured wrongly.
//
//	chunk.go     reads chunked bodies of responses: sizes, ends, trailers, and their limits
//	decode.go    reads responses: head, body or none, what ends them; names what is wrong
//	h1.go        the codec: options, room; sends requests, their bodies whole or in chunks
//	head.go      reads status line and fields of a response
//	request.go   checks a request and encodes it, once for the run
//	sink.go      header fields and bodies for who wants them
//
// A final response may come before its request's body has been sent. If it
// keeps the connection the rest of the body is still sent, as the server will
// read it as such, and there is no Room before that; if it ends the connection,
// nothing more is sent.
package h1

import (
	"cmp"
	"fmt"
	"strconv"

	"dyno/internal/engine/proto"
)

// Options are how requests are to be sent.
type Options struct {
	Version10  bool // as HTTP/1.0: one exchange, unless the user's Connection says keep-alive
	Depth      int  // requests in flight on a connection: 1 (also if 0) to MaxDepth
	CloseAfter int  // requests on a connection; the last announces its end; 0: no limit
	// ChunkSize is how many bytes of a body a chunk has. 0: those of DefaultChunk, of requests whose
	// header asks for chunks; otherwise all bodies are sent in chunks whose length no header says.
	ChunkSize int
	Defaults  []proto.Field // of requests that have no field of the name

	// Of requests that a proxy is sent (RFC 9112, 3.2.2): what stands before the path, as
	// http://HOST:PORT, and the value of Proxy-Authorization unless the request has its own; "": none.
	Origin        string
	Authorization string
}

// MaxDepth bounds pipelining.
const MaxDepth = 1024

// piece is how much of a body is sent at once, in bytes.
const piece = 64 << 10

// DefaultChunk is how many bytes of a body a chunk has, if nobody says it.
const DefaultChunk = piece

// Protocol is HTTP/1.x with these options. It fails on options out of range and on requests that
// Check refuses, and names them. The requests' bodies are not copied and must not change.
func Protocol(o Options) proto.Protocol {
	return func(reqs []proto.Request, want proto.Want) (func(proto.Sink) proto.Codec, error) {
		if err := o.checkOptions(); err != nil {
			return nil, err
		}
		r := &run{Options: o, want: want, messages: make([]message, len(reqs))}
		for i := range reqs {
			if err := Check(reqs[i]); err != nil {
				return nil, fmt.Errorf("request %d: %w", i+1, err)
			}
			if r.messages[i] = o.compileRequest(&reqs[i]); r.messages[i].chunked && o.Version10 {
				return nil, fmt.Errorf("request %d: HTTP/1.0 has no chunks", i+1)
			}
		}
		r.Depth = max(o.Depth, 1)
		for r.slots = 1; r.slots < r.Depth; r.slots *= 2 {
		}
		return func(sink proto.Sink) proto.Codec {
			return &codec{run: r, sink: sink, order: make([]begun, r.slots)}
		}, nil
	}
}

// A run is what all connections of a worker share.
type run struct {
	Options
	messages []message
	want     proto.Want
	name     []byte // of a field, in lower case
	slots    int    // Depth, as a power of two
	known    known
}

// known is the last complete header and what it meant. Most headers of a server are byte for byte
// the same until its clock advances. Comparing takes a tenth of the time of parsing.
type known struct {
	head   []byte
	answer answer
}

// knownMax is the longest header that is kept for comparison, in bytes.
const knownMax = 1 << 10

// A codec is one connection.
type codec struct {
	run  *run
	sink proto.Sink // nil: nothing is wanted

	// Exchanges in flight, oldest first: order[first%slots] and on.
	order       []begun
	first, next uint32

	rest    []byte // of the body that is being sent
	chunk   int    // bytes of it that the chunk under way is to have yet; notChunked: there are none
	encoded int    // requests begun on this connection
	full    bool   // no new requests

	state     state
	part      part
	interim   int    // 1xx responses to the exchange
	seen      int    // bytes of in that were already searched for a line end
	size      int    // bytes so far of what is limited: the head, a chunk's line, the trailer
	left, got int64  // bytes of this part of the body still to come; and of the whole body
	answer    answer // the head so far
	bodiless  uint16 // the status of the response before, if it can have no body
}

// A begun is a request in flight that waits for its response.
type begun struct {
	tag  uint32
	bare bool // the response has no body, whatever its header says
	ends bool // the connection ends with it
}

func (c *codec) Room() int {
	if c.full || len(c.rest) > 0 {
		return 0
	}
	return c.run.Depth - int(c.next-c.first)
}

func (c *codec) Encode(out []byte, m proto.Message, tag uint32) []byte {
	if m.Fill != nil && m.Fill.Own != nil {
		return c.encodeOwn(out, m.Fill.Own, tag)
	}
	t := &c.run.messages[m.Request]
	h, ends := &t.head, t.ends
	if c.encoded++; c.encoded == c.run.CloseAfter {
		h, ends = &t.last, true
	}
	c.beginExchange(begun{tag: tag, bare: t.bare, ends: ends})
	body := t.body
	if m.Fill == nil {
		out = append(out, h.text...)
	} else {
		out = h.appendFilled(out, m.Fill)
		if m.Fill.Body != nil {
			body = m.Fill.Body
		}
	}
	if len(body) > 0 || t.chunked {
		out = c.beginBody(out, body, t.chunked)
	}
	return out
}

// encodeOwn is Encode of a request that is not of the set.
func (c *codec) encodeOwn(out []byte, r *proto.Request, tag uint32) []byte {
	c.encoded++
	last := c.encoded == c.run.CloseAfter
	c.beginExchange(begun{tag: tag, bare: r.Method == "HEAD", ends: last || c.run.EndsConnection(r)})
	h := template{text: out}
	c.run.appendHead(&h, r, last)
	return c.beginBody(h.text, r.Body, c.run.chunks(r))
}

// beginBody sends the first of a body.
func (c *codec) beginBody(out, body []byte, chunked bool) []byte {
	c.rest = body
	if c.chunk = notChunked; !chunked {
		return c.Flush(out)
	}
	if c.chunk = 0; len(body) == 0 {
		return append(out, lastChunk...)
	}
	return c.flushChunks(out)
}

func (c *codec) beginExchange(x begun) {
	*c.requestSlot(c.next) = x
	c.next++
	c.full = x.ends
}

// Borrows reports whether the rest of the exchange's body is still to be sent. It can only be the
// exchange that was begun last.
func (c *codec) Borrows(tag uint32) bool {
	return len(c.rest) > 0 && c.requestSlot(c.next-1).tag == tag
}

func (c *codec) Flush(out []byte) []byte {
	if c.chunk >= 0 && len(c.rest) > 0 {
		return c.flushChunks(out)
	}
	n := min(len(c.rest), piece)
	out, c.rest = append(out, c.rest[:n]...), c.rest[n:]
	return out
}

// notChunked is the chunk of a body that has none.
const notChunked = -1

// lastChunk ends a body in chunks.
const lastChunk = "0\r\n\r\n"

// flushChunks is Flush of a body in chunks, of which there is a rest. The last chunk goes with it.
// What is between the bytes counts, too: with chunks of one byte it is five times as much as they.
func (c *codec) flushChunks(out []byte) []byte {
	for most := len(out) + piece; len(out) < most && len(c.rest) > 0; {
		if c.chunk == 0 {
			c.chunk = min(len(c.rest), cmp.Or(c.run.ChunkSize, DefaultChunk))
			out = append(strconv.AppendInt(out, int64(c.chunk), 16), "\r\n"...)
		}
		n := max(min(c.chunk, most-len(out)), 1)
		out, c.rest = append(out, c.rest[:n]...), c.rest[n:]
		if c.chunk -= n; c.chunk == 0 {
			out = append(out, "\r\n"...)
		}
	}
	if len(c.rest) == 0 {
		out = append(out, lastChunk...)
	}
	return out
}

func (c *codec) requestSlot(i uint32) *begun { return &c.order[i&uint32(len(c.order)-1)] }
