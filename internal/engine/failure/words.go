package failure

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

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
)

// An Unfinished is the timeout of a request whose answer had begun.
type Unfinished struct{ fact.AnswerUnfinished }

// Error is the fact's sentence.
func (u *Unfinished) Error() string { return say.Sentence(fact.Fact{Args: u.AnswerUnfinished}) }

// TimeoutOf is the timeout of a request whose answer has come that far; nil: nothing of it.
func TimeoutOf(p *fact.AnswerUnfinished) error {
	if p == nil {
		return ErrTimeout
	}
	return &Unfinished{*p}
}

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
		if k, known := errnos[e]; known {
			return k.kind
		}
	}
	return "other"
}

// Describe describes the failure, and what a user can do about it.
func Describe(err error) string {
	if errors.Is(err, io.EOF) {
		return "the server closed the connection"
	}
	if e, ok := systemErrno(err); ok {
		if k, known := errnos[e]; known && k.mend != "" {
			return fmt.Sprintf("%v; %s", e, k.mend)
		}
		return e.Error()
	}
	return strings.TrimSpace(err.Error())
}

// An errnoKind is the word for a system error, and what a user can do about it.
type errnoKind struct{ kind, mend string }

const (
	mendPorts = "every local port to this address is in use or waits (TIME_WAIT): " +
		"use fewer connections, keep them open, or widen net.ipv4.ip_local_port_range"
	mendFiles   = "raise the limit of open files (ulimit -n) or lower --connections"
	mendMissing = "nothing is there: is the server running, and the path right?"
	mendForbid  = "a firewall or the file's permissions forbid it"
	mendBacklog = "the server does not accept as fast as connections come: " +
		"raise its listen backlog or use --connect-rate"
)
