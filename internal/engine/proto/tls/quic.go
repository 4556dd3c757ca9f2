package tls

import (
	"crypto/tls"

	"dyno/internal/engine/proto"
)

// TermsOf are the terms of a handshake outside this package, such as QUIC's.
func TermsOf(s tls.ConnectionState) Terms {
	return terms{s.Version, s.CipherSuite, s.CurveID}.withNames()
}

// Explain is the fault of such a handshake, or of the end of TLS later.
func Explain(err error) *proto.Fault { return handshakeFault(err) }
