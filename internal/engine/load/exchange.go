package load

import (
	"cmp"
	"errors"
	"io"

	"dyno/internal/engine/proto"
)

// send begins an exchange on connection i, which has room for it.
func (w *worker) send(i uint32, c *conn, a arrival) {
	if len(c.tags) == 0 { // grows to the codec's room, once
		c.tags = append(c.tags, uint32(len(c.exchanges)))
		c.exchanges = append(c.exchanges, exchange{})
	}
	tag := c.tags[len(c.tags)-1]
	c.tags = c.tags[:len(c.tags)-1]
	if c.exchanges[tag].waits {
		c.waiting--
	}
	c.exchanges[tag] = exchange{arrival: a, sent: w.now, live: true}
	c.out = c.codec.Encode(c.out, int(a.request), tag)
	c.live++
	w.inFlight++
	if w.next != AtOnce && a.counted && a.past == 0 {
		w.countLag(w.now, a.due, max(c.open, w.released))
	}
	w.arm(i, c, w.now+int64(w.plan.Timeout))
}

// receive takes what came, after what was left over before it.
func (w *worker) receive(i uint32, c *conn, data []byte, err error) {
	if w.counting(w.now) {
		w.count.Received += int64(len(data))
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
		w.lose(i, c, Read, err)
		return
	}
	for {
		n, ev := c.codec.Decode(data, err == io.EOF)
		data = data[n:]
		switch ev.Kind {
		case proto.More:
			c.in = append(c.in[:0], data...) // overlapping is fine: a copy
			if err == io.EOF {
				w.lose(i, c, Read, err)
			} else {
				w.greet(i, c) // HTTP/2 has room once the server has said how much
				w.flush(i, c)
			}
			return
		case proto.Shaken:
			c.spoke = w.speech.name(ev.Tag)
			w.countHandshake(w.now, w.now-c.up, ev.Resumed, &w.window)
			w.greet(i, c)
		case proto.Head:
			w.head(c, &c.exchanges[ev.Tag], ev.Status)
		case proto.Done:
			w.done(c, ev.Tag)
			c.quiet, c.first = len(data) == 0, w.now
		case proto.Refused:
			w.refused(c, ev.Tag, ev.Err)
		case proto.Failed:
			w.fail(c, &c.exchanges[ev.Tag], phaseOf(ev.Err), ev.Err)
			w.retire(c, ev.Tag, w.now)
			c.quiet, c.first = len(data) == 0, w.now
		case proto.Closing:
			w.close(i, c)
			return
		case proto.Broken:
			c.in = c.in[:0]
			w.flush(i, c) // why, to a peer that takes it at once: for no other is waited
			w.lose(i, c, phaseOf(ev.Err), ev.Err)
			return
		}
	}
}

// phaseOf is the phase of what a codec reports: a connection that ends too early
// breaks no rule.
func phaseOf(err error) Phase {
	var f *proto.Fault
	if errors.As(err, &f) && (f.Kind == proto.FaultClosed || f.Kind == proto.FaultTruncated) {
		return Read
	}
	return Protocol
}

// head notes what a response says of itself.
func (w *worker) head(c *conn, x *exchange, status uint16) {
	x.status = status
	if !x.counted {
		return
	}
	first := c.first
	if w.framed || first < x.sent { // records and frames are not responses
		first = w.now
	}
	w.tally.FirstByte.Record(first - x.sent)
}

// done is when a request was answered completely. A server can give nothing but answers that are
// errors by their status, as fast as it can, so nothing is allocated for those either.
func (w *worker) done(c *conn, tag uint32) {
	x := &c.exchanges[tag]
	c.used++
	c.served = true
	w.rest.note(w.now - x.sent)
	expected := w.plan.Expects(x.status)
	w.countAnswer(x, w.now, &w.window, expected, w.closed())
	if x.counted && !expected {
		w.errors.addStatus(x.status, w.addrs[c.addr])
	}
	w.retire(c, tag, w.now)
}

// fail counts an exchange that came to no good.
func (w *worker) fail(c *conn, x *exchange, phase Phase, err error) {
	if !x.counted {
		w.tally.WarmupLost++
		return
	}
	w.last = w.now
	w.countLoss(x)
	w.failed(c, phase, err)
}

// failed counts a failure, whatever it was that failed.
func (w *worker) failed(c *conn, phase Phase, err error) {
	w.errors.add(phase, w.addrs[c.addr], err)
}

// What an exchange that is sent again can have behind it.
const (
	refusedMost = 100    // times that it was refused
	wasLost     = 1 << 7 // with its connection
)

// again sends an exchange once more, as soon as there is a connection.
func (w *worker) again(x *exchange, past uint8) {
	a := x.arrival
	a.past = past
	w.retries.push(a)
	if a.counted {
		w.tally.Retried++
	}
}

// refused is when the peer says that it did not process an exchange. If it takes
// no more on this connection, and had or has others of it, then that says nothing
// of this one, and can happen to it again and again. err is why, or nil.
func (w *worker) refused(c *conn, tag uint32, err error) {
	x := &c.exchanges[tag]
	times := x.past &^ wasLost
	leaving := c.codec.Room() == 0 && (c.used > 0 || c.live > 1)
	if times == 0 || leaving && times < refusedMost {
		w.again(x, x.past+1)
	} else {
		w.fail(c, x, Protocol, cmp.Or(err, errRefused))
	}
	w.retire(c, tag, w.now)
}

var errRefused = errors.New("refused by the server, again and again")
