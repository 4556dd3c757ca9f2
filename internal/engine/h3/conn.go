package h3

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/quic-go/quic-go"

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

	quic   *quic.Conn      // set before Connected is reported without an error
	begun  []*exchange     // by tag, the last of it; of the worker
	gone   atomic.Bool     // the server takes no more requests
	last   atomic.Uint64   // then: streams from this id on it does not process
	held   atomic.Int64    // bytes of unfinished headers: see heldMost
	taking context.Context // ends then
	leave  context.CancelFunc

	// Guarded by ring.mu.
	line
	none      sync.Cond               // no exchange is running
	running   int                     // exchanges
	taken     uint64                  // exchanges begun so far
	over      bool                    // none is begun any more
	seen      [streamDecoder + 1]bool // streams of the server, by their kind
	closed    bool                    // by the worker: nothing more is reported
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
	c.sendSettings()
	c.ring.all.Go(c.acceptStreams)
	c.postHandshake()
	select {
	case <-c.quic.Context().Done():
	case <-c.life.Done():
		c.quic.CloseWithError(quic.ApplicationErrorCode(codeNoError), "")
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
	r := c.ring
	r.mu.Lock()
	for c.running > 0 {
		c.none.Wait()
	}
	defer r.mu.Unlock()
	c.over = true
	delete(r.live, c)
	r.gone.addStats(c.quic.ConnectionStats())
	fault, err := faultAtEnd(context.Cause(c.quic.Context()))
	if fault != nil {
		c.leaveRecords(record{what: broken, n: c.taken, fault: *fault}.appendTo(nil))
		return
	}
	c.leaveRecords(record{what: leaving, n: c.taken}.appendTo(nil))
	c.lost = err
	c.enqueueConn()
}

// closeFor closes the connection for what its server did.
func (c *conn) closeFor(v *violation) {
	c.quic.CloseWithError(quic.ApplicationErrorCode(v.code), v.what)
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
	b := r.appendTo(nil)
	c.ring.mu.Lock()
	c.leaveRecords(b)
	c.ring.mu.Unlock()
}

// leaveRecords leaves records that were appended to each other, likewise; ring.mu is held.
func (c *conn) leaveRecords(records []byte) {
	if !c.closed {
		c.out = append(c.out, records...)
		c.enqueueConn()
	}
}

// stopTaking notes that the server takes no more requests, and processes none on a stream from id
// on. The codec is told, so that it looks for another connection. Those that wait for a stream are
// refused, and so are those that are not processed.
func (c *conn) stopTaking(id uint64) {
	c.last.Store(id)
	if !c.gone.Swap(true) {
		c.leave()
		c.postRecord(record{what: leaving, n: everything})
	}
	c.ring.resetLeftOut(c)
}

// leavesOut reports whether the server has said that it does not process the request of a stream.
func (c *conn) leavesOut(stream *quic.Stream) bool {
	return c.gone.Load() && uint64(stream.StreamID()) >= c.last.Load()
}

// enqueueConn sees to it that the worker asks the connection; ring.mu is held.
func (c *conn) enqueueConn() {
	r := c.ring
	if c.queued || c.closed {
		return
	}
	c.queued = true
	if r.queue = append(r.queue, c); len(r.queue) == 1 {
		r.wakeWorker()
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
