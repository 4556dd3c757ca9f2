package load

import (
	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto/tunnel"
)

// A connection is unavailable from the end of its life until it can carry requests again, if an
// attempt in between failed: refused, reset, timed out, or a life without a completed request. The
// pauses between attempts are part of it. If the life ended because a request timed out, the time
// begins when that request was sent, unless it was the connection's first and the next one was
// answered. Connecting that succeeds
// at once is not part of it: that wait is latency (see slot.go). Nor is an idle connection for
// which nothing is due. A connection that was never open is unavailable from the end of its first
// attempt on. Only time in the window counts, while there is something to send.
//
// When the run ends, a connection may still wait: for the first byte of an answer, or to be opened.
// It counts as failed if the wait was over waitMost times as long as the slowest answer of the run,
// or as a timeout, if single requests timed out and later ones of the same connection did not.
//
// Only this time shows that a closed workload's server was gone or silent: it sends nothing then.

// waitMost is how many times longer than the slowest answer a wait at the end of a run may be. An
// answer that is about to come is a little slower than those that came, but not twice as slow.
const waitMost = 2

// noteClosed notes when a life ended, or the first attempt. A life that completed none of its
// requests was an attempt that failed, so the time before it goes on.
func (w *worker) noteClosed(c *conn) {
	w.noteRecovery(c)
	carried := c.used > 0 || c.idled
	if carried {
		w.countUnavailable(c, c.regained)
	}
	if carried || c.lost == 0 {
		c.lost = w.now
	}
	if c.timedOut != 0 && (c.served || c.silence.requests > 1) {
		c.lost = min(c.lost, c.timedOut)
	}
	c.regained, c.idled = 0, false
}

// countUnavailable counts the time from the end of a life until an instant, if an attempt failed.
func (w *worker) countUnavailable(c *conn, until int64) {
	if w.at == nil && c.lost != 0 && c.failedAttempts > 0 && w.Start != flow.NotYet {
		w.totals.AddUnavailable(w.Overlap(c.lost, until))
	}
}

// noteRecovery notes that a request was completed after another one timed out.
func (w *worker) noteRecovery(c *conn) {
	if c.used > c.usedThen {
		w.countSilence(c)
		w.recovered, c.timedOut = w.recovered || c.timedOut != 0, 0
	}
}

// waitsSince is since when a connection has waited for an answer, or to be opened; 0: it does not
// wait.
func (c *conn) waitsSince() int64 {
	switch {
	case c.state == connecting || c.state == shaking:
		return c.lost
	case c.state != ready:
		return c.timedOut // nothing is tried now
	case c.live == 0 && c.doubt == 0:
		return 0
	case c.timedOut != 0 && c.used == c.usedThen:
		return c.timedOut
	}
	if x := c.oldestInFlight(); x != nil && x.status == 0 {
		return max(x.sent, c.first)
	}
	return 0 // nothing is in flight, or its answer has begun
}

// endWaits counts what was still waited for when the run had ended. slowest is how long its slowest
// answer took; 0: there was none, and nothing is known of how long one takes.
func endWaits(workers []*worker, slowest int64) {
	again := waitMost * slowest
	for _, w := range workers {
		for i := range w.conns {
			w.noteRecovery(&w.conns[i])
		}
		if w.recovered || w.users != nil && w.users.silent.Recovered {
			slowest = max(slowest, int64(w.plan.Timeout))
		}
	}
	most := waitMost * slowest
	if slowest == 0 {
		most, again = flow.NotYet, flow.NotYet
	}
	last := int64(0)
	for _, w := range workers {
		last = max(last, w.last)
	}
	for _, w := range workers {
		w.countWaits(most)
		if w.End != flow.NotYet {
			last = w.End
		}
		w.countSilences(last, most, again)
		if w.users != nil {
			w.users.silent.End(&w.Window, w.now, most, again, w.plan.Depth(), w.totals)
		}
		w.endOutage()
	}
}

// countWaits counts waits that were longer than most, and times before them.
func (w *worker) countWaits(most int64) {
	if w.Left == 0 {
		most = flow.NotYet // nothing is waited for
	}
	tried := false
	for i := range w.conns {
		c := &w.conns[i]
		tried = tried || c.state == connecting || c.state == shaking
		if w.Left != 0 || c.state == ready {
			w.endUnavailable(c, most)
		}
	}
	if tried && w.up == 0 && w.outage == flow.NotYet && w.now-w.downSince > most {
		w.outage = w.downSince
	}
}

// endUnavailable counts the time for which a connection was unavailable when the run had ended.
func (w *worker) endUnavailable(c *conn, most int64) {
	since, until := c.waitsSince(), w.now
	waits := since != 0 && w.now-since > most
	if c.state == ready {
		until = c.regained
		if waits {
			w.totals.AddUnavailable(w.Overlap(max(since, c.regained), w.now))
		}
	}
	if waits && c.timedOut != 0 {
		c.lost = min(c.lost, c.timedOut)
	}
	if waits && (c.state != ready || c.used == 0) && c.failedAttempts == 0 {
		c.failedAttempts = 1 // the end of the run ended it
		if c.state == connecting || c.state == shaking {
			w.recordFailure(c, c.attemptPhase(), failure.ErrPending)
		}
	}
	w.countUnavailable(c, until)
}

// attemptPhase is the phase that an attempt is in.
func (c *conn) attemptPhase() loadresult.Phase {
	if c.state == shaking && c.protocol == "" && !tunnel.Is(c.codec) {
		return loadresult.TLSPhase
	}
	return loadresult.Connect
}
