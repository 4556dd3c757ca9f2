package failure

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/stream"
	"dyno/internal/fact"
	"dyno/internal/say"
)

// Failures that only the load itself knows.
var (
	ErrTimeout   = errors.New("no answer in time")
	ErrRefused   = errors.New("refused by the server, again and again")
	ErrStalled   = errors.New("the stream was silent for too long behind an event")
	ErrPipelined = errors.New("the connection was lost at an earlier request") // it was pipelined
	// ErrNotOpen is of a request that waited for a connection.
	ErrNotOpen = fmt.Errorf("%w: no connection to the origin had room for the request", ErrTimeout)
	// ErrNoTunnel is of a connection whose proxy has opened no tunnel.
	ErrNoTunnel = fmt.Errorf("%w: the proxy has not answered CONNECT", ErrTimeout)
	// ErrAnnounced is of requests that were pipelined behind the last one that the server answered
	// before it closed the connection as announced.
	ErrAnnounced error = &proto.Fault{Kind: proto.FaultClosed,
		Detail: "connection closed after an earlier request"}
	// ErrUnused is of an attempt that the peer ends in good order before any request.
	ErrUnused error = &proto.Fault{Kind: proto.FaultClosed,
		Detail: "connection ended before it took a request"}
)

// ErrUnready is the timeout of a connection that never had room for a request.
var ErrUnready = fmt.Errorf("%w: connected, but the server has not allowed a request "+
	"(HTTP/2 begins with its SETTINGS)", ErrTimeout)

// ErrShut is the timeout of a connection that has no room any more: its server allows no streams,
// or does not acknowledge those that were reset.
var ErrShut = fmt.Errorf("%w: the server has taken no more requests on the connection",
	ErrTimeout)

// ErrPending is the failure of an attempt that still waited when the run ended.
var ErrPending = fmt.Errorf("%w: not open when the run ended", ErrTimeout)

// An Unfinished is the timeout of a request whose answer had begun.
type Unfinished struct{ fact.AnswerUnfinished }

// Error is the fact's sentence.
func (u *Unfinished) Error() string { return say.Plain(u.AnswerUnfinished) }

// TimeoutOf is the timeout of a request whose answer has come that far; nil: nothing of it.
func TimeoutOf(p *fact.AnswerUnfinished) error {
	if p == nil {
		return ErrTimeout
	}
	return &Unfinished{*p}
}

// behind is the failure of a request whose answer had a status already, which it names: a server,
// or a proxy, that refuses a request without reading its body resets the connection behind that.
func behind(status uint16, err error) error {
	if status < 100 { // there was no head, or not all of it
		return err
	}
	if _, system := systemErrno(err); !system {
		return err
	}
	return &placed{err: err, status: status}
}

// Placed is a failure with where it was: behind the head of an answer of that status, if there was
// one, and at the plan's proxy, if it refused, ended or did not answer the connection. Behind a
// tunnel that may have been the server, so nobody is named.
func Placed(p *loadplan.Plan, phase loadresult.Phase, status uint16, err error) error {
	err = behind(status, err)
	switch {
	case p.Proxy == "" || IsOfProxy(err):
		return err
	case phase == loadresult.Connect:
	case p.Tunnels() || phase != loadresult.Read && phase != loadresult.Write &&
		phase != loadresult.Timeout:
		return err
	}
	return &placed{err: err, proxy: p.DialedName()}
}

// IsOfProxy reports whether an error is a proxy's own, which opened no tunnel and is named in it.
func IsOfProxy(err error) bool {
	f, is := errors.AsType[*proto.Fault](err)
	at, known := errors.AsType[*placed](err)
	return is && strings.HasPrefix(f.Kind, proto.FaultProxy) || known && at.proxy != ""
}

// A placed is a failure with where it was: at a proxy, or behind the head of an answer.
type placed struct {
	err    error
	proxy  string // HOST:PORT; "": at none
	status uint16
}

// Error names the proxy, or the status of the answer.
func (e *placed) Error() string {
	if e.proxy != "" {
		return "the proxy " + e.proxy + ": " + Describe(e.err)
	}
	return fmt.Sprintf("%s, behind the head of an answer with status %d", Describe(e.err), e.status)
}

// Unwrap is the cause.
func (e *placed) Unwrap() error { return e.err }

// systemErrno returns the system's error number in err, if there is one.
func systemErrno(err error) (syscall.Errno, bool) {
	var e syscall.Errno
	ok := errors.As(err, &e)
	return e, ok
}

// NameOf is the word under which a failure is counted.
func NameOf(err error) string {
	var fault *proto.Fault
	var unfinished *Unfinished
	var broken *stream.Broken
	switch {
	case errors.As(err, &unfinished):
		return "unfinished"
	case errors.As(err, &fault):
		return fault.Kind
	case errors.Is(err, ErrTimeout):
		return "timeout"
	case errors.Is(err, ErrRefused):
		return "refused"
	case errors.As(err, &broken):
		return string(broken.Fault)
	case errors.Is(err, ErrStalled):
		return "stalled"
	case errors.Is(err, ErrPipelined):
		return loadresult.Behind
	case errors.Is(err, io.EOF):
		return "closed"
	}
	if e, ok := systemErrno(err); ok {
		if word, known := errnos[e]; known {
			return word
		}
	}
	return "other"
}

// Describe describes the failure.
func Describe(err error) string {
	if at, is := errors.AsType[*placed](err); is {
		return at.Error()
	}
	if errors.Is(err, io.EOF) {
		return "connection closed"
	}
	if e, ok := systemErrno(err); ok {
		if means := meanings[errnos[e]]; means != "" {
			return fmt.Sprintf("%v: %s", e, means)
		}
		return e.Error()
	}
	return strings.TrimSpace(err.Error())
}

// Remedies are the settings that would change the failure.
func Remedies(err error) []fact.Remedy {
	if e, ok := systemErrno(err); ok {
		return remedies[errnos[e]]
	}
	return fact.RemediesOf(err)
}

// Words for errors of the system, in errnos.
const (
	refused, reset, timeout, unreachable = "refused", "reset", "timeout", "unreachable"

	noPort, noFile, missing, forbidden, backlog = "no-port", "no-file", "missing", "forbidden",
		"backlog"
)

// meanings are what errors of the system mean here, where their own text does not say it.
var meanings = map[string]string{
	noPort:    "every local port to this address is in use or waits (TIME_WAIT)",
	missing:   "nothing is there; is the server running, and the path right?",
	forbidden: "a firewall or the file's permissions forbid it",
	backlog:   "the server does not accept as fast as connections come",
}

// remedies are the settings that would change errors of the system.
var remedies = map[string][]fact.Remedy{
	noPort: {{Setting: "connections", Value: fact.Lower}, {Setting: "reconnect", Value: fact.Lower},
		{Setting: "local-ports", Value: fact.Higher}},
	noFile: {{Setting: "open-files", Value: fact.Higher},
		{Setting: "connections", Value: fact.Lower}},
	backlog: {{Setting: "backlog", Value: fact.Higher}, {Setting: "connect-rate", Value: fact.Some}},
}
