// Package ring performs one worker's socket operations and reports how they
// ended. Its interface has the shape of io_uring, completions. Uring is that;
// Epoll imitates it by doing the operation when it becomes possible; Portable
// by a goroutine for each connection; Sim does it in virtual time. Package h3 has one for QUIC,
// and the tests of load one that allocates nothing.
//
// Completions are the shape of all of them because readiness can be turned into completions at
// little cost. The other way round io_uring would lose what it saves. A Send that is done at once
// says so and has no completion, which is the common case.
package ring

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"dyno/internal/engine/uring"
)

// A Ring serves one worker and is used by its goroutine only. All instants are
// nanoseconds after one origin, the same for every real ring of a process.
type Ring interface {
	// Now is the time.
	Now() int64

	// Connect starts connecting a socket to address addr of those the ring was
	// opened with: Connected, then Received again and again until Close. Every
	// completion of the connection carries user. When even the start fails, it
	// returns the error and no completion follows.
	Connect(addr int, user uint64) (fd int, err error)

	// Send sends all of b. If it reports true that is done; else b must not
	// change until Sent says so. One Send at a time for each connection.
	Send(fd int, b []byte) (done bool)

	// Close closes fd. What was sent just before goes out if it is no more than
	// lastMost bytes, nothing else was being sent and the peer takes it at once.
	// A gentle close leaves it to the peer to close first, for a while, so that
	// no local port is kept in TIME_WAIT. Completions already on their way may
	// still come.
	Close(fd int, gently bool)

	// Rest lets what completes before until wait, so that there is more of it at once
	// and nobody is woken for each. What was sent is on its way. A ring need not rest.
	Rest(until int64)

	// Wait returns when a completion may be ready, or for a signal, and at deadline at the
	// latest. Meanwhile it may keep the Go scheduler's processor: leave one to the others.
	Wait(deadline int64) error

	// Next takes one completion. The Data of the one before is no longer valid.
	Next() (Completion, bool)

	// Idle is for how long, since it was opened, the ring had nothing to do, or rested.
	Idle() int64
}

// A Completion is how an operation ended.
type Completion struct {
	Op   Op
	User uint64 // as given to Connect
	Data []byte // Received: the bytes, lent until Next
	Err  error  // why it failed; io.EOF when the peer has closed
}

// An Op is the end of a kind of operation.
type Op uint8

const (
	Connected Op = iota + 1
	Received
	Sent
)

// lastMost is how many bytes are sent although Close follows: enough for HTTP/2's GOAWAY or an
// alert of TLS, which tell a peer that broke the protocol why its connection ends.
const lastMost = 512

// A ring's sockets that are left to their peers to close, and for how long. Whoever closes first
// keeps the local port in TIME_WAIT for a minute; there are 28,000 of them.
const (
	lingerMax = 4096
	lingerFor = int64(time.Second)
)

// Never is a deadline that does not come.
const Never = 1<<63 - 1

// An Addr is where a ring can connect to: a TCP address, or a unix socket.
type Addr struct {
	TCP  netip.AddrPort
	Unix string     // a path; TCP is unset
	From netip.Addr // of this machine, of TCP's family; unset: the system's choice
}

// String is the address as errors and reports show it.
func (a Addr) String() string {
	if a.Unix != "" {
		return a.Unix
	}
	return a.TCP.String()
}

// ErrRefused is in the error of a ring that this system could have, but that its
// version or its rules refuse. Another kind may be had.
var ErrRefused = uring.ErrRefused

// An Opened is a ring that has been opened.
type Opened struct {
	Ring
	Kind    string
	Free    func() // frees it, once it is of no more use
	Refused error  // why it is not of a kind that would be faster; nil: it is
}

// Open opens a ring of the given kind for about so many sockets, which can
// connect to addrs; the thread that opens it is the one that may use it. The kinds
// are those of Kinds; "auto" is Auto's, or the next that the system does not refuse.
func Open(kind string, sockets int, addrs []Addr) (Opened, error) {
	kinds := []string{kind}
	if kind == "auto" {
		kinds = preferredKinds(sockets)
	}
	return openFirst(kinds, sockets, addrs)
}

// Auto is the kind that is the fastest for so many sockets on most machines. One that was
// calibrated may know better: then it is asked for by its name.
func Auto(sockets int) string { return preferredKinds(sockets)[0] }

func openFirst(kinds []string, sockets int, addrs []Addr) (o Opened, err error) {
	for _, o.Kind = range kinds {
		open := opener[o.Kind]
		if open == nil {
			return o, fmt.Errorf("this platform has no ring %q; it has %v", o.Kind, Kinds)
		}
		if o.Ring, o.Free, err = open(addrs, sockets); !errors.Is(err, ErrRefused) {
			break
		}
		o.Refused = err
	}
	return o, err
}

// openers are the kinds' own Open.
type openers map[string]func(addrs []Addr, sockets int) (Ring, func(), error)

var origin = time.Now()

// Clock is the time on which all real rings of the process agree.
func Clock() int64 { return int64(time.Since(origin)) }

// ClockAt is what Clock shows at an instant read by time.Now.
func ClockAt(at time.Time) int64 { return int64(at.Sub(origin)) }

// TimeAt is when Clock shows that.
func TimeAt(shown int64) time.Time { return origin.Add(time.Duration(shown)) }
