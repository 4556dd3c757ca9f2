package load

import (
	"dyno/internal/engine/flow"
	"dyno/internal/engine/timers"
)

// A pool is a worker's connections: which have room, when each must be looked at, how they are
// dialed, and since when none is ready.
type pool struct {
	conns   []conn
	idle    flow.FIFO[uint32] // had room when last looked at; the head has waited longest
	timers  timers.Heap
	dialing dialing

	inFlight  int   // requests, on all of them
	up        int   // connections that are ready
	downSince int64 // when the last ready connection went down
	outage    int64 // since when none could be opened; flow.NotYet: there is no outage
	recovered bool  // one completed a request after another had timed out on it
}

// pushIdle appends a connection that has room to the idle list.
func (p *pool) pushIdle(i uint32, c *conn, now int64) {
	c.listed, c.open, c.shut = true, now, 0
	p.idle.PushBack(i)
}

// dropIdle removes the connection at the head of the idle list.
func (p *pool) dropIdle(c *conn) {
	c.listed = false
	p.idle.DropHead()
}

// setTimer has the connection looked at by that instant at the latest.
func (p *pool) setTimer(i uint32, c *conn, at int64) {
	if c.wake == 0 || at < c.wake {
		c.wake = at
		p.timers.Push(at, i)
	}
}

// noteDown notes that a connection that was ready went down.
func (p *pool) noteDown(now int64) {
	if p.up--; p.up == 0 {
		p.downSince = now
	}
}

// goneFor is for how long no connection has been ready, at most since the start of the load.
func (p *pool) goneFor(now, start int64) int64 {
	if p.up > 0 {
		return 0
	}
	return now - max(p.downSince, start)
}

// beginOutage notes that a connection could not be opened. It begins an outage unless there is one.
func (p *pool) beginOutage(now int64) {
	if p.up == 0 && p.outage == flow.NotYet {
		p.outage = now
	}
}

// releaseTag frees the tag of a request in flight.
func (p *pool) releaseTag(c *conn, tag uint32, now int64) {
	c.exchanges[tag].live, c.exchanges[tag].Due = false, now
	c.tags = append(c.tags, tag)
	c.live--
	p.inFlight--
}
