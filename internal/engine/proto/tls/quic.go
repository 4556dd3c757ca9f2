package tls

import (
	"crypto/tls"

	"dyno/internal/engine/proto"
)

// TermsOf are the terms of a handshake that was made elsewhere, as QUIC makes its own.
func TermsOf(s tls.ConnectionState) Terms {
	return terms{s.Version, s.CipherSuite, s.CurveID}.withNames()
}

// Explain says what kept such a handshake from succeeding, or what ended TLS later.
func Explain(err error) *proto.Fault { return handshakeFault(err) }
