package ring

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// pieceSize is the size of a connection's receive buffer, in bytes. Unlike with epoll each
// connection has one, so ten thousand connections take 160 MiB.
const pieceSize = 16 << 10

// farewellMax is how many bytes a peer may send after a gentle close, such as the end of TLS. If it
// sends more, the connection is closed at once.
const farewellMax = 64 << 10

// lastWait is how long Close waits for a last message to be sent.
const lastWait = 50 * time.Millisecond

// portable turns package net into completions. A connection has a goroutine that dials and then
// reads, and during a Send one that writes. They queue completions; the worker takes the whole
// queue once a turn.
type portable struct {
	addrs   []Addr
	streams []*stream // by fd; nil where none is open
	unused  []int     // fds below len(streams)
	batch   []arrival // taken from the queue
	taken   int       // how many of batch were returned
	lent    *stream   // whose buffer the user may be reading
	timer   *time.Timer
	idle    int64

	life context.Context // ends when the ring is freed
	all  sync.WaitGroup  // every goroutine

	wake      chan struct{} // of 1: the queue is no longer empty
	mu        sync.Mutex    // guards what follows, and the shared fields of streams
	queue     []arrival
	departing int
	grace     grace
}

// A stream is one connection. Its cancel ends the dialing or the connection.
type stream struct {
	user     uint64
	ring     *portable
	life     context.Context
	cancel   context.CancelFunc
	released chan struct{} // of 1: the user no longer reads the buffer
	writer   sync.WaitGroup
	sending  bool // used by the worker: Sent has not been returned yet
	last     bool // what is sent is short enough to be sent despite Close

	conn   net.Conn // nil until connected
	closed bool     // by the user, who wants no more completions; written by the worker
	ended  bool     // no more data can be received
	gentle bool     // counted as departing
}

type arrival struct {
	Completion
	stream *stream
}

func openPortable(addrs []Addr, _ Size) (Ring, func(), error) {
	r := &portable{
		addrs: addrs, timer: time.NewTimer(0), wake: make(chan struct{}, 1),
	}
	life, cancel := context.WithCancel(context.Background())
	r.life = life
	return r, func() { cancel(); r.all.Wait() }, nil
}

func (r *portable) Now() int64      { return Clock() }
func (r *portable) IdleTime() int64 { return r.idle }

// Extend adds an address that can be connected to.
func (r *portable) Extend(a Addr) { r.addrs = append(slices.Clip(r.addrs), a) }

// Connect never fails at once.
func (r *portable) Connect(addr int, user uint64) (int, error) {
	s := &stream{user: user, ring: r, released: make(chan struct{}, 1)}
	s.life, s.cancel = context.WithCancel(r.life)
	fd := len(r.streams)
	if n := len(r.unused) - 1; n >= 0 {
		fd = r.unused[n]
		r.unused = r.unused[:n]
		r.streams[fd] = s
	} else {
		r.streams = append(r.streams, s)
	}
	r.all.Go(func() { s.serveConn(r.addrs[addr]) })
	return fd, nil
}

// Send always ends with a Sent completion: package net has no write that cannot block.
func (r *portable) Send(fd int, b []byte) bool {
	s := r.streams[fd]
	s.sending, s.last = true, len(b) <= lastMost
	s.writer.Add(1)
	r.all.Go(func() {
		_, err := s.conn.Write(b)
		s.writer.Done()
		s.postCompletion(Completion{Op: Sent, Err: portableErrno(err)})
	})
	return false
}

// LocalAddr is a Locator's.
func (r *portable) LocalAddr(fd int) netip.AddrPort {
	if tcp, is := r.streams[fd].conn.LocalAddr().(*net.TCPAddr); is {
		return tcp.AddrPort()
	}
	return netip.AddrPort{}
}

func (r *portable) Close(fd int, gently bool) {
	s := r.streams[fd]
	r.streams[fd] = nil
	r.unused = append(r.unused, fd)
	r.mu.Lock()
	s.closed = true
	s.gentle = gently && s.conn != nil && !s.ended && !s.sending && r.departing < departuresMost &&
		r.grace.waits()
	if s.gentle {
		r.departing++
	}
	r.mu.Unlock()
	if s.gentle { // serveConn continues to read
		s.conn.SetReadDeadline(time.Now().Add(time.Duration(r.grace.waitsFor())))
		return
	}
	if s.sending && s.last {
		s.conn.SetWriteDeadline(time.Now().Add(lastWait))
		s.writer.Wait()
	}
	s.cancel()
	s.writer.Wait() // what is being sent belongs to the user again
}

// Gather does nothing: the goroutines of the connections would be woken in any case.
func (r *portable) Gather(int64, int) bool { return false }

func (r *portable) Wait(deadline int64) error {
	if r.taken < len(r.batch) || r.awaitCompletion() {
		return nil
	}
	from := Clock()
	if deadline <= from {
		return nil
	}
	r.timer.Reset(time.Duration(deadline - from))
	select {
	case <-r.wake:
	case <-r.timer.C:
	}
	r.idle += Clock() - from
	r.awaitCompletion()
	return nil
}

// awaitCompletion swaps the batch, which has been returned, for the queue.
func (r *portable) awaitCompletion() bool {
	r.mu.Lock()
	r.batch, r.queue = r.queue, r.batch[:0]
	r.mu.Unlock()
	r.taken = 0
	return len(r.batch) > 0
}

func (r *portable) Next() (Completion, bool) {
	for {
		if r.lent != nil {
			r.lent.released <- struct{}{}
			r.lent = nil
		}
		if r.taken == len(r.batch) {
			return Completion{}, false
		}
		a := r.batch[r.taken]
		r.batch[r.taken] = arrival{}
		r.taken++
		if a.Data != nil {
			r.lent = a.stream
		}
		if a.Op == Sent {
			a.stream.sending = false
		}
		if !a.stream.closed {
			return a.Completion, true
		}
	}
}

// serveConn runs a connection from dialing to its end.
func (s *stream) serveConn(to Addr) {
	dialer := net.Dialer{KeepAlive: -1}
	network, address := "unix", to.Unix
	if to.Unix == "" {
		network = "tcp"
		address = netip.AddrPortFrom(to.TCP.Addr().Unmap(), to.TCP.Port()).String()
	}
	if to.From.IsValid() {
		dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(to.From, 0))
	}
	conn, err := dialer.DialContext(s.life, network, address)
	if err == nil {
		s.ring.all.Add(1)
		context.AfterFunc(s.life, func() {
			conn.Close()
			s.ring.all.Done()
		})
	}
	s.ring.mu.Lock()
	s.conn, s.ended = conn, err != nil
	s.ring.mu.Unlock()
	s.postCompletion(Completion{Op: Connected, Err: portableErrno(err)})
	if err == nil {
		s.receiveLoop()
	}
}

// receiveLoop reads until the connection ends. It does not overwrite the buffer while the user may
// read it, even if the user has closed the connection since.
func (s *stream) receiveLoop() {
	buf := make([]byte, pieceSize)
	farewell := 0
	for {
		n, err := s.conn.Read(buf)
		if n > 0 && s.postCompletion(Completion{Op: Received, Data: buf[:n]}) {
			select {
			case <-s.released:
			case <-s.life.Done():
				return
			}
		} else if farewell += n; farewell > farewellMax {
			err = net.ErrClosed
		}
		if err != nil {
			s.endStream(err)
			return
		}
	}
}

// endStream ends the receiving. The connection stays open until its user closes it; if it was
// closed gently, it is closed now.
func (s *stream) endStream(err error) {
	s.ring.mu.Lock()
	s.ended = true
	gentle := s.gentle
	if gentle {
		s.ring.departing--
		s.ring.grace.endWait(!errors.Is(err, os.ErrDeadlineExceeded))
	}
	s.ring.mu.Unlock()
	if gentle {
		s.cancel()
		return
	}
	s.postCompletion(Completion{Op: Received, Err: portableErrno(err)})
}

// postCompletion queues c, unless the user has closed the connection.
func (s *stream) postCompletion(c Completion) bool {
	r := s.ring
	c.User = s.user
	r.mu.Lock()
	if s.closed {
		r.mu.Unlock()
		return false
	}
	r.queue = append(r.queue, arrival{c, s})
	first := len(r.queue) == 1
	r.mu.Unlock()
	if first {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// portableErrno returns the system's error number in err, the same on every ring. Otherwise it
// returns err: io.EOF, or an error of package net.
func portableErrno(err error) error {
	var e syscall.Errno
	if !errors.As(err, &e) {
		return err
	}
	if posix, ok := winsock[e]; ok {
		return posix
	}
	return e
}

// winsock maps Windows' socket errors to those of package syscall, which have the same names and
// other numbers. No other system has such large error numbers.
var winsock = map[syscall.Errno]syscall.Errno{
	10024: syscall.EMFILE,
	10048: syscall.EADDRINUSE,
	10049: syscall.EADDRNOTAVAIL,
	10051: syscall.ENETUNREACH,
	10053: syscall.ECONNABORTED,
	10054: syscall.ECONNRESET,
	10055: syscall.ENOBUFS,
	10060: syscall.ETIMEDOUT,
	10061: syscall.ECONNREFUSED,
	10065: syscall.EHOSTUNREACH,
}
