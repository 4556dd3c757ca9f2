package h3

import (
	"context"
	"net"
	"net/netip"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// A conn is one connection. Until it is closed, its worker knows it by user.
type conn struct {
	user uint64
	ring *Ring
	addr ring.Addr
	life context.Context // ends when the worker closes the connection
	end  context.CancelFunc

	quic *quic.Conn        // set before Connected is reported without an error
	http *http3.ClientConn // likewise

	under   sync.Mutex
	none    sync.Cond            // no exchange is running; guarded by under
	running map[uint64]*exchange // by id; guarded by under
	taken   uint64               // exchanges begun so far; guarded by under
	over    bool                 // none is begun any more; guarded by under

	// Guarded by ring.mu.
	closed    bool // by the worker: nothing more is reported
	queued    bool
	connected bool   // dialing has ended, which is to be reported
	failure   error  // of dialing
	out       []byte // records to be reported
	lent      []byte // records that the worker reads
	lost      error  // the end of the connection, to be reported last
}

// serveConn is the life of a connection.
func (c *conn) serveConn() {
	socket, err := dialUDP(c.addr)
	if err != nil {
		c.postConnected(err, nil)
		return
	}
	defer socket.Close()
	transport := &quic.Transport{Conn: socket}
	defer transport.Close()
	c.quic, err = transport.Dial(c.life, socket.RemoteAddr(), c.ring.tls, c.ring.quic)
	if err != nil {
		fault, err := handshakeFault(err)
		c.postConnected(err, fault)
		return
	}
	c.http = c.ring.http.NewClientConn(c.quic)
	c.postHandshake()
	select {
	case <-c.quic.Context().Done():
	case <-c.life.Done():
		c.quic.CloseWithError(noError, "")
	}
	c.postConnectionEnd()
}

// postHandshake reports the end of the handshake.
func (c *conn) postHandshake() {
	r := c.ring
	r.mu.Lock()
	r.live[c] = struct{}{}
	r.mu.Unlock()
	c.postConnected(nil, nil)
	c.postRecord(shakenRecord(c.quic.ConnectionState().TLS))
}

// postConnectionEnd reports the end of each exchange, because one that never left need not fail,
// and then that of the connection, unless the worker closed it.
func (c *conn) postConnectionEnd() {
	c.under.Lock()
	for len(c.running) > 0 {
		c.none.Wait()
	}
	c.over = true
	taken := c.taken
	c.under.Unlock()
	c.postRecord(record{what: leaving, n: taken})
	r := c.ring
	r.mu.Lock()
	delete(r.live, c)
	r.gone.addStats(c.quic.ConnectionStats())
	r.mu.Unlock()
	fault, err := faultAtEnd(context.Cause(c.quic.Context()))
	if fault != nil {
		c.postRecord(record{what: broken, fault: *fault})
		return
	}
	r.mu.Lock()
	c.lost = err
	c.enqueueConn()
	r.mu.Unlock()
}

// postConnected reports how dialing ended: err if nobody answered, fault if the handshake failed.
func (c *conn) postConnected(err error, fault *proto.Fault) {
	c.ring.mu.Lock()
	c.connected, c.failure = true, err
	c.enqueueConn()
	c.ring.mu.Unlock()
	if fault != nil {
		c.postRecord(record{what: broken, fault: *fault})
	}
}

// postRecord leaves a record for the codec, unless the worker has closed the connection.
func (c *conn) postRecord(r record) {
	c.ring.mu.Lock()
	if !c.closed {
		c.out = r.appendTo(c.out)
		c.enqueueConn()
	}
	c.ring.mu.Unlock()
}

// postRecords leaves records that were appended to each other, likewise.
func (c *conn) postRecords(records []byte) {
	if len(records) == 0 {
		return
	}
	c.ring.mu.Lock()
	if !c.closed {
		c.out = append(c.out, records...)
		c.enqueueConn()
	}
	c.ring.mu.Unlock()
}

// enqueueConn sees to it that the worker asks the connection; ring.mu is held.
func (c *conn) enqueueConn() {
	r := c.ring
	if c.queued || c.closed {
		return
	}
	c.queued = true
	if r.queue = append(r.queue, c); len(r.queue) == 1 {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// nextCompletion is the connection's next completion; ring.mu is held.
func (c *conn) nextCompletion() (done ring.Completion, ok bool) {
	done.User = c.user
	switch {
	case c.closed:
		return done, false
	case c.connected:
		c.connected = false
		done.Op, done.Err = ring.Connected, c.failure
	case len(c.out) > 0:
		c.lent, c.out = c.out, c.lent[:0]
		done.Op, done.Data = ring.Received, c.lent
	case c.lost != nil:
		done.Op, done.Err = ring.Received, c.lost
		c.lost = nil
	default:
		return done, false
	}
	return done, true
}

// hasRecords reports whether there is something to report; ring.mu is held.
func (c *conn) hasRecords() bool { return c.connected || len(c.out) > 0 || c.lost != nil }

// packetsReceived is how many have come.
func (c *conn) packetsReceived() uint64 { return c.quic.ConnectionStats().PacketsReceived }

// A socket is a UDP socket that is connected, which quic-go does not know of.
type socket struct{ *net.UDPConn }

// dialUDP connects a socket. Nothing is sent.
func dialUDP(to ring.Addr) (socket, error) {
	var from *net.UDPAddr
	if to.From.IsValid() {
		from = net.UDPAddrFromAddrPort(netip.AddrPortFrom(to.From, 0))
	}
	addr := netip.AddrPortFrom(to.TCP.Addr().Unmap(), to.TCP.Port())
	c, err := net.DialUDP("udp", from, net.UDPAddrFromAddrPort(addr))
	return socket{c}, ring.Errno(err)
}

// WriteTo writes to the peer, which is the only address that there can be.
func (s socket) WriteTo(b []byte, _ net.Addr) (int, error) { return s.Write(b) }

// WriteMsgUDP likewise.
func (s socket) WriteMsgUDP(b, oob []byte, _ *net.UDPAddr) (n, oobn int, err error) {
	return s.UDPConn.WriteMsgUDP(b, oob, nil)
}
