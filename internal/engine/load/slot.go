package load

import (
	"cmp"
	"slices"
)

// In a closed loop a connection has as many slots as it can have exchanges under way: one, or
// as many as --pipeline or --streams say. A user sits at each, who asks for the next as soon
// as the last has been answered. So a request is due when its slot becomes free. On a
// connection that is kept that is when it is sent. But where the connection has ended, because
// the server closes it, of --reconnect, or of a failure, the user waits for the next one, with
// the pauses between attempts, and that wait is latency. The first request of each slot is due
// when it can be sent, for the load began with connections that were open.
//
// Several slots of a connection become free one by one: those of a pipeline, or of HTTP/2 after
// GOAWAY, each with its own answer, while the connection takes no more. Each waits from then on,
// and on the next connection the one that has waited longest sends first. An exchange that is
// sent again keeps its instant; it goes to whichever connection has room first, as ever.
//
// A slot that still waits for its connection when the window ends has sent nothing, and so no
// latency: at most one request of each slot is in no number but the time without a server.

// markSlotsWaiting notes at the end of a life that the next requests of its slots are due since
// they became free. A slot that this life did not use waits for longer.
func (c *conn) markSlotsWaiting() {
	for tag := range c.exchanges {
		c.exchanges[tag].waits = true
	}
	if c.waiting = len(c.exchanges); c.waiting > 1 { // tags are taken from the end
		slices.SortFunc(c.tags, func(a, b uint32) int {
			return cmp.Compare(c.exchanges[b].due, c.exchanges[a].due)
		})
	}
}

// slotFreeSince is when the next request of a closed loop was due that c sends now.
func (c *conn) slotFreeSince(now int64) int64 {
	if c.waiting > 0 && len(c.tags) > 0 {
		if x := &c.exchanges[c.tags[len(c.tags)-1]]; x.waits {
			return x.due
		}
	}
	return now
}
