// Package ring performs one worker's socket operations and reports how they
// ended. Its interface has the shape of io_uring, completions. Uring is that;
// Epoll imitates it by doing the operation when it becomes possible; Portable
// by a goroutine for each connection; Sim does it in virtual time. Package h3 has one for QUIC,
// and the tests of load one that allocates nothing.
//
// Completions are the shape of all of them because readiness can be turned into completions at
// little cost. The other way round io_uring would lose what it saves. A Send that is done at once
// says so and has no completion, which is the common case.
//
//	epoll_linux.go        epoll
//	errno.go              an error of the system in a Completion
//	departures.go         when the peer may close first
//	other.go              which rings other systems have
//	portable.go           a goroutine for each connection, for all systems
//	rest_linux.go         a sleep of less than the timer's slack
//	ring.go               the interface; Open, and what auto chooses
//	shifted.go            other numbers of connections and addresses
//	sim.go                virtual time, for tests
//	socket_linux.go       sockets for epoll and io_uring: connect, send, receive, close
//	uring_linux.go        io_uring; its sizes, such as how much a receive takes
//	uringclose_linux.go   closing with io_uring
//	uringreceive_linux.go receiving with io_uring
//	uringsend_linux.go    sending with io_uring
//	zone.go               IPv6 zones
package ring

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"dyno/internal/engine/uring"
)

// A Ring belongs to one worker; only the worker's goroutine may use it. All instants are
// nanoseconds after one origin, which is the same for every real ring of a process.
type Ring interface {
	// Now is the current instant.
	Now() int64

	// Connect starts to connect a socket to address addr of those the ring was opened with. A
	// Connected completion follows, then Received again and again until Close. Every completion of the
	// connection carries user. If even the start fails, Connect returns the error, and no completion
	// follows.
	Connect(addr int, user uint64) (fd int, err error)

	// Send sends all of b. If it returns true, that is done. Otherwise b must not change until the
	// Sent completion. A connection can have one Send at a time.
	Send(fd int, b []byte) (done bool)

	// Close closes fd. What was sent just before still goes out if it is no more than lastMost bytes,
	// nothing else was being sent, and the peer accepts it at once. A gentle close lets the peer close
	// first if it does so by itself within a millisecond, so that no local port stays in TIME_WAIT
	// (see grace). Completions that were already queued may still follow.
	Close(fd int, gently bool)

	// Gather has the next Wait not return before until, so that more completions come at once and
	// nobody is woken for each; it may return earlier if there are enough. AnyNumber is never
	// enough. A ring that cannot count what has come gathers only AnyNumber, and some not even that:
	// it reports whether it does.
	Gather(until int64, enough int) bool

	// Wait returns when a completion may be ready, on a signal, and at deadline at the latest.
	// Meanwhile it may occupy the Go scheduler's processor, so the caller must leave one to others.
	Wait(deadline int64) error

	// Next returns the next completion. The Data of the one before becomes invalid.
	Next() (Completion, bool)

	// IdleTime is for how long, since it was opened, the ring had nothing to do or rested; ns.
	IdleTime() int64
}

// An Extender is a ring that can be told of more addresses. Their numbers follow those that it was
// opened with.
type Extender interface{ Extend(Addr) }

// A Locator is a ring that knows the addresses of this machine from which it connected.
type Locator interface {
	// LocalAddr is that of a connected socket; the zero address of one that is not TCP.
	LocalAddr(fd int) netip.AddrPort
}

// A Completion is the result of an operation.
type Completion struct {
	Op   Op
	User uint64 // as given to Connect
	Data []byte // Received: the bytes, valid until Next
	Err  error  // why it failed; io.EOF when the peer has closed
}

// An Op is what has completed.
type Op uint8

const (
	Connected Op = iota + 1
	Received
	Sent
)

// lastMost is how many bytes are sent although Close follows: enough for HTTP/2's GOAWAY or an
// alert of TLS, which tell a peer that broke the protocol why its connection ends.
const lastMost = 512

// AnyNumber are as many completions as come.
const AnyNumber = 0

// Never is a deadline that is never reached.
const Never = 1<<63 - 1

// An Addr is where a ring can connect to: a TCP address, or a unix socket.
type Addr struct {
	TCP  netip.AddrPort
	Unix string     // a path; TCP is unset
	From netip.Addr // of this machine, in the same family as TCP; unset: the system's choice
}

// String is the address as errors and reports show it.
func (a Addr) String() string {
	if a.Unix != "" {
		return a.Unix
	}
	return a.TCP.String()
}

// ErrRefused is the error of a ring that the kernel's version or the system's settings do not
// allow. Another kind may work.
var ErrRefused = uring.ErrRefused

// An Opened is a ring that has been opened.
type Opened struct {
	Ring
	Kind    string
	Free    func() // frees the ring, when it is no longer used
	Refused error  // why a faster kind was not opened; nil: none is faster
}

// A Size is for what a ring is opened.
type Size struct {
	Sockets int  // about so many
	Deep    bool // each of which can have several requests in flight
}

// Open opens a ring of a kind, one of Kinds, of that size, which can connect to addrs. The thread
// that opens it must be the one that uses it. The kind "auto" is that of Auto, or the next one that
// the system allows.
func Open(kind string, size Size, addrs []Addr) (Opened, error) {
	kinds := []string{kind}
	if kind == "auto" {
		kinds = preferredKinds(size.Sockets)
	}
	return openFirst(kinds, size, addrs)
}

// AutoKind is the fastest kind for that many sockets on most machines. After a calibration a caller
// may know better, and then names the kind.
func AutoKind(sockets int) string { return preferredKinds(sockets)[0] }

func openFirst(kinds []string, size Size, addrs []Addr) (o Opened, err error) {
	for _, o.Kind = range kinds {
		open := opener[o.Kind]
		if open == nil {
			return o, fmt.Errorf("this platform has no ring %q; it has %v", o.Kind, Kinds)
		}
		if o.Ring, o.Free, err = open(addrs, size); !errors.Is(err, ErrRefused) {
			break
		}
		o.Refused = err
	}
	return o, err
}

// openers are the functions that open a ring, by kind.
type openers map[string]func(addrs []Addr, size Size) (Ring, func(), error)

var origin = time.Now()

// Clock is the clock of all real rings of the process, in ns.
func Clock() int64 { return int64(time.Since(origin)) }

// ClockAt is what Clock showed at an instant read by time.Now.
func ClockAt(at time.Time) int64 { return int64(at.Sub(origin)) }

// TimeAt is the time at which Clock shows that value.
func TimeAt(shown int64) time.Time { return origin.Add(time.Duration(shown)) }
