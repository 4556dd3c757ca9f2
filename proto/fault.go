package proto

// A Fault is what a peer did that ended a connection: the Err of a Broken event.
// Whoever classifies errors finds it with errors.As and need not know which
// protocol it came from.
type Fault struct {
	Kind   string // one of the constants below: few, so that faults can be counted by it
	Detail string // what happened, where, and what the user can do; one line
	Err    error  // the error of another package that says so, or nil
}

// The kinds of Fault.
const (
	FaultClosed    = "closed"    // closed before the first byte of a response
	FaultTruncated = "truncated" // closed inside a response
	FaultGarbage   = "garbage"   // not the protocol at all
	FaultFraming   = "framing"   // the protocol, but where a message ends is unclear or wrong
	FaultOversized = "oversized" // a header, line or trailer beyond all reason
	FaultUnasked   = "unasked"   // bytes that answer no request

	FaultHandshake   = "handshake"   // the handshake came to nothing
	FaultCertificate = "certificate" // the server's certificate was not accepted
	FaultALPN        = "alpn"        // no protocol that both sides speak
	FaultAlert       = "alert"       // the server gave up, and said why
	FaultRecord      = "record"      // what arrived after the handshake was not valid TLS
)

// Error is the detail.
func (f *Fault) Error() string { return f.Detail }

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.Err }
