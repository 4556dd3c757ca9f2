package h2

import (
	"fmt"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

// codes are HTTP/2's error codes, in the form of kinds of faults.
var codes = [...]string{"no-error", "protocol-error", "internal-error", "flow-control-error",
	"settings-timeout", "stream-closed", "frame-size-error", "refused-stream", "cancel",
	"compression-error", "connect-error", "enhance-your-calm", "inadequate-security",
	"http-1-1-required"}

// The codes that we send.
const (
	noError          = 0
	protocolError    = 1
	flowControlError = 3
	streamClosed     = 5
	frameSizeError   = 6
	refusedStream    = 7
	cancel           = 8
	compressionError = 9
	enhanceYourCalm  = 11
	http11Required   = 13
)

// errorCodes are the codes by which we tell a server why the connection ended. There is none for a
// peer that does not speak HTTP/2 (RFC 9113, 3.4), or that ended the connection itself.
var errorCodes = map[string]uint32{
	proto.FaultViolation:   protocolError,
	proto.FaultFraming:     frameSizeError,
	proto.FaultOversized:   enhanceYourCalm,
	proto.FaultCompression: compressionError,
	proto.FaultFlowControl: flowControlError,
	proto.FaultFlood:       enhanceYourCalm,
}

func codeName(code uint32) string {
	if int64(code) < int64(len(codes)) {
		return codes[code]
	}
	return "unknown"
}

// giveHTTP1 is what to do about a server that wants HTTP/1.1, or has no other.
var giveHTTP1 = fact.Remedy{Setting: "http", Value: "1.1"}

// resetFaults are the faults of a server's RST_STREAM, by its code. They are made in advance,
// because a server under load may send one for every request.
var resetFaults = newResetFaults()

func newResetFaults() (faults [len(codes) + 1]*proto.Fault) {
	for i := range faults {
		name := codeName(uint32(i))
		faults[i] = &proto.Fault{Kind: proto.FaultReset + name,
			Detail: fmt.Sprintf("the server reset the stream (RST_STREAM, %s)", name)}
		if i == http11Required {
			faults[i].Mend = []fact.Remedy{giveHTTP1}
		}
	}
	return faults
}

// goneFault is the fault in a server's GOAWAY; nil if it is no error.
func goneFault(code uint32, debug []byte) *proto.Fault {
	name := strings.ToUpper(strings.ReplaceAll(codeName(code), "-", "_"))
	if int64(code) >= int64(len(codes)) {
		name = fmt.Sprintf("error code %d", code)
	}
	f := newFault(proto.FaultGoAway+codeName(code), "ended by the server: GOAWAY, %s", name)
	if len(debug) > 0 {
		f.Detail += fmt.Sprintf(": %q", debug[:min(len(debug), 80)])
	}
	if code == http11Required {
		f.Mend = []fact.Remedy{giveHTTP1}
	}
	return f
}

// faultClosed is constant because it occurs often: servers close idle connections.
var faultClosed = &proto.Fault{Kind: proto.FaultClosed,
	Detail: "connection closed before the response"}

var faultUnsettled = &proto.Fault{Kind: proto.FaultClosed,
	Detail: "connection closed before the server's SETTINGS; does it speak HTTP/2?"}

func newFault(kind, format string, a ...any) *proto.Fault {
	return &proto.Fault{Kind: kind, Detail: fmt.Sprintf(format, a...)}
}

func violation(format string, a ...any) *proto.Fault {
	return newFault(proto.FaultViolation, format, a...)
}

func malformed(format string, a ...any) *proto.Fault {
	return newFault(proto.FaultMalformed, "malformed response: "+format, a...)
}
