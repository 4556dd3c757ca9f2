package load

// A connection is unavailable from the end of its life until it can carry requests again, if an
// attempt in between failed: it was refused, reset or timed out, or that life ended before it had
// completed a request. The pauses between attempts are part of it. Connecting that succeeds at once
// is not: that wait is latency (see slot.go). Nor is an idle connection for which nothing is due. A
// connection that was never open is unavailable from the end of its first attempt on. Only time in
// the window counts, while there is something to send.
//
// In a closed workload only this time shows that a server was gone. The workload sends it nothing
// then, so half a minute would count as one error.

// noteClosed notes when a life ended, or the first attempt.
func (c *conn) noteClosed(now int64) {
	if c.state == ready || c.lost == 0 {
		c.lost = now
	}
}

// endUnavailable counts the time for which a connection was unavailable until now.
func (w *worker) endUnavailable(c *conn) {
	if c.lost != 0 && c.failedAttempts > 0 && w.start != notYet {
		w.totals.AddUnavailable(w.overlap(c.lost, w.now))
	}
	c.lost = 0
}
