package load

import (
	"errors"

	"dyno/internal/engine/dial"
	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/tunnel"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/streams"
	"dyno/internal/engine/timers"
	"dyno/internal/fact"
)

// A conn is one connection: a socket, its codec and its requests in flight. When the socket is
// lost the connection goes on with another socket, which is its next life.
type conn struct {
	// Each request of a plain load reads or writes what follows, up to served. Of 1,000 connections it
	// is in no near cache, so it stands together: 242 bytes of 400 (docs/benchmarks.md).
	codec proto.Codec
	dial.Call
	number uint32 // among the worker's, from 0
	state  lifeState
	listed bool   // in pool.idle
	busy   bool   // the ring is sending
	quiet  bool   // no byte of the next response has arrived
	used   uint32 // requests completed in this life
	handed uint32 // how often bytes were handed to the ring
	slots
	stream    *streams.Conn      // nil: answers are no streams
	out       []byte             // to send
	open      int64              // when it last had room for a request
	first     int64              // when the next response began, or the last one ended
	wake      int64              // its entry in timers that counts; 0: none
	doubt     int64              // since when nothing came after a cancellation; 0: something has
	shut      int64              // since when it has neither a request nor room; 0: it has either
	in        []byte             // received, but not yet consumed by the codec
	responses scenario.Responses // as far as they are wanted
	attempts
	borrower proto.Borrower // the codec, if it may read the message of an exchange that is over
	protocol string         // HTTP11 and the like; "" until TLS has negotiated it
	since    int64          // when it was dialed; the socket that it has may have begun later
	up       int64          // when it was connected
	sending  []byte         // what the ring is sending
}

// A slots holds the requests that a connection has in flight, and its free places for others.
type slots struct {
	exchanges []exchange // by tag
	tags      []uint32   // those not in use
	live      int32      // in flight
	waiting   int32      // slots that have been free since an earlier life
}

// An attempts is the history of a connection's lives.
type attempts struct {
	opened         bool   // one life at least was ready
	served         bool   // a request was completed
	settled        bool   // the first attempts have ended
	failedAttempts uint8  // lives without a completed request since the last life that had one
	again          int64  // while down: when to dial
	lost           int64  // when the last life that carried a request ended, or the first attempt
	regained       int64  // when it was ready again; 0: it is not
	idled          bool   // this life ended with nothing in flight
	timedOut       int64  // since when a request waited that timed out; 0: one was completed since
	usedThen       uint32 // conn.used when it timed out, of this life
	silence        silence
}

// A lifeState is how far a connection has come.
type lifeState uint8

const (
	down lifeState = iota
	connecting
	shaking // connected; the codec has no room yet
	ready
)

// An exchange is a request in flight, with the instants that measure it. When the request is over,
// the exchange stands for the free slot, and due is when the slot became free.
type exchange struct {
	flow.Arrival
	sent   int64
	handed uint32 // conn.handed when it was encoded
	status uint16 // 0 until the response has begun
	live   bool
	waits  bool // the slot has been free since an earlier life of the connection

	eventful bool // its stream failed, or was cut, behind its first event
}

// dialConn begins a new life.
func (w *worker) dialConn(i uint32) {
	c := &w.conns[i]
	c.number = i
	c.codec, c.busy, c.quiet = w.newCodec(w.sinkOf(c)), false, true
	c.borrower, _ = c.codec.(proto.Borrower)
	c.in, c.out, c.used, c.usedThen = c.in[:0], c.out[:0], 0, 0
	c.first, c.doubt, c.shut = 0, 0, 0
	if c.protocol = ""; !w.plan.Target.TLS {
		c.protocol = w.protocols.ChosenName(0)
	}
	c.since, c.state = w.now, connecting
	var err error // completions of the life before are no longer this connection's
	if c.Call, err = w.dialing.addresses.Dial(i, w.now); err != nil {
		w.markDown(c)
		w.handleDialFailure(i, c, loadresult.Connect, err)
		return
	}
	w.setTimer(i, c, w.nextDeadline(c))
}

// handleCompletion passes a completion to its connection, and sends what is then due.
//
// It reads the clock (25 ns) for each completion, before an answer is decoded. In a closed workload
// the next request is sent at the same instant. An answer that arrives while others are handled
// waits for its turn, and its latency includes that wait. Therefore the verdict on the generator
// looks at how busy its threads were. One reading for a batch of completions would save 2 % of the
// CPU time, and be wrong by the length of the batch.
func (w *worker) handleCompletion(done ring.Completion) {
	i := uint32(done.User)
	c := &w.conns[i]
	if (c.Life != uint32(done.User>>32) || c.state == down) && !w.takeOther(i, c, done) {
		return
	}
	w.now = w.ring.Now()
	switch done.Op {
	case ring.Connected:
		w.handleConnected(i, c, done.Err)
	case ring.Sent:
		c.busy = false
		if done.Err != nil {
			w.loseConn(i, c, loadresult.Write, done.Err)
		} else {
			w.flushOutput(i, c)
		}
	case ring.Received:
		w.handleReceived(i, c, done.Data, done.Err)
		if w.users != nil { // the scenario took its time
			w.now = w.ring.Now()
		}
	}
	w.listIfRoom(i, c)
	w.sendDue(1)
}

// unsentMost is how many bytes may wait to be sent before a connection takes no more requests.
// Without a limit a server could answer requests that it has not read.
const unsentMost = 1 << 20

// listIfRoom puts a connection that has room into the idle list. A connection without room and
// without a request in flight gets the timeout of a request.
func (w *worker) listIfRoom(i uint32, c *conn) {
	if c.state != ready || c.listed {
		return
	}
	if c.codec.Room() == 0 || c.busy && len(c.out) > unsentMost {
		if c.live == 0 && c.shut == 0 {
			c.shut = w.now
			w.setTimer(i, c, w.now+int64(w.plan.Timeout))
		}
		return
	}
	w.pushIdle(i, c, w.now)
}

// handleConnected begins the handshake, or the load, on a connected socket.
func (w *worker) handleConnected(i uint32, c *conn, err error) {
	if err != nil {
		if other, ok := w.dialing.addresses.Fail(i, c.Call, err, w.now); ok {
			w.continueWith(i, c, other)
			return
		}
		w.failAttempt(i, c, err)
		return
	}
	w.dialing.addresses.Connected(i, c.Call, w.now)
	c.state, c.up = shaking, w.now
	if w.protocols.HTTP3 != nil { // with HTTP/3 one handshake both connects and does TLS
		c.up = c.Begun
	} else if !tunnel.Is(c.codec) {
		w.recordConnect(c)
	}
	c.out = w.protocols.AppendGreeting(c.out, w.ring, c.FD, w.addrs[c.Addr])
	w.markReadyIfRoom(i, c)
	w.flushOutput(i, c)
}

// recordConnect notes that a connection leads to the server.
func (w *worker) recordConnect(c *conn) {
	if w.at == nil && !w.IsWarmup(w.now) {
		w.totals.Connect.Record(w.now - c.Begun)
	}
}

// markReadyIfRoom makes a connection ready as soon as its codec takes requests.
func (w *worker) markReadyIfRoom(i uint32, c *conn) {
	if c.state != shaking || c.codec.Room() == 0 {
		return
	}
	c.state = ready
	w.up++
	c.regained = w.now
	if c.opened = c.opened || w.at != nil; w.at != nil {
		w.at.opened++
		return
	}
	w.endOutage()
	w.totals.Opened++
	w.totals.Protocols[c.protocol]++
	w.recordRoom(c.codec.Room())
	if c.opened {
		w.totals.Reconnects++
	}
	c.opened = true
	w.dialing.endFirstAttempt(w, c, true)
}

// recordRoom records how many requests a connection can have in flight, with a notice if the server
// allows fewer streams than --streams.
func (w *worker) recordRoom(room int) {
	w.totals.Room = max(w.totals.Room, room)
	if asked := w.plan.Streams; room < asked {
		w.notices[fact.FewerStreams{Streams: room, Asked: asked}] = true
	}
}

// endOutage counts the outage until now, if there is one.
func (w *worker) endOutage() {
	w.countOutage(w.outage, w.now, &w.Window)
	w.outage = flow.NotYet
}

// flushOutput has the ring send what there is to send, unless it is still sending.
func (w *worker) flushOutput(i uint32, c *conn) {
	for !c.busy && c.state >= shaking {
		if len(c.out) == 0 {
			if c.out = c.codec.Flush(c.out); len(c.out) == 0 {
				return
			}
		}
		if w.IsMeasured(w.now) {
			w.counters.Written += int64(len(c.out))
		}
		c.handed++
		if w.ring.Send(c.FD, c.out) {
			c.out = c.out[:0]
			continue
		}
		c.busy = true
		c.sending, c.out = c.out, c.sending[:0]
	}
}

// markDown ends a life. Its requests must have been released.
func (w *worker) markDown(c *conn) {
	if c.codec != nil {
		c.codec.Decode(nil, true) // the codec frees its buffers
		w.releaseCodec(c)
	}
	w.noteClosed(c)
	if c.state == ready {
		w.dialing.addresses.Carried(c.Call, c.used, true)
		if w.IsClosed() {
			c.markSlotsWaiting()
		}
		w.noteDown(w.now)
	}
	c.state, c.busy = down, false
	w.countAttempt(c)
}

// failAttempt ends a life that failed before it could carry a request.
func (w *worker) failAttempt(i uint32, c *conn, err error) {
	phase := c.attemptPhase()
	var f *proto.Fault
	if phase == loadresult.Connect && errors.As(err, &f) && !failure.IsOfProxy(f) {
		// HTTP/2 begins with the server's SETTINGS.
		phase = loadresult.Protocol
	}
	if c.state == connecting {
		w.dialing.addresses.GiveUp(i, c.Call, err, w.now)
	}
	w.ring.Close(c.FD, false)
	w.markDown(c)
	w.handleDialFailure(i, c, phase, err)
}

// loseConn ends a life that failed, and decides for each request in flight. A request without a
// byte of answer, on a connection that has completed others, is retried once if its method allows
// that: the peer closed while it was on its way. So is a request of which nothing was handed to the
// ring, of any method on any connection (see resends). If the peer had announced the close with an
// earlier answer (failure.ErrAnnounced), that does not count as the one retry. All others have
// failed; those pipelined behind the oldest, because of it.
func (w *worker) loseConn(i uint32, c *conn, phase loadresult.Phase, err error) {
	if c.state == shaking {
		w.failAttempt(i, c, err)
		return
	}
	untouched := w.drainCodec(c, err)
	oldest := c.oldestInFlight()
	for tag := range c.exchanges {
		x := &c.exchanges[tag]
		if !x.live {
			continue
		}
		first, begun := x == oldest, x.status != 0
		timedOut := first && phase == loadresult.Timeout
		lost := (untouched || !first) && !begun && !timedOut && phase != loadresult.Protocol
		why, again := w.resends(x, c, err == failure.ErrAnnounced)
		if lost && !again && why != "" && x.Counted {
			w.totals.NotRetried.Count(w.retryOf(c, x, why))
		}
		switch {
		case timedOut:
			w.failRequest(c, uint32(tag), loadresult.Timeout, err)
		case lost && again:
			w.queueRetry(c, x, x.Past|flow.WasLost, why)
		case first || untouched || begun && phase != loadresult.Timeout:
			w.failRequest(c, uint32(tag), phase, err)
		default:
			w.failRequest(c, uint32(tag), loadresult.Read, failure.ErrPipelined)
		}
		w.releaseTag(c, uint32(tag), w.now)
	}
	if c.idled = oldest == nil; c.idled && phase != loadresult.Read {
		w.recordFailure(c, phase, err)
	}
	w.ring.Close(c.FD, false)
	w.markDown(c)
	w.redialConn(i, c)
}

// drainCodec reads the last events from the codec and releases it. It reports whether the requests
// without an event have received no byte of an answer; of a pipeline, the oldest one. err is why
// the life ended, unless the codec reports a reason of its own.
func (w *worker) drainCodec(c *conn, err error) bool {
	in, over := c.in, false
	for !over {
		n, ev := c.codec.Decode(in, true)
		in = in[n:]
		switch ev.Kind {
		case proto.Refused:
			w.handleRefused(c, ev.Tag, ev.Err)
		case proto.Failed:
			if x := &c.exchanges[ev.Tag]; x.status == 0 {
				x.status = cutShort
			}
		case proto.Broken:
			err, over = ev.Err, true
		case proto.More, proto.Closing:
			over = true
		}
	}
	w.releaseCodec(c)
	var f *proto.Fault
	return errors.As(err, &f) && f.Kind == proto.FaultClosed
}

// cutShort stands for the status of a response that was lost before its head was complete.
const cutShort = 1

// closeConn ends a life in good order: the peer or the protocol takes no more requests.
func (w *worker) closeConn(i uint32, c *conn) {
	if c.state == shaking {
		w.failAttempt(i, c, c.dismissalOr(failure.ErrUnused))
		return
	}
	if c.live > 0 || c.used == 0 {
		w.loseConn(i, c, loadresult.Read, failure.ErrAnnounced)
		return
	}
	w.ring.Close(c.FD, true)
	w.markDown(c)
	w.redialConn(i, c)
}

// handleTimer dials a connection or gives it up, if its deadline has passed.
func (w *worker) handleTimer(t timers.Timer) {
	i := t.Of
	c := &w.conns[i]
	if c.wake != t.At {
		return
	}
	c.wake = 0
	switch at := w.nextDeadline(c); {
	case at == flow.NotYet:
	case at > w.now:
		w.setTimer(i, c, at)
	case c.state == down:
		if w.EndAtWindow(w.now, &w.Window); w.isUnserved() {
			w.setTimer(i, c, w.now+redialMost)
		} else if !w.Interrupted && w.HasPending() {
			w.dialConn(i)
		}
	case c.state == ready:
		w.timeOutConn(i, c)
	case c.state == connecting && w.now < c.since+int64(w.plan.Connecting):
		w.continueWith(i, c, w.dialing.addresses.Widen(i, c.Call, w.now))
	case c.state == shaking && tunnel.Is(c.codec):
		w.failAttempt(i, c, failure.ErrNoTunnel)
	case c.state == shaking && c.protocol != "":
		w.failAttempt(i, c, failure.ErrUnready)
	default:
		w.failAttempt(i, c, failure.ErrTimeout)
	}
}

// timeOutConn gives up what has exceeded the timeout: the requests alone, if the protocol can
// cancel one and the server has answered anything since the last cancellation; otherwise the whole
// life.
func (w *worker) timeOutConn(i uint32, c *conn) {
	if c.stream != nil && (w.leaveStreams(i, c) || w.nextDeadline(c) > w.now) {
		return // nothing else is due
	}
	late := w.now - int64(w.plan.Timeout)
	w.noteRecovery(c)
	if c.timedOut == 0 {
		c.timedOut, c.usedThen = c.waitsSince(), c.used
	}
	if c.shut != 0 && !c.busy {
		w.loseConn(i, c, loadresult.Timeout, failure.ErrShut)
		return
	}
	codec, can := c.codec.(proto.Canceler)
	if !can || c.live == 0 || c.doubt != 0 && c.doubt <= late {
		phase, err := w.whyLost(c)
		w.loseConn(i, c, phase, err)
		return
	}
	for tag := range c.exchanges {
		phase, err := w.overdue(c, uint32(tag))
		if phase == "" {
			continue
		}
		if !codec.Cancel(uint32(tag)) {
			w.loseConn(i, c, phase, err)
			return
		}
		if c.doubt == 0 {
			c.doubt = w.now
		}
		w.failRequest(c, uint32(tag), phase, err)
		w.releaseTag(c, uint32(tag), w.now)
	}
	w.goOn(i, c)
}

// nextDeadline is when a connection must be dialed or given up; flow.NotYet: never.
func (w *worker) nextDeadline(c *conn) int64 {
	switch c.state {
	case down:
		return c.again
	case connecting:
		at := w.dialing.addresses.WidenAt(c.number, c.Call, flow.NotYet)
		return min(at, c.since+int64(w.plan.Connecting))
	case shaking:
		return c.since + int64(w.plan.Connecting)
	}
	at, most := int64(flow.NotYet), int64(w.plan.Timeout)
	if c.doubt != 0 {
		at = c.doubt + most
	}
	if c.shut != 0 {
		at = min(at, c.shut+most)
	}
	for tag := range c.exchanges {
		if x := &c.exchanges[tag]; x.live {
			at = min(at, x.sent+w.timeoutOf(x.Request), c.stream.LookAt(uint32(tag)))
		}
	}
	if c.busy && c.live == 0 { // answered early: the server may not read the rest of the request
		return min(at, c.first+most)
	}
	return at
}

// oldestInFlight is the request in flight that was sent first; nil if there is none.
func (c *conn) oldestInFlight() (oldest *exchange) {
	for tag := range c.exchanges {
		if x := &c.exchanges[tag]; x.live && (oldest == nil || x.sent < oldest.sent) {
			oldest = x
		}
	}
	return oldest
}
