// Package h3 is HTTP/3 (RFC 9114) on the QUIC of quic-go, on that library's own goroutines,
// and told to the worker as if it were bytes: a Ring whose connections are QUIC's, and a
// codec for each of them.
//
// A byte stream has a ring that moves bytes and a codec that knows what they mean. QUIC
// has no such place between them: the library wants the clock and goroutines for itself.
// So here the ring does both, and what passes between it and the codec is a few bytes that
// say "send request 3 as exchange 7" or "exchange 7 has status 200" (see record.go). A
// request with values of its own passes as text, and so does what is wanted of a response:
// neither side reads the other's memory. Schedule, accounts, timeouts and verdict remain
// the worker's, the same as for every other protocol, and there is no second loop that
// could count otherwise.
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
//	exchange.go       one request: sends it on a stream, follows its response to the end
//	fault.go          words for errors of QUIC and HTTP/3
//	frames.go         cuts streams into frames
//	h3.go             options, and requests encoded once
//	message.go        a request with values of its own, as text
//	qpack.go          compressed header fields
//	record.go         what ring and codec tell each other
//	response.go       parses a response's frames; how long its header may be
//	ring.go           the ring: completions of all connections; what quic-go is told (windows,
//	                  idle time)
//	sessions.go       TLS sessions to resume
//	socket.go         UDP sockets that are connected
//	socket_linux.go   reads and writes their packets on Linux; socket_other.go writes them
//	                  elsewhere
//	static.go         QPACK's static table (its search: engine/proto/h2/static.go)
//	waiting.go        exchanges that wait for a stream
package h3

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go/quicvarint"
	"golang.org/x/net/http/httpguts"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h2"
)

// Name is what ALPN calls HTTP/3.
const Name = "h3"

// MaxStreams bounds the streams of one connection, as for HTTP/2.
const MaxStreams = h2.MaxStreams

// Options are how requests are to be sent.
type Options struct {
	TLS        *tls.Config   // copied; NextProtos and MinVersion are ours
	Resume     bool          // sessions of earlier connections of the same ring
	Connecting time.Duration // when the worker gives up a handshake
	Streams    int           // exchanges under way on one connection: 1 (also if 0) to MaxStreams
	CloseAfter int           // the CloseAfter-th request of a connection is its last; 0: none
	Defaults   []proto.Field // of requests that have no field of the name
	Guest      bool          // the environment stays as it is: quic-go may write a warning to log
}

func (o Options) checkOptions() error {
	switch {
	case o.Streams < 0 || o.Streams > MaxStreams:
		return fmt.Errorf("streams on a connection %d: allowed are 1 to %d", o.Streams, MaxStreams)
	case o.CloseAfter < 0:
		return fmt.Errorf("requests before closing %d: allowed are 0 (never) and more", o.CloseAfter)
	}
	for _, f := range o.Defaults {
		if !httpguts.ValidHeaderFieldValue(f.Value) {
			return fmt.Errorf("%s %q: is no value of a header", f.Name, f.Value)
		}
	}
	return nil
}

// Check reports everything about r that cannot be sent as an HTTP/3 request.
func Check(r proto.Request) error {
	var faults []error
	if err := h2.Check(r); err != nil {
		faults = append(faults, fmt.Errorf("HTTP/3 takes what HTTP/2 does: %w", err))
	}
	for _, f := range r.Header {
		if !httpguts.ValidHeaderFieldValue(strings.Trim(f.Value, " \t")) {
			faults = append(faults, fmt.Errorf("header %s: its value contains a control character",
				f.Name)) // the value may be a secret
		}
	}
	if host := hostHeader(r); !httpguts.ValidHostHeader(host) {
		faults = append(faults, fmt.Errorf("host %q contains what no host has", host))
	}
	return errors.Join(faults...)
}

// hostHeader is what :authority will be.
func hostHeader(r proto.Request) string {
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, "host") {
			return strings.Trim(f.Value, " \t")
		}
	}
	return r.Authority
}

// A message is a request as it is sent. Many exchanges read it at once.
type message struct {
	head  []byte // HEADERS, and the beginning of DATA if there is a body
	body  []byte
	short []byte // both, if they fit into a packet; else nil
	bare  bool   // HEAD: the response will have no body
}

// shortMost is how long a short message is at most: quic-go takes as much without waiting.
const shortMost = 1200

// encodeRequests are all requests of a run. It fails on those that Check refuses.
func (o Options) encodeRequests(reqs []proto.Request) ([]message, error) {
	all := make([]message, len(reqs))
	for i := range reqs {
		if err := Check(reqs[i]); err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		all[i] = o.compileRequest(&reqs[i])
	}
	return all, nil
}

func (o Options) compileRequest(r *proto.Request) message {
	list := o.appendList([]byte{0, 0}, r) // no inserts are required, and the base is 0
	m := message{body: r.Body, bare: r.Method == "HEAD"}
	m.head = append(quicvarint.Append([]byte{frameHeaders}, uint64(len(list))), list...)
	if len(r.Body) > 0 {
		m.head = quicvarint.Append(append(m.head, frameData), uint64(len(r.Body)))
	}
	if len(m.head)+len(r.Body) <= shortMost {
		m.head = append(m.head, r.Body...)
		m.short, m.head = m.head, m.head[:len(m.head)-len(r.Body)]
	}
	return m
}

// appendList appends r's header block.
func (o Options) appendList(b []byte, r *proto.Request) []byte {
	b = appendField(b, ":method", r.Method)
	b = appendField(b, ":scheme", "https")
	b = appendField(b, ":authority", hostHeader(*r))
	b = appendField(b, ":path", r.Path)
	for _, f := range o.Defaults {
		if !r.HasField(f.Name) {
			b = appendField(b, strings.ToLower(f.Name), f.Value)
		}
	}
	for _, f := range r.Header {
		if name := strings.ToLower(f.Name); name != "host" && name != "content-length" {
			b = appendField(b, name, strings.Trim(f.Value, " \t"))
		}
	}
	if r.SendsLength() {
		b = appendField(b, "content-length", strconv.Itoa(len(r.Body)))
	}
	return b
}
