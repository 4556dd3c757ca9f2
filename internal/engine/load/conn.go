package load

import (
	"errors"
	"fmt"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// A conn is one connection: a socket, its codec, and the exchanges under way.
// When the socket is lost the connection goes on with another: its next life.
type conn struct {
	codec proto.Codec
	fd    int
	life  uint32
	addr  int
	spoke string // the protocol; "" until TLS has settled it
	state lifeState

	listed bool   // in worker.idle
	busy   bool   // the ring is sending
	quiet  bool   // no byte of the response that comes next has come
	used   uint32 // exchanges completed in this life

	since int64 // dialed
	up    int64 // connected
	open  int64 // when it last got room
	first int64 // when the response that comes next began, or the last one ended
	wake  int64 // its entry in timers that counts; 0: none
	doubt int64 // since when, after an exchange was canceled, nothing came; 0: something did
	shut  int64 // since when it has no exchange and no room for one; 0: it has

	in      []byte // received and not yet taken by the codec
	out     []byte // to send
	sending []byte // what the ring is sending

	slots
	attempts
}

// A slots is the requests that a connection has in flight and those that it could have.
type slots struct {
	exchanges []exchange // by tag
	tags      []uint32   // those not in use
	live      int        // in flight
	waiting   int        // slots whose next request has been due since an earlier life
}

// An attempts is what has become of a connection's lives so far.
type attempts struct {
	served  bool  // a request was completed
	opened  bool  // one life at least was ready
	settled bool  // the first attempts are over
	barren  uint8 // lives without a completed request, since the last that had one
	tries   uint8 // addresses tried while settling
	again   int64 // down: when to dial
	lost    int64 // since when it is not open, after it was or was tried; 0: it is
}

// A lifeState is how far a connection has come.
type lifeState uint8

const (
	down lifeState = iota
	connecting
	shaking // connected; the protocol has no room yet
	ready
)

// An exchange is a request under way, and the instants that will measure it. When it is
// over it stands for its slot, and due is when that became free.
type exchange struct {
	arrival
	sent   int64
	status uint16 // 0 until the response has begun
	live   bool
	waits  bool // the slot is free since an earlier life of the connection
}

func user(i, life uint32) uint64 { return uint64(life)<<32 | uint64(i) }

// dial begins a new life.
func (w *worker) dial(i uint32) {
	c := &w.conns[i]
	c.life++ // completions of the life before are no longer this connection's
	c.codec, c.busy, c.quiet = w.newCodec(), false, true
	c.in, c.out, c.used, c.first, c.doubt, c.shut = c.in[:0], c.out[:0], 0, 0, 0, 0
	if c.spoke = ""; !w.plan.Target.TLS {
		c.spoke = w.speech.name(0)
	}
	c.since, c.state = w.now, connecting
	c.addr = w.dialing.address()
	fd, err := w.ring.Connect(c.addr, user(i, c.life))
	c.fd = fd
	if err != nil {
		w.fall(c)
		w.dialFailed(i, c, Connect, err)
		return
	}
	w.arm(i, c, c.since+int64(w.plan.Connecting))
}

// complete is what a completion means for its connection.
func (w *worker) complete(done ring.Completion) {
	i := uint32(done.User)
	c := &w.conns[i]
	if c.life != uint32(done.User>>32) || c.state == down {
		return
	}
	w.now = w.ring.Now()
	switch done.Op {
	case ring.Connected:
		w.connected(i, c, done.Err)
	case ring.Sent:
		c.busy = false
		if done.Err != nil {
			w.lose(i, c, Write, done.Err)
		} else {
			w.flush(i, c)
		}
	case ring.Received:
		w.receive(i, c, done.Data, done.Err)
	}
	w.offer(i, c)
	w.issue(1)
}

// unsentMost is how many bytes may wait for the ring to have sent others before a
// connection takes no more requests: a server can answer what it has not read.
const unsentMost = 1 << 20

// offer lists a connection that has room among the idle. One that has none although
// nothing is under way is waited for as long as for an exchange.
func (w *worker) offer(i uint32, c *conn) {
	if c.state != ready || c.listed {
		return
	}
	if c.codec.Room() == 0 || c.busy && len(c.out) > unsentMost {
		if c.live == 0 && c.shut == 0 {
			c.shut = w.now
			w.arm(i, c, w.now+int64(w.plan.Timeout))
		}
		return
	}
	w.list(i, c, w.now)
}

func (w *worker) connected(i uint32, c *conn, err error) {
	if err != nil {
		w.abandon(i, c, err)
		return
	}
	c.state, c.up = shaking, w.now
	if w.speech.http3 != nil { // one handshake both connects and is TLS's
		c.up = c.since
	} else if !w.warming(w.now) {
		w.tally.Connect.Record(w.now - c.since)
	}
	w.greet(i, c)
	w.flush(i, c)
}

// greet makes a connection ready as soon as its codec takes requests.
func (w *worker) greet(i uint32, c *conn) {
	if c.state != shaking || c.codec.Room() == 0 {
		return
	}
	c.state = ready
	w.up++
	w.found(c)
	w.endOutage()
	w.tally.Opened++
	w.tally.Protocols[c.spoke]++
	w.compareRoom(c.codec.Room())
	if c.opened {
		w.tally.Reconnects++
	}
	c.opened = true
	w.dialing.settle(w, c, true)
}

// compareRoom notes how many exchanges a connection takes at once, and says so
// if the server allows fewer streams than were asked for.
func (w *worker) compareRoom(room int) {
	w.tally.Room = max(w.tally.Room, room)
	if asked := w.plan.Streams; room < asked {
		w.notices[fmt.Sprintf("the server allows %d streams at once on a connection, and not %d",
			room, asked)] = true
	}
}

// endOutage adds up the time of the window in which no connection could be had.
func (w *worker) endOutage() {
	w.countOutage(w.outage, w.now, &w.window)
	w.outage = notYet
}

// flush hands what there is to send to the ring, unless it is still at the last.
func (w *worker) flush(i uint32, c *conn) {
	for !c.busy && c.state >= shaking {
		if len(c.out) == 0 {
			if c.out = c.codec.Flush(c.out); len(c.out) == 0 {
				return
			}
		}
		if w.counting(w.now) {
			w.count.Written += int64(len(c.out))
		}
		if w.ring.Send(c.fd, c.out) {
			c.out = c.out[:0]
			continue
		}
		c.busy = true
		c.sending, c.out = c.out, c.sending[:0]
	}
}

// fall ends a life. What was under way must have been dealt with.
func (w *worker) fall(c *conn) {
	if c.codec != nil {
		c.codec.Decode(nil, true) // lets go of what it may hold
		w.letGo(c)
	}
	c.unopened(w.now)
	if c.state == ready {
		if w.closed() {
			c.vacate()
		}
		w.countDown(w.now)
	}
	c.state, c.busy = down, false
	if c.used > 0 {
		c.barren = 0
	} else if c.barren < 30 {
		c.barren++
	}
}

// A connection that comes to nothing is dialed again after a pause that
// doubles from redialFirst to redialMost, so that a server that refuses is not
// dialed as fast as the loop turns. One that was of use is dialed at once.
const (
	redialFree  = 1 // lives without use before there is a pause
	redialFirst = int64(1e6)
	redialMost  = int64(500e6)
)

// redial begins the next life, now or after a pause.
func (w *worker) redial(i uint32, c *conn) {
	w.endWith(w.now, &w.window) // with every connection lost nobody else would
	if w.interrupted || !w.pending() {
		return
	}
	if c.barren == 0 {
		w.dial(i)
		return
	}
	c.again = w.now
	if n := int(c.barren) - redialFree; n > 0 {
		c.again += min(redialFirst<<min(n-1, 20), redialMost)
	}
	w.arm(i, c, c.again) // not from here: a dial that fails at once would recur
}

// abandon ends a life that failed before it could carry an exchange.
func (w *worker) abandon(i uint32, c *conn, err error) {
	phase := Connect
	var f *proto.Fault
	switch {
	case c.state == shaking && c.spoke == "":
		phase = TLSPhase
	case errors.As(err, &f): // HTTP/2 begins with the server's word
		phase = Protocol
	}
	w.ring.Close(c.fd, false)
	w.fall(c)
	w.dialFailed(i, c, phase, err)
}

// lose ends a life that failed. An exchange of which no byte was answered, on
// a connection that had served others, goes to the next life: the peer closed
// while the request was on its way. It does so once, unless the peer had said
// with an earlier answer that it would close. The others have failed: in a
// pipeline those behind the oldest for what happened to it.
func (w *worker) lose(i uint32, c *conn, phase Phase, err error) {
	if c.state == shaking {
		w.abandon(i, c, err)
		return
	}
	untouched := w.unanswered(c, err)
	oldest := c.oldest()
	for tag := range c.exchanges {
		x := &c.exchanges[tag]
		if !x.live {
			continue
		}
		first, begun := x == oldest, x.status != 0
		unanswered := (untouched || !first) && !begun
		switch {
		case first && phase == Timeout:
			w.fail(c, x, Timeout, err)
		case unanswered && c.used > 0 && (x.past < wasLost || err == errClosed) && phase != Protocol:
			w.again(x, x.past|wasLost)
		case first || untouched || begun && phase != Timeout:
			w.fail(c, x, phase, err)
		default:
			w.fail(c, x, Read, errBehind)
		}
		w.retire(c, uint32(tag), w.now)
	}
	if oldest == nil && phase != Read {
		w.failed(c, phase, err)
	}
	w.ring.Close(c.fd, false)
	w.fall(c)
	w.redial(i, c)
}

// unanswered lets the codec go and reports whether no byte of the oldest
// exchange's response has come, or, where responses come side by side, of those
// that the codec does not name before. err may be what it said itself of that.
func (w *worker) unanswered(c *conn, err error) bool {
	in, over := c.in, false
	for !over {
		n, ev := c.codec.Decode(in, true)
		in = in[n:]
		switch ev.Kind {
		case proto.Refused:
			w.refused(c, ev.Tag, ev.Err)
		case proto.Failed:
			c.exchanges[ev.Tag].status = cutShort
		case proto.Broken:
			err, over = ev.Err, true
		case proto.More, proto.Closing:
			over = true
		}
	}
	w.letGo(c)
	var f *proto.Fault
	return errors.As(err, &f) && f.Kind == proto.FaultClosed
}

// cutShort stands for the status of a response that was lost before its head was
// whole.
const cutShort = 1

// errBehind is the failure of an exchange that was pipelined behind another.
var errBehind = errors.New("the connection was lost at an earlier exchange")

// errClosed is why exchanges are lost with a life that ends in good order: they
// were pipelined behind its last.
var errClosed error = &proto.Fault{Kind: proto.FaultClosed,
	Detail: "the server closed the connection after an earlier exchange"}

// errUnused is why a life comes to nothing that the peer ends in good order at once.
var errUnused error = &proto.Fault{Kind: proto.FaultClosed,
	Detail: "the server ended the connection before it took a request"}

// close ends a life in good order: the peer or the protocol is through.
func (w *worker) close(i uint32, c *conn) {
	if c.state == shaking {
		w.abandon(i, c, c.dismissed(errUnused))
		return
	}
	if c.live > 0 || c.used == 0 {
		w.lose(i, c, Read, errClosed)
		return
	}
	w.ring.Close(c.fd, true)
	w.fall(c)
	w.redial(i, c)
}

// expire looks at a connection whose time has come.
func (w *worker) expire(t timer) {
	i := t.conn
	c := &w.conns[i]
	if c.wake != t.at {
		return
	}
	c.wake = 0
	switch at := w.deadline(c); {
	case at == notYet:
	case at > w.now:
		w.arm(i, c, at)
	case c.state == down:
		if w.endWith(w.now, &w.window); !w.interrupted && w.pending() {
			w.dial(i)
		}
	case c.state == ready:
		w.timeOut(i, c)
	case c.state == shaking && c.spoke != "":
		w.abandon(i, c, errUnready)
	default:
		w.abandon(i, c, errTimeout)
	}
}

// timeOut gives up what has taken too long: an exchange, where the protocol can do so
// alone and the server has shown since the last one that it is there; else the life.
func (w *worker) timeOut(i uint32, c *conn) {
	late := w.now - int64(w.plan.Timeout)
	if c.shut != 0 && !c.busy {
		w.lose(i, c, Timeout, errShut)
		return
	}
	codec, can := c.codec.(proto.Canceler)
	if !can || c.live == 0 || c.doubt != 0 && c.doubt <= late {
		w.lose(i, c, Timeout, errTimeout)
		return
	}
	for tag := range c.exchanges {
		x := &c.exchanges[tag]
		if !x.live || x.sent > late {
			continue
		}
		if !codec.Cancel(uint32(tag)) {
			w.lose(i, c, Timeout, errTimeout)
			return
		}
		if c.doubt == 0 {
			c.doubt = w.now
		}
		w.fail(c, x, Timeout, errTimeout)
		w.retire(c, uint32(tag), w.now)
	}
	w.flush(i, c)
	w.offer(i, c)
	if at := w.deadline(c); at != notYet {
		w.arm(i, c, at)
	}
}

var errTimeout = errors.New("no answer in time")

// errUnready is why one is that was connected and on which nothing could ever be done.
var errUnready = fmt.Errorf("%w: connected, but the server has not allowed a request "+
	"(HTTP/2 begins with its SETTINGS)", errTimeout)

// errShut is why a connection is given up on which nothing could be done: its server
// allows no streams, or does not say that it knows of those that were reset.
var errShut = fmt.Errorf("%w: the server has taken no more requests on the connection",
	errTimeout)

// deadline is when a connection must be looked at: dialed, or given up.
func (w *worker) deadline(c *conn) int64 {
	switch c.state {
	case down:
		return c.again
	case connecting, shaking:
		return c.since + int64(w.plan.Connecting)
	}
	at, most := int64(notYet), int64(w.plan.Timeout)
	if c.doubt != 0 {
		at = c.doubt + most
	}
	if c.shut != 0 {
		at = min(at, c.shut+most)
	}
	if x := c.oldest(); x != nil {
		return min(at, x.sent+most)
	}
	if c.busy { // answered early: the rest of the request must go, and the server may not read it
		return min(at, c.first+most)
	}
	return at
}

// oldest is the exchange that was sent first of those under way.
func (c *conn) oldest() (oldest *exchange) {
	for tag := range c.exchanges {
		if x := &c.exchanges[tag]; x.live && (oldest == nil || x.sent < oldest.sent) {
			oldest = x
		}
	}
	return oldest
}
