package proto

import (
	"fmt"

	"dyno/internal/fact"
)

// A Fault is what a peer did that ended a connection, or one request on it: the Err of a Broken or
// a Failed event. Code that classifies errors finds it with errors.As, whichever protocol it came
// from.
type Fault struct {
	Kind   string // one of the constants below: few, so that faults can be counted by it
	Detail string // what happened, and where; one line
	Err    error  // the cause from another package, or nil
	Mend   []fact.Remedy
}

// The kinds of Fault.
const (
	FaultClosed    = "closed"    // closed before the first byte of a response
	FaultTruncated = "truncated" // closed inside a response
	FaultGarbage   = "garbage"   // not the protocol at all
	FaultFraming   = "framing"   // the protocol, but where a message ends is unclear or wrong
	FaultOversized = "oversized" // a header, line or trailer above the limits
	FaultUnasked   = "unasked"   // bytes that answer no request

	FaultViolation   = "violation"    // the protocol, but against its rules
	FaultMalformed   = "malformed"    // a message that HTTP forbids, in valid frames
	FaultCompression = "compression"  // a header that cannot be decompressed
	FaultFlowControl = "flow-control" // more than was allowed to be sent
	FaultFlood       = "flood"        // more to acknowledge than any reasonable peer needs

	FaultOverloaded  = "overloaded"   // FastCGI: the application takes no more requests now
	FaultMultiplexed = "multiplexed"  // FastCGI: it saw two requests at once on the connection
	FaultRole        = "unknown-role" // FastCGI: it is no responder

	// HTTP/2: the server ended a stream or the connection. The error code's name follows in lower
	// case: "rst-internal-error".
	FaultReset  = "rst-"
	FaultGoAway = "goaway-"

	// HTTP/3: likewise for streams, and for a connection that the server closed.
	FaultClose = "close-"

	FaultHandshake   = "handshake"   // the handshake failed
	FaultCertificate = "certificate" // the server's certificate was not accepted
	FaultALPN        = "alpn"        // no protocol in common
	FaultAlert       = "alert"       // the server ended TLS, with a reason
	FaultRecord      = "record"      // what arrived after the handshake was not valid TLS

	// A proxy opened no tunnel. Its status follows, or what was wrong with its answer: "proxy-407",
	// "proxy-closed".
	FaultProxy = "proxy-"
)

// Error is the detail.
func (f *Fault) Error() string { return f.Detail }

// Remedies are the settings that would change it.
func (f *Fault) Remedies() []fact.Remedy { return f.Mend }

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.Err }

// ForbiddenBody is the fault of a response that had a body, b or what is known of it, and can have
// none: by its status, or else because it answered a HEAD request.
func ForbiddenBody(status uint16, b []byte) *Fault {
	what, begin := "to a HEAD request", ""
	if status == 204 || status == 304 {
		what = fmt.Sprintf("with status %d", status)
	}
	if len(b) > 0 {
		begin = fmt.Sprintf(": %q", b[:min(len(b), 40)])
	}
	return &Fault{Kind: FaultUnasked, Detail: "the server sent a body behind a response " + what +
		", which has none (RFC 9110, 6.4.1)" + begin}
}
