package load

import (
	"cmp"
	"slices"
)

// In a closed workload a connection has as many slots as it can have requests in flight: one, or as
// many as --pipeline or --streams say. Each slot is a user who asks for the next answer as soon as
// the last one has arrived. So a request is due when its slot becomes free. On a connection that is
// kept, that is when it is sent. If the connection has ended (the server closed it, --reconnect, a
// failure), the user waits for the next one, pauses between attempts included, and that wait is
// latency. The first request of each slot is due when it can be sent, for the load begins with open
// connections.
//
// Several slots of one connection may become free one by one while it takes no more requests: those
// of a pipeline, or of HTTP/2 after GOAWAY. Each waits from then on. On the next connection the
// slot that has waited longest sends first. A retry keeps its instant and goes to whichever
// connection has room first.
//
// A slot that still waits for a connection at the window's end has sent nothing and has no latency.
// So at most one request per slot is missing; the time without a server counts it.

// markSlotsWaiting notes at the end of a life that the next request of each slot has been due since
// the slot became free. A slot that this life did not use keeps its earlier instant.
func (c *conn) markSlotsWaiting() {
	for tag := range c.exchanges {
		c.exchanges[tag].waits = true
	}
	if c.waiting = int32(len(c.exchanges)); c.waiting > 1 { // tags are used from the end
		slices.SortFunc(c.tags, func(a, b uint32) int {
			return cmp.Compare(c.exchanges[b].Due, c.exchanges[a].Due)
		})
	}
}

// slotFreeSince is when the next request of a closed workload became due that c sends now.
func (c *conn) slotFreeSince(now int64) int64 {
	if c.waiting > 0 && len(c.tags) > 0 {
		if x := &c.exchanges[c.tags[len(c.tags)-1]]; x.waits {
			return x.Due
		}
	}
	return now
}
