package loadplan

import "slices"

// Which requests are sent again on another connection if theirs was lost before a byte of their
// answer: the server may have carried them out. Whatever was not handed to the system at all, and
// what the server says it did not process, is sent again in any case.
const (
	ResendIdempotent = ""       // those of idempotent methods (RFC 9110, 9.2.2)
	ResendUnsafe     = "unsafe" // all
	ResendSafe       = "safe"   // those of safe methods (RFC 9110, 9.2.1)
	ResendNever      = "never"  // none
)

// safe and idempotent are methods. Those of safe are idempotent, too.
var (
	safe       = []string{"GET", "HEAD", "OPTIONS", "TRACE"}
	idempotent = []string{"PUT", "DELETE"}
)

// IsIdempotent reports whether a request may be carried out twice as well as once.
func IsIdempotent(method string) bool {
	return slices.Contains(safe, method) || slices.Contains(idempotent, method)
}

// Resends reports whether requests of a method are sent again.
func (p *Plan) Resends(method string) bool {
	switch p.Resend {
	case ResendUnsafe:
		return true
	case ResendSafe:
		return slices.Contains(safe, method)
	case ResendNever:
		return false
	}
	return IsIdempotent(method)
}
