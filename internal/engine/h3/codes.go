package h3

import (
	"fmt"
	"strings"

	"dyno/internal/engine/proto"
)

// A code is an error code of HTTP/3 or QPACK.
type code uint64

const (
	codeDatagram        code = 0x33
	codeNoError         code = 0x100
	codeProtocol        code = 0x101
	codeInternal        code = 0x102
	codeStreamCreation  code = 0x103
	codeClosedCritical  code = 0x104
	codeFrameUnexpected code = 0x105
	codeFrame           code = 0x106
	codeExcessive       code = 0x107
	codeID              code = 0x108
	codeSettings        code = 0x109
	codeMissingSettings code = 0x10a
	codeRejected        code = 0x10b
	codeCanceled        code = 0x10c
	codeIncomplete      code = 0x10d
	codeMessage         code = 0x10e
	codeConnect         code = 0x10f
	codeVersionFallback code = 0x110

	codeDecompression code = 0x200
	codeEncoder       code = 0x201
	codeDecoder       code = 0x202
)

// codeNames are the names of RFC 9114, 8.1, RFC 9204, 6, and RFC 9297, 5.2.
var codeNames = map[code]string{
	codeDatagram: "H3_DATAGRAM_ERROR",

	codeNoError: "H3_NO_ERROR", codeProtocol: "H3_GENERAL_PROTOCOL_ERROR",
	codeInternal:       "H3_INTERNAL_ERROR",
	codeStreamCreation: "H3_STREAM_CREATION_ERROR", codeClosedCritical: "H3_CLOSED_CRITICAL_STREAM",
	codeFrameUnexpected: "H3_FRAME_UNEXPECTED", codeFrame: "H3_FRAME_ERROR",
	codeExcessive: "H3_EXCESSIVE_LOAD", codeID: "H3_ID_ERROR", codeSettings: "H3_SETTINGS_ERROR",
	codeMissingSettings: "H3_MISSING_SETTINGS", codeRejected: "H3_REQUEST_REJECTED",
	codeCanceled: "H3_REQUEST_CANCELLED", codeIncomplete: "H3_REQUEST_INCOMPLETE",
	codeMessage: "H3_MESSAGE_ERROR", codeConnect: "H3_CONNECT_ERROR",
	codeVersionFallback: "H3_VERSION_FALLBACK",

	codeDecompression: "QPACK_DECOMPRESSION_FAILED", codeEncoder: "QPACK_ENCODER_STREAM_ERROR",
	codeDecoder: "QPACK_DECODER_STREAM_ERROR",
}

func (c code) String() string {
	if name := codeNames[c]; name != "" {
		return name
	}
	return fmt.Sprintf("unknown error code: %#x", uint64(c))
}

// suffix is the code as it ends a kind of fault: "internal-error". There are few, whatever a server
// says.
func (c code) suffix() string {
	name := codeNames[c]
	if name == "" {
		return "unknown"
	}
	_, name, _ = strings.Cut(name, "_")
	return hyphenated(name)
}

// A violation is what a server did against the rules of HTTP/3, for which the connection is closed.
type violation struct {
	code code
	what string
}

func (v *violation) Error() string { return v.what }

// faultKind is the kind of fault that a violation with the code is: the same as for HTTP/2.
func (c code) faultKind() string {
	switch c {
	case codeDecompression, codeEncoder, codeDecoder:
		return proto.FaultCompression
	case codeExcessive:
		return proto.FaultOversized
	}
	return proto.FaultViolation
}
