// Package fcgi speaks FastCGI as a web server does to an application: in the
// responder role, with connections that are kept.
//
// A request is encoded once for a run, as the records that begin it and hold its
// parameters; to send it is to append them. A body follows as stdin in records of
// at most 64 KiB, so that connections which upload share the one copy of it.
//
// A message with values of its own is encoded when it is sent, and that allocates.
// One value of a path is in up to five parameters, unescaped in some and cut at the
// question mark in others: to derive them from the whole request is the only way that
// is sure to give what a fixed request of the same text gives. Where only the body
// has holes, that is done too, for CONTENT_LENGTH.
//
// Every request has the id 1 and a connection carries one at a time. The protocol
// would allow more, but the applications in use do not (php-fpm takes one, and
// nginx and Apache never send two), so what was measured would not be what runs.
//
// Answers are read a record at a time and their content as it comes: a connection
// keeps part of a record's header, and of a response's header the first bytes of
// one line, however the application splits what it writes. What a response's
// header says is CGI's (RFC 3875): the status is 200 unless Status says otherwise,
// or 302 if there is a Location.
//
// Faults of one response (no header, a wrong length, a refusal of the application)
// fail its exchange only, for the records that follow are still in their places. A
// response may end before its request's body was sent; the rest is sent all the
// same, since the application may be reading it, and there is no Room before that.
//
// A request that takes too long ends its connection, as it does with nginx. The
// protocol could abort it alone, but applications do not follow: php-fpm does not
// look for that. Go's net/http/fcgi does only while the request is arriving: it ends
// it at once, and sends what its handler still writes under the id of the next.
//
//	decode.go    reads records; what ends an exchange or a connection
//	fcgi.go      the codec: options, room; sends requests
//	head.go      reads the header of an answer: status and length
//	request.go   checks a request, and encodes it with its parameters
//	sink.go      header fields, bodies and stderr for who wants them
package fcgi

import (
	"encoding/binary"
	"fmt"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

// Options are how requests are to be sent.
type Options struct {
	Params     []proto.Field // replace ours of the same names, or are added
	CloseAfter int           // the CloseAfter-th request of a connection is its last; 0: none
	Defaults   []proto.Field // of headers that have no field of the name
}

// FastCGI's names of records, as far as they are used here.
const (
	beginRequest = 1
	endRequest   = 3
	params       = 4
	stdin        = 5
	stdout       = 6
	stderr       = 7
	maxKnown     = 11 // the last type that version 1 of the protocol defines

	version    = 1
	responder  = 1
	keepConn   = 1 // flag of beginRequest: the application leaves the connection open
	flagsAt    = header + 2
	requestID  = 1
	management = 0 // the id of records that are about no request

	header    = 8              // bytes before a record's content
	maxRecord = 1<<16 - header // content that we put into one record
	maxHead   = 256 << 10      // bytes of a response's header
	maxStderr = 4 << 10        // bytes of stderr kept for all connections of a worker
	endSize   = 8              // bytes of an endRequest's content
)

// Protocol is FastCGI as the options have it. It fails on options and requests
// that cannot be sent, and says which. Bodies, and requests with holes, are not
// copied and must not change.
func Protocol(o Options) proto.Protocol {
	return func(reqs []proto.Request, want proto.Want) (func(proto.Sink) proto.Codec, error) {
		if err := o.checkOptions(); err != nil {
			return nil, err
		}
		r := &run{Options: o, want: want, messages: make([]message, len(reqs))}
		for i := range reqs { // what is no HTTP request is none of CGI's either
			if err := h1.Check(reqs[i]); err != nil {
				return nil, fmt.Errorf("request %d: %w", i+1, err)
			}
			if reqs[i].IsChunked() {
				return nil, fmt.Errorf("request %d: FastCGI has records in place of chunks; leave "+
					"Transfer-Encoding out", i+1)
			}
			r.messages[i] = o.compileRequest(&reqs[i])
		}
		return func(sink proto.Sink) proto.Codec {
			c := &codec{run: r, sink: sink}
			if sink != nil && want.WantsFields() {
				c.text = make([]byte, 0, textFirst)
			}
			return c
		}, nil
	}
}

// Stderr is what applications wrote to stderr on all connections that were made together with c:
// the first 4 KiB, and the number of all bytes. It is nothing if c does not speak FastCGI. The
// caller must copy sample before it uses any of those codecs again.
func Stderr(c proto.Codec) (sample []byte, total int64) {
	if c, ok := c.(*codec); ok {
		return c.run.stderr, c.run.complaints
	}
	return nil, 0
}

// A run is what all connections of a worker share.
type run struct {
	Options
	messages   []message
	want       proto.Want
	name       []byte // of a field, in lower case
	stderr     []byte
	complaints int64 // all bytes of stderr
}

// A codec is one connection.
type codec struct {
	run     *run
	sink    proto.Sink // nil: nothing is wanted
	tag     uint32
	rest    []byte // of the body that is being sent
	encoded int    // requests begun on this connection
	busy    bool   // a request is in flight
	full    bool   // no new requests
	bare    bool   // the response has no body, whatever its header says
	over    bool   // no more events

	// The current record: content and padding still to come.
	kind      byte
	left, pad int

	answer answer
	text   []byte // the line of its header under way, whole, if fields are wanted
}

// textFirst is how much of a line there is memory for from the start.
const textFirst = 512

func (c *codec) Room() int {
	if c.busy || c.full || len(c.rest) > 0 {
		return 0
	}
	return 1
}

func (c *codec) Encode(out []byte, msg proto.Message, tag uint32) []byte {
	start := len(out)
	var bare bool
	if msg.Fill != nil {
		out, c.rest, bare = c.run.appendFilled(out, msg)
	} else {
		m := &c.run.messages[msg.Request]
		out, c.rest, bare = append(out, m.head...), m.body, m.bare
	}
	if c.encoded++; c.encoded == c.run.CloseAfter {
		c.full = true
		out[start+flagsAt] &^= keepConn
	}
	c.tag, c.busy, c.bare = tag, true, bare
	c.answer.resetAnswer()
	c.text = c.text[:0]
	return c.Flush(out)
}

// Borrows reports whether the rest of the exchange's body is still to be sent.
func (c *codec) Borrows(tag uint32) bool { return len(c.rest) > 0 && c.tag == tag }

func (c *codec) Flush(out []byte) []byte {
	n := min(len(c.rest), maxRecord)
	if n == 0 {
		return out
	}
	out = appendRecord(out, stdin, c.rest[:n])
	if c.rest = c.rest[n:]; len(c.rest) == 0 {
		out = appendRecord(out, stdin, nil)
	}
	return out
}

func appendRecord(b []byte, kind byte, content []byte) []byte {
	b = append(b, version, kind, 0, requestID)
	b = binary.BigEndian.AppendUint16(b, uint16(len(content)))
	return append(append(b, 0, 0), content...)
}
