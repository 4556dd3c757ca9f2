// Package h3 is HTTP/3 (RFC 9114) on the QUIC of quic-go, on that library's own goroutines,
// and told to the worker as if it were bytes: a Ring whose connections are QUIC's, and a
// codec for each of them.
//
// A byte stream has a ring that moves bytes and a codec that knows what they mean. QUIC
// has no such place between them: the library wants the clock and goroutines for itself.
// So here the ring does both, and what passes between it and the codec is a few bytes that
// say "send request 3 as exchange 7" or "exchange 7 has status 200" (see record.go). A
// request with values of its own passes as the bytes that its stream is to have, and what is
// wanted of a response as text: neither side reads the other's memory. Schedule, accounts,
// timeouts and verdict remain the worker's, the same as for every other protocol, and there
// is no second loop that could count otherwise.
//
// Frames and header blocks are ours: requests are encoded once for a run, and responses are
// read without an object for each of their parts. QPACK has no dynamic table here.
//
// What it costs: the worker writes to the streams itself, so that the requests of a turn
// leave together. A response has a goroutine, which serves one after another, and passes
// through the Go scheduler several times. An instant is read when the worker learns of an
// event, so that the scheduler's delays are in the latency, as they would be in that of any
// program that uses the library. docs/measuring.md has figures, docs/benchmarks.md what they
// consist of.
//
// Each connection has a UDP socket of its own, connected: servers that spread load by
// address and port see clients as they are, and a port where nobody listens is refused
// at once. 0-RTT is never used: requests begin when the handshake has ended.
//
//	codec.go          the codec: requests in, events out
//	codes.go          error codes
//	conn.go           a connection of QUIC: dial, handshake, end
//	control.go        control streams: SETTINGS, GOAWAY
//	exchange.go       one request: sends it on a stream, follows its response to the end; the
//	                  goroutine that serves one after another until the ring is freed
//	fault.go          words for errors of QUIC and HTTP/3
//	frames.go         cuts streams into frames
//	h3.go             options, and requests encoded once
//	message.go        requests with values of their own
//	qpack.go          compressed header fields
//	record.go         what ring and codec tell each other
//	response.go       parses a response's frames
//	ring.go           the ring: completions of all connections; what quic-go is told (windows,
//	                  idle time)
//	sessions.go       TLS sessions to resume
//	socket.go         UDP sockets that are connected
//	socket_linux.go   reads and writes their packets on Linux; socket_other.go writes them
//	                  elsewhere
//	static.go         QPACK's static table
//	waiting.go        the queue of exchanges for which no stream is free
package h3

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/quic-go/quic-go/quicvarint"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

// Name is what ALPN calls HTTP/3.
const Name = "h3"

// Options are how requests are to be sent.
type Options struct {
	TLS        *tls.Config   // copied; NextProtos and MinVersion are ours
	Resume     bool          // sessions of earlier connections of the same ring
	Connecting time.Duration // when the worker gives up a handshake
	Streams    int           // exchanges under way on a connection: 1 (also if 0) to fields.MaxStreams
	CloseAfter int           // the CloseAfter-th request of a connection is its last; 0: none
	Defaults   []proto.Field // of requests that have no field of the name
	Guest      bool          // the environment stays as it is: quic-go may write a warning to log
}

func (o Options) checkOptions() error {
	switch {
	case o.Streams < 0 || o.Streams > fields.MaxStreams:
		return fmt.Errorf("streams on a connection %d: allowed are 1 to %d", o.Streams, fields.MaxStreams)
	case o.CloseAfter < 0:
		return fmt.Errorf("requests before closing %d: allowed are 0 (never) and more", o.CloseAfter)
	}
	return fields.CheckDefaults(o.Defaults)
}

// A message is a request as it is sent. Many exchanges read it at once.
type message struct {
	head  []byte // HEADERS, and the beginning of DATA if there is a body
	body  []byte
	short []byte // both, if they fit into a packet; else nil
	bare  bool   // HEAD: the response will have no body

	own *fields.Template // of a request with holes, which has none of head and short; else nil
}

// shortMost is how long a short message is at most: quic-go takes as much without waiting.
const shortMost = 1200

// newEncoder writes the requests' header blocks.
func (o Options) newEncoder() fields.Encoder {
	return fields.Encoder{Coding: coding{}, Scheme: "https", Defaults: o.Defaults}
}

// encodeRequests are all requests of a run. It fails on those that fields.Check refuses.
func encodeRequests(e *fields.Encoder, reqs []proto.Request) ([]message, error) {
	all := make([]message, len(reqs))
	for i := range reqs {
		if err := fields.Check(reqs[i]); err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		all[i] = compileRequest(e, &reqs[i])
	}
	return all, nil
}

func compileRequest(e *fields.Encoder, r *proto.Request) message {
	t := fields.Template{List: append([]byte(nil), blockPrefix...)}
	e.AppendRequest(&t, r)
	m := message{body: r.Body, bare: r.Method == "HEAD"}
	if t.HasGaps() {
		m.own = &t
		return m
	}
	m.head = appendHead(nil, t.List, len(r.Body))
	if len(m.head)+len(r.Body) <= shortMost {
		m.head = append(m.head, r.Body...)
		m.short, m.head = m.head, m.head[:len(m.head)-len(r.Body)]
	}
	return m
}

// blockPrefix begins a header block: no inserts are required, and the base is 0.
const blockPrefix = "\x00\x00"

// appendHead appends HEADERS with a header block, and the beginning of DATA if there is a body.
func appendHead(b, block []byte, body int) []byte {
	b = append(quicvarint.Append(append(b, frameHeaders), uint64(len(block))), block...)
	if body > 0 {
		b = quicvarint.Append(append(b, frameData), uint64(body))
	}
	return b
}
