package h3

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

// An exchange is a request under way, and the goroutine that reads its response. Both serve one
// request after another, of any connection of the ring.
type exchange struct {
	start chan struct{} // of 1: there is a request; closed when the ring is freed

	// What the worker sets before each start.
	conn    *conn
	message *message
	own     message // which that is if it is none of the ring's
	text    []byte  // of own

	givenUp atomic.Bool
	mu      sync.Mutex   // of what follows
	stream  *quic.Stream // nil until it is open, and out of use

	sending sync.WaitGroup // the goroutine that sends a request that is not short
	sent    atomic.Bool    // all of that
	held    int            // bytes of an unfinished header, in conn.held

	response
	few [fewBytes]byte
}

// fewBytes are read without one of the ring's buffers: most responses are no longer.
const fewBytes = 1536

// heldMost is how many bytes of unfinished headers a connection may keep, beyond keptMost of each:
// as many as 16 headers have at most.
const heldMost = 16 * fields.MaxHead

// errHeld is why a connection is closed that would keep more.
var errHeld = &violation{codeExcessive,
	fmt.Sprintf("its unfinished headers take more than %d MiB", heldMost>>20)}

// beginExchange sends a request, if the server allows a stream at once and it is short, and has its
// response read. The worker does it: then the requests that it sends in a turn leave together.
func (c *conn) beginExchange(x *exchange) {
	if !c.gone.Load() {
		stream, err := c.quic.OpenStream()
		var full *quic.StreamLimitReachedError
		switch {
		case err == nil:
			x.startOn(stream)
			return
		case errors.As(err, &full):
			c.awaitStream(x)
			return
		}
	}
	x.appendRefused(true)
	x.finishExchange()
}

// takeExchange takes an exchange out of use, or a new one, for what the codec asks. It is nil if
// the connection has ended.
func (c *conn) takeExchange(order *record) *exchange {
	r, id := c.ring, order.id
	r.mu.Lock()
	if c.over {
		r.mu.Unlock()
		return nil
	}
	c.running, c.taken = c.running+1, id>>32
	var x *exchange
	if n := len(r.spare) - 1; n >= 0 {
		x, r.spare[n] = r.spare[n], nil
		r.spare = r.spare[:n]
	}
	r.mu.Unlock()
	if x == nil {
		x = &exchange{start: make(chan struct{}, 1)}
		x.want = &r.want
		r.addExchange(x)
	}
	x.conn = c
	if order.what == askOwn {
		x.setOwn(order, r.messages)
	} else {
		x.message = &r.messages[order.n]
	}
	x.givenUp.Store(false)
	x.beginResponse(id, x.message.bare)
	tag := int(uint32(id))
	for len(c.begun) <= tag {
		c.begun = append(c.begun, nil)
	}
	c.begun[tag] = x
	return x
}

// cancelRequest resets the stream of an exchange, or sees to it that it is never opened.
func (c *conn) cancelRequest(id uint64) {
	tag := int(uint32(id))
	if tag >= len(c.begun) || c.begun[tag] == nil {
		return
	}
	x := c.begun[tag]
	c.begun[tag] = nil
	if x.conn != c || x.id != id { // it has ended, and serves another
		return
	}
	x.givenUp.Store(true)
	if c.stopAwaiting(x) {
		x.finishExchange()
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream != nil {
		resetStream(x.stream, codeCanceled)
	}
}

// resetStream resets a stream in both directions.
func resetStream(s *quic.Stream, why code) {
	s.CancelRead(quic.StreamErrorCode(why))
	s.CancelWrite(quic.StreamErrorCode(why))
}

// serveExchanges reads the response of each exchange that is begun.
func (x *exchange) serveExchanges() {
	for range x.start {
		x.runExchange()
		x.finishExchange()
	}
}

// runExchange is the life of an exchange once it has a stream.
func (x *exchange) runExchange() {
	err := x.readResponse(x.stream)
	if err != nil {
		x.dropStream(err)
	}
	if x.message.short == nil {
		x.endSending()
	}
	var broken *violation
	switch {
	case err == nil:
		x.records = record{what: done, id: x.id, n: uint64(x.Got)}.appendTo(x.records)
	case x.givenUp.Load():
	case errors.As(err, &broken):
		x.conn.closeFor(broken)
	case isRejected(err) || x.conn.leavesOut(x.stream):
		x.appendRefused(x.conn.isLeaving())
	case isConnectionEnd(err) || x.conn.quic.Context().Err() != nil: // which is reported by itself
	default:
		x.records = record{what: failed, id: x.id, fault: *streamFault(err)}.appendTo(x.records)
	}
}

// appendRefused reports that the request was not processed, and whether no later one will be.
func (x *exchange) appendRefused(leaves bool) {
	if leaves {
		x.records = record{what: leaving, n: everything}.appendTo(x.records)
	}
	x.records = record{what: refused, id: x.id}.appendTo(x.records)
}

// finishExchange reports what is left to report, and has the exchange serve another one, unless the
// ring has been freed.
func (x *exchange) finishExchange() {
	x.mu.Lock()
	x.stream = nil
	x.mu.Unlock()
	r, c := x.conn.ring, x.conn
	if x.held > 0 {
		c.held.Add(-int64(x.held))
		x.held = 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	x.tellRecords()
	x.endResponse()
	x.text = reuse(x.text)
	if c.running--; c.running == 0 {
		c.none.Signal()
	}
	if r.freed {
		close(x.start)
		return
	}
	r.spare = append(r.spare, x)
}

// tellRecords leaves what is to be reported for the worker; ring.mu is held. Of an exchange that
// was given up nothing is told: it would pass for a sign of life of the server.
func (x *exchange) tellRecords() {
	if !x.givenUp.Load() && len(x.records) > 0 {
		x.conn.leaveRecords(x.records)
	}
	x.records = x.records[:0]
}

// startOn sends the request on a stream, and has the response read. That it cannot be sent shows
// there, and the server may have given a response all the same. After the server's GOAWAY none may
// be sent, whatever that leaves out (RFC 9114, 5.2): the request is refused.
func (x *exchange) startOn(stream *quic.Stream) {
	x.mu.Lock()
	x.stream = stream
	x.mu.Unlock()
	leaving := x.conn.gone.Load()
	if leaving {
		x.appendRefused(true)
	}
	if leaving || x.givenUp.Load() {
		resetStream(stream, codeCanceled)
		x.finishExchange()
		return
	}
	stream.SetReceiveFinalSizeCallback(yield)
	if m := x.message; m.short == nil {
		x.sent.Store(false)
		x.sending.Go(func() { x.sent.Store(m.sendLong(stream)) })
	} else if _, err := stream.Write(m.short); err == nil {
		stream.Close()
	}
	x.start <- struct{}{}
}

// yield lets the response be read, and the worker answer it, when quic-go knows its end. Then the
// next request leaves with what acknowledges the response, and not behind it. It saves a third of
// the packets that are sent.
func yield(int64) { runtime.Gosched() }

// sendLong sends a request that is not short, as fast as the server takes it. It is false if the
// server does not take all of it.
func (m *message) sendLong(stream *quic.Stream) bool {
	_, err := stream.Write(m.head)
	if err == nil && len(m.body) > 0 {
		_, err = stream.Write(m.body)
	}
	if err == nil {
		stream.Close()
	}
	return err == nil
}

// endSending ends the sending of a request that is not short. A server may have answered all of it
// without reading it, and then nothing else would.
func (x *exchange) endSending() {
	if !x.sent.Load() {
		x.stream.CancelWrite(quic.StreamErrorCode(codeNoError))
	}
	x.sending.Wait()
}

// readResponse reads the response to its end, and reports what comes of it as it comes.
func (x *exchange) readResponse(stream io.Reader) error {
	b := x.few[:]
	for {
		n, err := stream.Read(b)
		if fault := x.frames.readFrames(b[:n], &x.response); fault != nil {
			return fault
		}
		if !x.holdHeader() {
			return errHeld
		}
		switch {
		case err == io.EOF:
			return x.finishResponse()
		case err != nil:
			return err
		}
		if len(x.records) > 0 {
			x.conn.ring.mu.Lock()
			x.tellRecords()
			x.conn.ring.mu.Unlock()
		}
		if n == len(b) && n == fewBytes { // so there is more
			buffers := &x.conn.ring.buffers
			large := buffers.Get().(*[bodyPiece]byte)
			defer buffers.Put(large)
			b = large[:]
		}
	}
}

// holdHeader counts what is kept of an unfinished header. It is false if that is too much with what
// the connection keeps already.
func (x *exchange) holdHeader() bool {
	now := max(0, len(x.frames.kept)-keptMost)
	if now == x.held {
		return true
	}
	all := x.conn.held.Add(int64(now - x.held))
	x.held = now
	return all <= heldMost
}

// dropStream ends both directions of a stream whose response came to nothing.
func (x *exchange) dropStream(err error) {
	why := codeMessage
	var reset *quic.StreamError
	var fault *proto.Fault
	if errors.As(err, &reset) || errors.As(err, &fault) && fields.IsLimit(fault) {
		why = codeCanceled
	}
	resetStream(x.stream, why)
}

// isRejected reports whether err means that the server did not process the request.
func isRejected(err error) bool {
	var reset *quic.StreamError
	return errors.As(err, &reset) && reset.Remote && code(reset.ErrorCode) == codeRejected
}

// leavingMost is for how long at most a GOAWAY is awaited that may explain a rejection.
const leavingMost = 10 * time.Millisecond

// isLeaving reports whether the server has said that it takes no more requests (GOAWAY), or
// says so in a moment: it does that on another stream than it rejects them.
func (c *conn) isLeaving() bool {
	select {
	case <-c.taking.Done():
	case <-time.After(leavingMost):
	}
	return c.gone.Load()
}

// streamFault is what was wrong with one exchange.
func streamFault(err error) *proto.Fault {
	var reset *quic.StreamError
	var known *proto.Fault
	switch {
	case errors.As(err, &reset) && reset.Remote:
		why := code(reset.ErrorCode)
		return &proto.Fault{Kind: proto.FaultReset + why.suffix(), Err: err,
			Detail: fmt.Sprintf("the server reset the stream (%v)", why), Mend: mends[why]}
	case errors.As(err, &known):
		return known
	}
	return &proto.Fault{Kind: proto.FaultMalformed, Err: err,
		Detail: "malformed response: " + err.Error()}
}
