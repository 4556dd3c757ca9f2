package h3

import (
	"context"
	"slices"
)

// A line has the exchanges of a connection that wait for the server to allow a stream. One
// goroutine opens streams for all of them, so that what may leave at once does, in few packets.
// ring.mu guards it.
type line struct {
	waiting []*exchange
	opening bool // the goroutine runs
	until   context.Context
	stop    context.CancelFunc // of it, for nothing waits
}

// awaitStream has an exchange wait for a stream.
func (c *conn) awaitStream(x *exchange) {
	r := c.ring
	r.mu.Lock()
	c.waiting = append(c.waiting, x)
	begin := !c.opening
	c.opening = true
	r.mu.Unlock()
	if begin {
		r.all.Go(c.openStreams)
	}
}

// stopAwaiting has an exchange wait no longer. It is false if it did not.
func (c *conn) stopAwaiting(x *exchange) bool {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	i := slices.Index(c.waiting, x)
	if i < 0 {
		return false
	}
	if c.waiting = slices.Delete(c.waiting, i, i+1); len(c.waiting) == 0 && c.stop != nil {
		c.stop()
	}
	return true
}

// nextWaiting takes the exchange that has waited longest; nil if none does.
func (c *conn) nextWaiting() *exchange {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	if len(c.waiting) == 0 {
		return nil
	}
	x := c.waiting[0]
	c.waiting = slices.Delete(c.waiting, 0, 1)
	return x
}

// awaitNext is until when a stream is to be awaited. It is nil if nothing waits: then the next that
// has to begins it anew.
func (c *conn) awaitNext() context.Context {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	switch {
	case len(c.waiting) == 0:
		c.opening = false
		return nil
	case c.until == nil || c.until.Err() != nil:
		c.until, c.stop = context.WithCancel(c.taking)
	}
	return c.until
}

// openStreams opens streams until nothing waits for one. After the server's GOAWAY, and on a
// connection that has ended, it refuses what does.
func (c *conn) openStreams() {
	for until := c.awaitNext(); until != nil; until = c.awaitNext() {
		stream, err := c.quic.OpenStreamSync(until)
		switch {
		case err == nil:
			if x := c.nextWaiting(); x != nil {
				x.startOn(stream)
			} else {
				resetStream(stream, codeCanceled)
			}
		case until.Err() == nil || c.taking.Err() != nil: // otherwise nothing waits
			c.refuseWaiting()
		}
	}
}

// refuseWaiting reports of all that waits that it was not processed.
func (c *conn) refuseWaiting() {
	for x := c.nextWaiting(); x != nil; x = c.nextWaiting() {
		x.appendRefused(true)
		x.finishExchange()
	}
}
