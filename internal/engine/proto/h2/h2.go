// Package h2 speaks HTTP/2 (RFC 9113), the same over TLS and without.
//
// Requests are encoded once for a run: a header block that uses no dynamic table,
// already cut into frames, of which a connection changes nothing but the stream's
// id. The first block of a connection begins by giving up the dynamic table, which
// makes true of any server what it would have allowed. The way back has a dynamic
// table, as with browsers, for without one a server would have to send, and to
// compress, more than in the field; but as only two fields of a response matter,
// the table holds lengths and not text (hpack.go).
//
// Responses are read a frame at a time, and the content of DATA as it comes: a
// connection keeps at most part of one frame, or a header block that the server
// has split, up to a named limit. Nothing of a body is kept, so receive windows
// are as large as the protocol has them, less one bit, and are opened again in
// steps of half of that.
//
// There is no Room before the server's SETTINGS: what it can take is known then.
// Afterwards there is room for as many streams as both sides allow, less those
// that we have reset and of which the server has not yet shown, by answering a
// PING, that it knows: however a server provokes resets, it never has more streams
// to carry than it allowed.
//
// What is wrong with one response fails its exchange and resets its stream; what
// is wrong with the connection breaks it, and GOAWAY tells the server why. A stream
// that ends before its request has been sent is reset too: unlike HTTP/1.1 nothing
// has to follow. After the server's GOAWAY the exchanges that it will not process
// are Refused, and the others go on; Closing follows them. An exchange that takes
// too long is canceled alone.
//
// Server push is disabled, priorities are ignored, both as RFC 9113 wants it.
//
//	control.go   SETTINGS, WINDOW_UPDATE, RST_STREAM, PING, GOAWAY
//	decode.go    which frame comes; DATA, and the end of a response
//	encode.go    writes header fields
//	fault.go     words for errors
//	frame.go     writes frames
//	h2.go        the codec: options, room, sending of bodies
//	headers.go   HEADERS, CONTINUATION, trailers
//	hpack.go     compressed header fields
//	owed.go      what answers frames: acknowledgements, windows, resets
//	request.go   requests, encoded once
//	sink.go      header fields and bodies for who wants them
//	static.go    the static table; package fields searches it
//	stream.go    the streams in flight
//
// The end of a run sends no GOAWAY, though RFC 9113 (6.8) recommends it. GOAWAY says which
// streams of the server were processed, and without push there are none. It would also be
// a send for each connection, and work for a server between two trials.
package h2

import (
	"fmt"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

// Options are how requests are to be sent.
type Options struct {
	Scheme     string        // value of :scheme, "http" or "https"
	Streams    int           // requests in flight on a connection: 1 (also if 0) to fields.MaxStreams
	CloseAfter int           // the CloseAfter-th request of a connection is its last; 0: none
	Defaults   []proto.Field // of requests that have no field of the name
	NoTable    bool          // ask the server to compress headers without a dynamic table
}

const (
	maxID     = 1<<31 - 1 // of a stream
	maxWindow = 1<<31 - 1

	firstWindow   = 1<<16 - 1 // every window until a peer changes it
	receiveWindow = 1<<30 - 1 // ours: the body is not kept, so none can overflow
	frameMin      = 1 << 14   // longest frame that every peer accepts, and the longest that we accept
	frameMost     = 1<<24 - 1

	piece   = 64 << 10 // of a body that is sent at once
	maxOwed = 1 << 10  // answers to the server's frames that may be waiting
)

// Protocol is HTTP/2 with these options. It fails on options out of range and on requests that
// fields.Check refuses, and names them. The requests' bodies are not copied and must not change.
func Protocol(o Options) proto.Protocol {
	return func(reqs []proto.Request, want proto.Want) (func(proto.Sink) proto.Codec, error) {
		if err := o.checkOptions(); err != nil {
			return nil, err
		}
		o := o // a copy for each caller, which may run concurrently
		o.Streams = max(o.Streams, 1)
		r := &run{Options: o, want: want, messages: make([]message, len(reqs)),
			preface: o.clientPreface(),
			encoder: fields.Encoder{Coding: coding{}, Scheme: o.Scheme, Defaults: o.Defaults}}
		for i := range reqs {
			if err := fields.Check(reqs[i]); err != nil {
				return nil, fmt.Errorf("request %d: %w", i+1, err)
			}
			r.messages[i] = compileRequest(&r.encoder, &reqs[i])
		}
		return func(sink proto.Sink) proto.Codec { return newCodec(r, sink) }, nil
	}
}

// A run is what all connections of a worker share.
type run struct {
	Options
	messages []message
	none     message // in the place of one that is not of the set
	want     proto.Want
	preface  []byte
	encoder  fields.Encoder
	list     []byte // of the message that is being encoded
	scratch  scratch
}

// A codec is one connection.
type codec struct {
	run  *run
	sink proto.Sink // nil: nothing is wanted
	decoder
	streams

	next    uint32 // the next stream's id
	encoded int    // requests begun on this connection
	limit   int    // in flight at most
	full    bool   // no new requests
	settled bool   // the server's SETTINGS have arrived
	over    bool   // no more events

	goneAfter uint32       // the last stream that the server will process
	gone      *proto.Fault // why, if it was an error

	sending
	owed

	// Resets, and the PING whose answer shows that the server knows of them.
	unproven, proving int

	// Reading.
	left   int    // bytes of the DATA frame under way
	feed          // what of them the sink is given
	ending uint16 // the slot, and 1, of the stream that it ends
	block  block
	later  later
	done   uint16 // the slot whose Done follows its Head
	swept  int    // slots checked for exchanges that GOAWAY or the end left
}

// A feed is the body in the DATA frame under way, of a stream whose response is wanted.
type feed struct {
	feeding uint16 // its slot, and 1; 0: none
	skip    int    // bytes before the body: 1 where the length of the padding stands there
	body    int    // bytes of it still to come
}

// A sending is what has been sent on the connection, and what may be.
type sending struct {
	greeted  bool
	bye      bool   // GOAWAY must be sent
	code     uint32 // of it
	window   int64  // bytes that may be sent on the connection
	initial  int64  // and on a new stream
	frameMax int    // bytes of a frame
}

// A block is a header block in several frames.
type block struct {
	under bool
	ends  bool // the stream ends with it
	id    uint32
	size  int // with frame headers, so that empty frames count too
	bytes []byte
}

// later is the event that Decode returns before it reads more bytes.
type later uint8

const (
	laterDone later = 1 << iota
	laterRefused
	laterClosing
)

func newCodec(r *run, sink proto.Sink) *codec {
	return &codec{
		run: r, sink: sink, decoder: newDecoder(&r.scratch, &r.want, sink),
		streams: newStreams(r.Streams), next: 1, goneAfter: maxID, limit: r.Streams,
		sending: sending{window: firstWindow, initial: firstWindow, frameMax: frameMin},
		owed:    owed{receivable: receiveWindow},
	}
}

func (c *codec) Room() int {
	if c.full || !c.settled {
		return 0
	}
	return max(c.limit-c.open-c.unproven, 0)
}

func (c *codec) Encode(out []byte, msg proto.Message, tag uint32) []byte {
	m := &c.run.none
	if msg.Fill == nil || msg.Fill.Own == nil {
		m = &c.run.messages[msg.Request]
	}
	body, bare := m.body, m.bare
	id := c.next
	c.next += 2
	if c.encoded++; c.encoded == c.run.CloseAfter || id > maxID-2 {
		c.full, c.bye = true, true
	}
	switch {
	case msg.Fill != nil:
		out, body, bare = c.encodeFilled(out, m, msg.Fill, id)
	case c.encoded == 1:
		out = appendFrames(out, m.first, id)
	default:
		out = appendFrames(out, m.head, id)
	}
	slot := c.addStream(id, stream{tag: tag, rest: body, window: c.initial,
		receivable: receiveWindow, Response: fields.NewResponse(bare)})
	if len(body) > 0 && c.enqueue(slot) && len(out) < piece {
		out = c.appendBodies(out)
	}
	return out
}

// encodeFilled appends the header of a message that has values of its own, and returns its body.
func (c *codec) encodeFilled(out []byte, m *message, fill *proto.Fill, id uint32) (
	_, body []byte, bare bool) {
	list := c.run.list[:0]
	if c.encoded == 1 {
		list = append(list, noTable)
	}
	body, bare = m.body, m.bare
	switch {
	case fill.Own != nil:
		own := fields.Template{List: list}
		c.run.encoder.AppendRequest(&own, fill.Own)
		list, body, bare = own.List, fill.Own.Body, fill.Own.Method == "HEAD"
	case m.own == nil: // it has no holes
		if c.encoded == 1 {
			return appendFrames(out, m.first, id), body, bare
		}
		return appendFrames(out, m.head, id), body, bare
	default:
		list = c.run.encoder.AppendFilled(list, m.own, fill)
		if fill.Body != nil {
			body = fill.Body
		}
	}
	c.run.list = list
	start := len(out)
	return setStream(appendHeaders(out, list, len(body) == 0), start, id), body, bare
}

func (c *codec) Flush(out []byte) []byte {
	if c.over && !c.bye {
		return out
	}
	if !c.greeted { // over TLS the server may send first
		c.greeted = true
		out = append(out, c.run.preface...)
	}
	if c.over {
		return c.appendGoAway(out)
	}
	if c.owesFrames() {
		out = c.appendOwed(out)
	}
	if c.queued.len > 0 {
		out = c.appendBodies(out)
	}
	return out
}

// appendBodies appends parts of the bodies that may be sent, a frame of each in turn.
func (c *codec) appendBodies(out []byte) []byte {
	start := len(out)
	for c.queued.len > 0 && c.window > 0 && len(out)-start < piece {
		slot := c.dequeue()
		s := &c.slots[slot]
		n := int(min(int64(len(s.rest)), s.window, c.window, int64(min(c.frameMax, piece))))
		if n <= 0 { // it has ended, or its window became smaller
			continue
		}
		flags := byte(0)
		if n == len(s.rest) {
			flags = flagEnd
		}
		out = append(appendFrame(out, n, frameData, flags, s.id), s.rest[:n]...)
		s.rest = s.rest[n:]
		s.window -= int64(n)
		c.window -= int64(n)
		if len(s.rest) > 0 && s.window > 0 {
			c.enqueue(slot)
		}
	}
	return out
}
