package load

import (
	"cmp"
	"errors"
	"io"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/tunnel"
	"dyno/internal/engine/ring"
)

// sendRequest encodes a request on connection i, which has room for it.
func (w *worker) sendRequest(i uint32, c *conn, a flow.Arrival) {
	if len(c.tags) == 0 { // grows once, to the codec's room
		c.tags = append(c.tags, uint32(len(c.exchanges)))
		c.exchanges = append(c.exchanges, exchange{})
	}
	tag := c.tags[len(c.tags)-1]
	c.tags = c.tags[:len(c.tags)-1]
	x := &c.exchanges[tag]
	if x.waits {
		c.waiting--
	}
	// Field by field: a whole exchange would be put together elsewhere and copied, which waits for
	// its last stores.
	x.Due, x.Request, x.Counted, x.Past = a.Due, a.Request, a.Counted, a.Past
	x.sent, x.handed, x.status, x.live, x.waits = w.now, c.handed, 0, true, false
	m := proto.Message{Request: int(a.Request)}
	if w.users != nil {
		m = w.stepMessage(c, tag, a)
	}
	if c.responses.Whole != nil {
		c.responses.Whole.Begin(tag)
	}
	if c.stream != nil {
		w.beginStream(c, tag, a)
	}
	c.out = c.codec.Encode(c.out, m, tag)
	c.live++
	w.inFlight++
	if !w.IsClosed() && a.Counted && a.Past == 0 {
		w.recordLag(a, max(c.open, w.Released))
	}
	w.setTimer(i, c, w.now+w.timeoutOf(a.Request))
}

// recordLag records how late a request of an open workload was sent, which could be sent at an
// instant.
func (w *worker) recordLag(a flow.Arrival, possible int64) {
	if w.users != nil {
		w.countStepLag(a, possible)
		return
	}
	w.pacing.RecordSpan(a.Due, a.Due+w.countLag(w.now, a.Due, possible))
}

// handleReceived decodes what arrived, together with what was left over before it.
func (w *worker) handleReceived(i uint32, c *conn, data []byte, err error) {
	if w.IsMeasured(w.now) {
		w.counters.Received += int64(len(data))
	}
	if c.quiet && len(data) > 0 {
		c.quiet, c.first = false, w.now
	}
	c.doubt = 0
	if len(c.in) > 0 { // rare: a message was split
		c.in = append(c.in, data...)
		data = c.in
	}
	if err != nil && err != io.EOF {
		w.loseConn(i, c, loadresult.Read, err)
		return
	}
	for {
		n, ev := c.codec.Decode(data, err == io.EOF)
		data = data[n:]
		switch ev.Kind {
		case proto.More:
			c.in = append(c.in[:0], data...) // overlapping is fine: a copy
			if c.stream.Stirred() && w.leaveStreams(i, c) {
				return
			}
			if err == io.EOF {
				w.loseConn(i, c, loadresult.Read, err)
			} else {
				w.markReadyIfRoom(i, c) // HTTP/2 has room once the server has said how much
				w.flushOutput(i, c)
			}
			return
		case proto.Shaken, proto.Tunneled:
			w.handleShaken(i, c, ev)
		case proto.Head:
			if w.recordHead(c, &c.exchanges[ev.Tag], ev.Status); c.stream != nil {
				w.ignoreUnlessStream(c, ev.Tag)
			}
		case proto.Done:
			w.finishRequest(c, ev.Tag, ev.Body)
			c.quiet, c.first = len(data) == 0, w.now
		case proto.Interim: // phases.first_byte is that of the final response
			c.quiet, c.first = len(data) == 0, w.now
		case proto.Refused:
			w.handleRefused(c, ev.Tag, ev.Err)
		case proto.Failed:
			w.failRequest(c, ev.Tag, failure.PhaseOf(ev.Err), ev.Err)
			w.releaseTag(c, ev.Tag, w.now)
			c.quiet, c.first = len(data) == 0, w.now
		case proto.Closing:
			w.closeConn(i, c)
			return
		case proto.Broken:
			c.in = c.in[:0]
			w.flushOutput(i, c) // the peer is told why, if it can be sent at once
			w.loseConn(i, c, failure.PhaseOf(ev.Err), ev.Err)
			return
		}
	}
}

// goOn goes on with a connection of which some requests are over.
func (w *worker) goOn(i uint32, c *conn) {
	w.flushOutput(i, c)
	w.listIfRoom(i, c)
	if at := w.nextDeadline(c); at != flow.NotYet {
		w.setTimer(i, c, at)
	}
}

// handleShaken begins what TLS has agreed on, or what a proxy has opened its tunnel for.
func (w *worker) handleShaken(i uint32, c *conn, ev proto.Event) {
	if ev.Kind == proto.Tunneled {
		c.codec = tunnel.Behind(c.codec)
		c.borrower, _ = c.codec.(proto.Borrower)
		c.quiet, c.up = true, w.now
		w.recordConnect(c)
	} else if c.protocol = w.protocols.ChosenName(ev.Tag); w.at == nil {
		w.countHandshake(w.now, w.now-c.up, ev.Resumed, &w.Window)
	}
	w.markReadyIfRoom(i, c)
}

// recordHead records a response's status and when its first byte arrived.
func (w *worker) recordHead(c *conn, x *exchange, status uint16) {
	x.status = status
	if !x.Counted {
		return
	}
	first := c.first
	if w.framed || first < x.sent { // records and frames are not responses
		first = w.now
	}
	w.totals.FirstByte.Record(first - x.sent)
}

// finishRequest counts a request that was answered completely. It allocates nothing for answers
// that are errors by their status either, because a server may give nothing else. body is how many
// bytes the body of the answer had.
func (w *worker) finishRequest(c *conn, tag uint32, body int64) {
	x := &c.exchanges[tag]
	c.used++
	c.served = true
	w.totals.Lingered += w.linger.RecordAnswer(w.now-x.sent, x.Counted)
	if w.users != nil {
		w.finishStep(c, tag, body)
		w.releaseTag(c, tag, w.now)
		return
	}
	w.noteAnswer(x, body, w.now)
	expected := w.isExpected(int(x.Request), x.status)
	k, reason := w.judgeStream(c, tag, expected)
	expected = expected && reason == nil
	if expected && w.isGood(c, tag) {
		w.countGood(x.Counted, int(x.Request), w.now)
	}
	w.countAnswer(x, int(x.Request), w.now, &w.Window, expected, w.IsClosed())
	if x.Counted && !expected {
		w.errors.CountAnswer(k, x.status, w.addrs[c.Addr], reason)
		w.sampleAnswer(c, tag, body, k)
	}
	if w.samples.Show > 0 && x.Counted {
		w.showRequest(x, proto.Message{Request: int(x.Request)}, w.now, w.placeOf(c, tag), body, "")
	}
	w.releaseTag(c, tag, w.now)
}

// noteAnswer counts the body of an answer that was complete at an instant, and logs it.
func (w *worker) noteAnswer(x *exchange, body, at int64) {
	if x.Counted {
		w.counters.Bodies += body
		if w.samples.Log != nil {
			w.logRequest(x, body, at, "")
		}
	}
}

// isExpected reports whether an answer of that status is right for a request.
func (w *worker) isExpected(request int, status uint16) bool {
	if w.own != nil {
		return w.own[request].Expects(w.plan, status)
	}
	return w.plan.Expects(status)
}

// failRequest counts a request that failed.
func (w *worker) failRequest(c *conn, tag uint32, phase loadresult.Phase, err error) {
	x := &c.exchanges[tag]
	w.restoreSent(x)
	x.eventful = c.stream.Lose(tag, phase)
	if phase == loadresult.Timeout {
		var begun *failure.Unfinished
		w.noteTimeout(c, x, x.status != 0 || errors.As(err, &begun))
	}
	if x.Counted {
		w.last = w.now
		w.countLoss(w.numberOf(x))
		err = failure.Placed(w.plan, phase, x.status, err)
		w.errors.CountFailure(phase, w.addrs[c.Addr], err)
		w.sampleFailure(c, tag, phase, err)
		if w.samples.Log != nil {
			w.logRequest(x, -1, w.now, phase)
		}
	} else {
		w.countOtherLoss(x.Due, &w.Window)
	}
	if w.users != nil {
		w.failStep(c, tag, phase)
	}
}

// recordFailure counts a failure of a connection.
func (w *worker) recordFailure(c *conn, phase loadresult.Phase, err error) {
	err = failure.Placed(w.plan, phase, 0, err)
	w.errors.CountFailure(phase, w.addrs[c.Addr], err)
}

const refusedMost = 100 // times that a request may be refused

// handleRefused retries a request that the peer says it did not process. It does so once, or up to
// refusedMost times if the peer takes no more requests on this connection and had others of it:
// then the refusal has nothing to do with this request. A request whose answer has begun was
// processed, whatever the peer says. err is the reason, or nil.
func (w *worker) handleRefused(c *conn, tag uint32, err error) {
	x := &c.exchanges[tag]
	times, begun := x.Past&flow.Refusals, x.status != 0
	leaving := c.codec.Room() == 0 && (c.used > 0 || c.live > 1)
	if !begun && (times == 0 || leaving && times < refusedMost) {
		w.queueRetry(c, x, x.Past+1, loadresult.RetryRefused)
	} else {
		w.failRequest(c, tag, loadresult.Protocol, cmp.Or(err, failure.ErrRefused))
	}
	w.releaseTag(c, tag, w.now)
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
		w.account.ended.CountFailure(loadresult.Protocol, ring.Addr{}, err)
	}
	c.codec, c.borrower = nil, nil
}

// methodOf is the method of a request in flight: of the plan, or of the step of a user.
func (u *users) methodOf(request uint32, p *loadplan.Plan) string {
	if u == nil {
		return p.Requests[request].Method
	}
	return p.MethodOf(u.all[request].step.Message)
}

// queueRetry has a request of a connection sent again as soon as one has room.
func (w *worker) queueRetry(c *conn, x *exchange, past uint16, why string) {
	a := x.Arrival
	a.Past = past
	w.queue(a)
	if a.Counted {
		w.totals.Retried++
		w.totals.Retries.Count(w.retryOf(c, x, why))
	}
}

// retryOf is a request of a connection, as it is counted if it was lost.
func (w *worker) retryOf(c *conn, x *exchange, why string) loadresult.Retry {
	return loadresult.Retry{Method: w.users.methodOf(x.Request, w.plan), Why: why, Count: 1,
		Least: int64(c.used), Most: int64(c.used)}
}

// resends reports whether a request that was lost with its connection is sent again, and why. It is
// if nothing of it was handed to the ring, or if its method may be sent twice: otherwise the server
// may have carried it out, even if it had announced the close. One retry is enough, unless the
// server announced the close.
func (w *worker) resends(x *exchange, c *conn, announced bool) (why string, again bool) {
	unsent := x.handed == c.handed
	switch {
	case x.Past&flow.WasLost != 0 && !announced, c.used == 0 && !unsent:
		return "", false
	case unsent:
		return loadresult.RetryUnsent, true
	case announced:
		why = loadresult.RetryAnnounced
	default:
		why = loadresult.RetryClosed
	}
	return why, w.plan.Resends(w.users.methodOf(x.Request, w.plan))
}
