package h3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/quic-go/quic-go"

	"dyno/internal/engine/proto"
	ptls "dyno/internal/engine/proto/tls"
	"dyno/internal/engine/ring"
	"dyno/internal/fact"
)

// hyphenated is the name of an error code as kinds of fault have it.
func hyphenated(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// mends are the settings that would change what an error code says.
var mends = map[code][]fact.Remedy{codeVersionFallback: {
	{Setting: "http", Value: "2"}, {Setting: "http", Value: "1.1"}}}

// isConnectionEnd reports whether err is the end of a connection: all of quic-go's are closed ones,
// or the system's.
func isConnectionEnd(err error) bool {
	var system syscall.Errno
	return errors.Is(err, net.ErrClosed) || errors.As(err, &system)
}

// handshakeFault is why a connection came to nothing: an error if nobody answered, or a fault if
// what answered was no server for us. It is neither where the worker gave up.
func handshakeFault(err error) (*proto.Fault, error) {
	var system syscall.Errno
	var timeout net.Error
	var version *quic.VersionNegotiationError
	var transport *quic.TransportError
	switch {
	case errors.Is(err, context.Canceled):
		return nil, err // which nobody will see
	case errors.As(err, &system):
		return nil, ring.Errno(err)
	case errors.As(err, &version):
		return &proto.Fault{Kind: proto.FaultHandshake, Err: err,
			Detail: fmt.Sprintf("no common version of QUIC: the server has %v", version.Theirs)}, nil
	case errors.As(err, &transport):
		return transportFault(transport), nil
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, syscall.ETIMEDOUT
	}
	return &proto.Fault{Kind: proto.FaultHandshake, Err: err,
		Detail: "QUIC handshake: " + err.Error()}, nil
}

// transportFault is what an error of QUIC means, and of TLS below it.
func transportFault(err *quic.TransportError) *proto.Fault {
	if err.ErrorCode.IsCryptoError() {
		var cause error = err
		if err.Remote { // as crypto/tls has it of connections of its own
			cause = &net.OpError{Op: "remote error", Err: tls.AlertError(err.ErrorCode - 0x100)}
		}
		return ptls.Explain(cause)
	}
	name := err.ErrorCode.String()
	if !err.Remote {
		return &proto.Fault{Kind: proto.FaultViolation, Err: err,
			Detail: fmt.Sprintf("the server broke QUIC (%s): %s", name, err.ErrorMessage)}
	}
	kind := "unknown"
	if !strings.Contains(name, " ") { // a code without a name is described
		kind = hyphenated(name)
	}
	return closingFault(kind, name, err.ErrorMessage, err)
}

// closingFault is a server's error that closed the connection.
func closingFault(kind, name, said string, err error) *proto.Fault {
	detail := fmt.Sprintf("the server closed the connection (%s)", name)
	if said != "" {
		detail += fmt.Sprintf(", saying %q", said[:min(len(said), 80)])
	}
	return &proto.Fault{Kind: proto.FaultClose + kind, Detail: detail, Err: err}
}

// faultAtEnd is why a connection ended: a fault if somebody broke the rules or gave up, io.EOF if
// it was closed in good order, else what happened to it.
func faultAtEnd(err error) (*proto.Fault, error) {
	var system syscall.Errno
	var application *quic.ApplicationError
	var transport *quic.TransportError
	var idle *quic.IdleTimeoutError
	var forgotten *quic.StatelessResetError
	switch {
	case errors.As(err, &application):
		code := code(application.ErrorCode)
		switch {
		case code == codeNoError || code == 0:
			return nil, io.EOF
		case application.Remote:
			f := closingFault(code.suffix(), code.String(), application.ErrorMessage, err)
			f.Mend = mends[code]
			return f, nil
		}
		return &proto.Fault{Kind: code.faultKind(), Err: err,
			Detail: fmt.Sprintf("the server broke HTTP/3 (%s) %s", code, application.ErrorMessage)}, nil
	case errors.As(err, &transport):
		if transport.Remote && transport.ErrorCode == quic.NoError {
			return nil, io.EOF
		}
		return transportFault(transport), nil
	case errors.As(err, &idle):
		return nil, syscall.ETIMEDOUT
	case errors.As(err, &forgotten):
		return nil, syscall.ECONNRESET
	case errors.As(err, &system):
		return nil, ring.Errno(err)
	}
	return nil, err
}
