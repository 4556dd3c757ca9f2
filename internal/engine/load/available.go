package load

// A connection of a load is unavailable from the instant at which its life ended until it can
// carry requests again, if an attempt in between came to nothing: it was refused, reset or timed
// out, or its life ended before it had completed one exchange. The pauses between attempts are
// part of it. Connecting that succeeds at once is not: that wait is latency (see slot.go). Nor is
// a connection that rests because nothing is due. One that was never open counts from the end of
// its first attempt on. Only what lies in the window counts, while there is something to send.

// noteClosed notes that a life has ended, which may never have been open.
func (c *conn) noteClosed(now int64) {
	if c.state == ready || c.lost == 0 {
		c.lost = now
	}
}

// endUnavailable counts the time for which a connection was unavailable, which it no longer is.
func (w *worker) endUnavailable(c *conn) {
	if c.lost != 0 && c.failedAttempts > 0 && w.start != notYet {
		w.totals.addUnavailable(w.overlap(c.lost, w.now))
	}
	c.lost = 0
}

// addUnavailable counts so long a time in which a connection was unavailable, since an instant of
// the window.
func (t *Totals) addUnavailable(since, length int64) {
	if length <= 0 {
		return
	}
	t.Unavailable += length
	if length > t.UnavailableMost {
		t.UnavailableMost, t.UnavailableSince = length, since
	}
}
