package load

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// An errorKind is what errors, and samples of them, are counted by.
type errorKind struct {
	phase  loadresult.Phase
	kind   string
	status uint16 // of Expect: answers of different status are counted apart
}

// kindOfStatus is the kind of an answer that is an error by its status, which is its Detail.
func kindOfStatus(status uint16) errorKind {
	return errorKind{phase: loadresult.Expect, kind: "status", status: status}
}

// kindOfCheck is the kind of an answer that did not pass the check of that name.
func kindOfCheck(name string) errorKind { return errorKind{phase: loadresult.Check, kind: name} }

// answerDetail is the Detail of a complete answer that is an error.
func (k errorKind) answerDetail() string {
	if k.phase == loadresult.Check {
		return "the answer did not pass the check"
	}
	return fmt.Sprintf("%03d", k.status)
}

// A failures counts failures by what a user would distinguish: phase, kind and address.
type failures map[failure]*loadresult.Failure

type failure struct {
	errorKind
	addr ring.Addr
}

// count counts one more of what key says. Only of the first one detail is asked.
func (f failures) count(key failure, detail func() string) {
	known := f[key]
	if known == nil {
		known = &loadresult.Failure{Phase: key.phase, Kind: key.kind, Detail: detail()}
		if key.addr != (ring.Addr{}) {
			known.Address = key.addr.String()
		}
		f[key] = known
	}
	known.Count++
}

// countFailure counts a failure of a connection, or of a request without a complete answer.
func (f failures) countFailure(phase loadresult.Phase, addr ring.Addr, err error) {
	f.count(failure{errorKind{phase: phase, kind: failureKind(err)}, addr},
		func() string { return describeError(err) })
}

// countAnswer counts a complete answer that is an error. reason is what a scenario says of it; nil:
// nothing.
func (f failures) countAnswer(k errorKind, addr ring.Addr, reason error) {
	f.count(failure{k, addr}, func() string {
		if k.phase == loadresult.Check && reason != nil {
			return strings.TrimSpace(reason.Error())
		}
		return k.answerDetail()
	})
}

// countRefusal counts a request that was not sent because the scenario could not make it.
func (f failures) countRefusal(reason error) {
	f.count(failure{errorKind: kindOfCheck(loadresult.Refused)}, reason.Error)
}

// dismissalOr is the reason that the peer sent when it ended the connection, or else err.
func (c *conn) dismissalOr(err error) error {
	if codec, can := c.codec.(proto.Dismisser); can {
		if f := codec.Dismissed(); f != nil {
			return f
		}
	}
	return err
}

// releaseCodec frees a connection's codec. It counts the peer's reason for the end, because the
// requests may be answered on another connection and then show nothing of it.
func (w *worker) releaseCodec(c *conn) {
	if err := c.dismissalOr(nil); err != nil {
		w.account.ended.countFailure(loadresult.Protocol, ring.Addr{}, err)
	}
	c.codec, c.borrower = nil, nil
}

// dismissalNotices reports how many connections the peer ended for each reason.
func dismissalNotices(counted failures) (notices []string) {
	for _, f := range counted.byFrequency() {
		were := "connections were"
		if f.Count == 1 {
			were = "connection was"
		}
		notices = append(notices, fmt.Sprintf("%d %s %s", f.Count, were, f.Detail))
	}
	return notices
}

// systemErrno returns the system's error number in err, if there is one.
func systemErrno(err error) (syscall.Errno, bool) {
	var e syscall.Errno
	ok := errors.As(err, &e)
	return e, ok
}

// failureKind is the word under which a failure is counted.
func failureKind(err error) string {
	var fault *proto.Fault
	switch {
	case errors.As(err, &fault):
		return fault.Kind
	case errors.Is(err, errTimeout):
		return "timeout"
	case errors.Is(err, errRefused):
		return "refused"
	case errors.Is(err, errPipelined):
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

// describeError describes the failure, and what a user can do about it.
func describeError(err error) string {
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
