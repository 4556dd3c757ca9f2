package h3

import (
	"context"
	"crypto/tls"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// A Ring is a ring.Ring whose connections are QUIC's. A connection has a goroutine that opens and
// ends it and a few for the server's own streams; the library has some five more. An exchange has
// one that serves others later, of any connection. They leave records for the worker, who takes
// those of a connection all at once.
type Ring struct {
	addrs    []ring.Addr
	messages []message
	want     proto.Want
	quic     *quic.Config
	tls      *tls.Config
	buffers  sync.Pool // of *[bodyPiece]byte, to read bodies into

	conns   []*conn // by fd; nil where none is open
	unused  []int   // fds below len(conns)
	batch   []*conn // taken from the queue
	taken   int     // of batch
	doubted []doubt
	timer   *time.Timer // fires at armed, if that is not 0
	armed   int64
	fired   atomic.Bool
	idle    int64

	life context.Context // ends when the ring is freed
	all  sync.WaitGroup  // our goroutines

	wake  chan struct{} // of 1: the queue is no longer empty
	mu    sync.Mutex    // of what follows, and of the connections' shared fields
	queue []*conn       // with something to report, each once
	pool
	live map[*conn]struct{}
	gone traffic // of connections that have ended
}

// A pool has the exchanges of a ring.
type pool struct {
	every []*exchange
	spare []*exchange // of them, out of use
	freed bool        // none is put there any more
}

// What quic-go is told. The windows are its own largest, from the start: what comes is read
// at once, so there is nothing to be careful about.
const (
	streamWindow     = 6 << 20
	connectionWindow = 15 << 20
	idleMost         = 10 * time.Minute // the server's own limit is the one that counts
	bodyPiece        = 32 << 10
)

// bufferWarning keeps quic-go, if true, from writing to stderr that the system gives a socket
// smaller buffers than it would like.
const bufferWarning = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"

// traffic is bytes of UDP's payload, the QUIC packets with all that is in them.
type traffic struct{ received, sent int64 }

// A doubt is of a connection that had received so many packets when an exchange of it was
// given up: is the server still there?
type doubt struct {
	conn    *conn
	packets uint64
}

// Open returns a ring for the requests of a run and what is wanted of their responses, which can
// connect to addrs, and what frees it. It fails like Protocol.
func Open(o Options, reqs []proto.Request, want proto.Want, addrs []ring.Addr) (*Ring, func(),
	error) {
	if err := o.checkOptions(); err != nil {
		return nil, nil, err
	}
	encoder := o.newEncoder()
	messages, err := encodeRequests(&encoder, reqs)
	if err != nil {
		return nil, nil, err
	}
	if _, set := os.LookupEnv(bufferWarning); !set && !o.Guest {
		os.Setenv(bufferWarning, "true")
	}
	config := o.TLS.Clone()
	config.NextProtos, config.MinVersion = []string{Name}, tls.VersionTLS13
	if o.Resume {
		config.ClientSessionCache = &sessions{}
	}
	r := &Ring{
		addrs: addrs, messages: messages, want: want, tls: config,
		quic: &quic.Config{
			Versions:              []quic.Version{quic.Version1},
			HandshakeIdleTimeout:  2 * o.Connecting, // the worker's is first
			MaxIdleTimeout:        idleMost,
			MaxIncomingStreams:    -1, // of requests by the server
			MaxIncomingUniStreams: uniStreams,

			InitialStreamReceiveWindow: streamWindow, MaxStreamReceiveWindow: streamWindow,
			InitialConnectionReceiveWindow: connectionWindow,
			MaxConnectionReceiveWindow:     connectionWindow,
		},
		buffers: sync.Pool{New: func() any { return new([bodyPiece]byte) }},
		wake:    make(chan struct{}, 1),
		live:    map[*conn]struct{}{},
	}
	r.timer = time.AfterFunc(time.Hour, func() { r.fired.Store(true); r.wakeWorker() })
	life, cancel := context.WithCancel(context.Background())
	r.life = life
	return r, func() { cancel(); r.timer.Stop(); r.freeExchanges(); r.all.Wait() }, nil
}

// addExchange adds an exchange to the ring's.
func (r *Ring) addExchange(x *exchange) {
	r.mu.Lock()
	r.every = append(r.every, x)
	r.mu.Unlock()
	r.all.Go(x.serveExchanges)
}

// resetLeftOut resets the streams whose requests the server of a connection does not process.
func (r *Ring) resetLeftOut(c *conn) {
	r.mu.Lock()
	every := r.every // of which no element changes
	r.mu.Unlock()
	for _, x := range every {
		x.mu.Lock()
		if x.stream != nil && x.conn == c && c.leavesOut(x.stream) {
			resetStream(x.stream, codeCanceled)
		}
		x.mu.Unlock()
	}
}

// freeExchanges ends the goroutines of the exchanges: of those that are out of use now, and of the
// others when they are.
func (r *Ring) freeExchanges() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.freed = true
	for _, x := range r.spare {
		close(x.start)
	}
	r.spare = nil
}

// Now is the time of all rings.
func (r *Ring) Now() int64 { return ring.Clock() }

// IdleTime is for how long the worker had nothing to do. The library's goroutines may have had.
func (r *Ring) IdleTime() int64 { return r.idle }

// Extend adds an address that can be connected to.
func (r *Ring) Extend(a ring.Addr) { r.addrs = append(slices.Clip(r.addrs), a) }

// Connect never fails at once. Connected is the end of the handshake.
func (r *Ring) Connect(addr int, user uint64) (int, error) {
	c := &conn{user: user, ring: r, addr: r.addrs[addr]}
	c.none.L = &r.mu
	c.life, c.end = context.WithCancel(r.life)
	c.taking, c.leave = context.WithCancel(c.life)
	fd := len(r.conns)
	if n := len(r.unused) - 1; n >= 0 {
		fd = r.unused[n]
		r.unused = r.unused[:n]
		r.conns[fd] = c
	} else {
		r.conns = append(r.conns, c)
	}
	r.all.Go(c.serveConn)
	return fd, nil
}

// Send takes a codec's records, all at once.
func (r *Ring) Send(fd int, b []byte) bool {
	c := r.conns[fd]
	for {
		order, n := parseRecord(b)
		if n <= 0 {
			return true
		}
		b = b[n:]
		switch order.what {
		case ask, askOwn:
			if x := c.takeExchange(&order); x != nil {
				c.beginExchange(x)
			}
		case giveUp:
			// They are counted first, because the server may answer at once.
			r.doubted = append(r.doubted, doubt{c, c.packetsReceived()})
			c.cancelRequest(order.id)
		}
	}
}

// Close closes the connection in good order, gently or not: UDP keeps no port waiting.
func (r *Ring) Close(fd int, _ bool) {
	c := r.conns[fd]
	r.conns[fd] = nil
	r.unused = append(r.unused, fd)
	r.mu.Lock()
	c.closed = true
	r.mu.Unlock()
	c.end()
}

// hearing is how long the worker sleeps at most while a server is in doubt: long before an
// exchange's time is over, it must know that the server is there.
const hearing = int64(2e6)

// Gather does nothing: quic-go's goroutines would be woken all the same.
func (r *Ring) Gather(int64, int) bool { return false }

// Wait returns when a connection has something to report, and at deadline at the latest.
func (r *Ring) Wait(deadline int64) error {
	r.postAlive()
	if r.taken < len(r.batch) || r.takeReady() {
		return nil
	}
	from := ring.Clock()
	if len(r.doubted) > 0 {
		deadline = min(deadline, from+hearing)
	}
	if deadline <= from {
		return nil
	}
	// The timer stays armed for an earlier deadline: it wakes once too often, and each wait for a
	// channel and a timer would cost more.
	if r.fired.Swap(false) || r.armed == 0 || deadline < r.armed {
		r.armed = deadline
		r.timer.Reset(time.Duration(deadline - from))
	}
	<-r.wake
	r.idle += ring.Clock() - from
	r.takeReady()
	return nil
}

// postAlive reports of connections in doubt that they have received packets.
func (r *Ring) postAlive() {
	rest := r.doubted[:0]
	for _, d := range r.doubted {
		switch {
		case d.conn.life.Err() != nil:
		case d.conn.packetsReceived() > d.packets:
			d.conn.postRecord(record{what: alive})
		default:
			rest = append(rest, d)
		}
	}
	r.doubted = rest
}

// wakeWorker ends the worker's wait, or the next one.
func (r *Ring) wakeWorker() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// takeReady swaps the batch that has been taken for what has come in meanwhile.
func (r *Ring) takeReady() bool {
	r.mu.Lock()
	r.batch, r.queue = r.queue, r.batch[:0]
	select { // what it was sent for has been taken
	case <-r.wake:
	default:
	}
	r.mu.Unlock()
	r.taken = 0
	return len(r.batch) > 0
}

// Next takes one completion. Each connection of a batch has one; what else it has to tell
// is for the next batch, or a busy one would keep the worker from everything else.
func (r *Ring) Next() (ring.Completion, bool) {
	for r.taken < len(r.batch) {
		c := r.batch[r.taken]
		r.batch[r.taken] = nil
		r.taken++
		r.mu.Lock()
		done, ok := c.nextCompletion()
		if c.queued = false; c.hasRecords() {
			c.enqueueConn()
		}
		r.mu.Unlock()
		if ok {
			return done, true
		}
	}
	return ring.Completion{}, false
}

// Traffic is how many bytes all connections have received and sent, as the payload of UDP:
// QUIC's packets with all that is in them. Handshakes that failed are left out.
func (r *Ring) Traffic() (received, sent int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := r.gone
	for c := range r.live {
		sum.addStats(c.quic.ConnectionStats())
	}
	return sum.received, sum.sent
}

func (t *traffic) addStats(s quic.ConnectionStats) {
	t.received += int64(s.BytesReceived)
	t.sent += int64(s.BytesSent)
}
