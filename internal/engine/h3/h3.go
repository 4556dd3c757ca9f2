// Package h3 is HTTP/3 (RFC 9114), spoken by quic-go on that library's own goroutines
// and told to the worker as if it were bytes: a Ring whose connections are QUIC's, and a
// codec for each of them.
//
// A byte stream has a ring that moves bytes and a codec that knows what they mean. QUIC
// has no such place between them: the library wants the sockets, the clock and goroutines
// for itself. So here the ring does both, and what passes between it and the codec is a
// few bytes that say "send request 3 as exchange 7" or "exchange 7 has status 200" (see
// record.go). A request with values of its own passes as text, and so does what is wanted
// of a response: neither side reads the other's memory. Schedule, accounts, timeouts and
// verdict remain the worker's, the same as for every other protocol, and there is no
// second loop that could count otherwise.
//
// What it costs: an exchange takes a goroutine, passes through the Go scheduler several
// times, and allocates what quic-go does. An instant is read when the worker learns of an
// event, so that the scheduler's delays are in the latency, as they would be in that of any
// program that uses the library. docs/measuring.md has figures.
//
// Each connection has a UDP socket of its own, connected: servers that spread load by
// address and port see clients as they are, and a port where nobody listens is refused
// at once. 0-RTT is never used: requests begin when the handshake has ended.
//
//	codec.go      the codec: requests in, events out
//	conn.go       a connection of QUIC: dial, handshake, end
//	exchange.go   one request on its stream, in a goroutine
//	fault.go      words for errors of QUIC and HTTP/3
//	h3.go         options, and requests compiled once
//	message.go    a request with values of its own, as text
//	record.go     what ring and codec tell each other
//	ring.go       the ring: completions of all connections
//	sessions.go   TLS sessions to resume
//	sink.go       header fields and bodies for who wants them
package h3

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

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

// Check reports everything about r that cannot be sent as an HTTP/3 request, or that quic-go
// would send otherwise than it is written.
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

// A message is a request as quic-go takes it, and its body. Many exchanges read it at once.
type message struct {
	request *http.Request
	body    []byte
}

// encodeRequests are all requests of a run. It fails on those that Check refuses.
func (o Options) encodeRequests(reqs []proto.Request) ([]message, error) {
	all := make([]message, len(reqs))
	for i, r := range reqs {
		if err := Check(r); err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		all[i] = message{o.httpRequest(r), r.Body}
	}
	return all, nil
}

func (o Options) httpRequest(r proto.Request) *http.Request {
	header := http.Header{"user-agent": nil} // which keeps quic-go from giving its own
	for _, f := range o.Defaults {
		if !r.HasField(f.Name) {
			header[strings.ToLower(f.Name)] = []string{f.Value}
		}
	}
	for _, f := range r.Header {
		name := strings.ToLower(f.Name)
		if name == "host" { // it is :authority
			continue
		}
		header[name] = append(header[name], strings.Trim(f.Value, " \t"))
	}
	host := hostHeader(r)
	path := r.Path
	if strings.HasPrefix(path, "//") { // else package url takes what follows for a host
		path = "//" + host + path
	}
	return &http.Request{Method: r.Method, Host: host, Header: header,
		URL: &url.URL{Scheme: "https", Host: host, Opaque: path}}
}
