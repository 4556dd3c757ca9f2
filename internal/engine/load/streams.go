package load

import (
	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/goodput"
	"dyno/internal/engine/loadresult"
)

// judgeStream ends a stream whose answer is complete. What is wrong with it is its kind and reason;
// without a reason the answer is right, or an error by its status, which is the kind.
func (w *worker) judgeStream(c *conn, tag uint32, right bool) (k failure.Kind, reason error) {
	x := &c.exchanges[tag]
	if c.stream != nil {
		reason = c.stream.End(tag, right && w.isExpected(w.messageOf(x), x.status))
	}
	if reason != nil {
		return failure.OfStream(reason), reason
	}
	return failure.OfStatus(x.status), nil
}

// isStream reports whether an answer of that status is a stream: neither an error nor a redirect.
func (w *worker) isStream(x *exchange) bool {
	right := w.isExpected(w.messageOf(x), x.status) ||
		w.users != nil && w.users.all[x.Request].step.AnyStatus
	return right && x.status/100 != 3
}

// messageOf is the number of an exchange's request in the plan.
func (w *worker) messageOf(x *exchange) int {
	if w.users == nil {
		return int(x.Request)
	}
	return w.users.all[x.Request].step.Message.Request
}

// endStream ends a stream that failed in a phase, or that the run's end cut: "".
func (c *conn) endStream(x *exchange, tag uint32, phase loadresult.Phase) {
	if c.stream == nil {
		return
	}
	x.eventful = c.stream.HasEvents(tag)
	switch phase {
	case "", loadresult.Timeout:
		c.stream.Cut(tag)
	case loadresult.Stream:
		c.stream.Stall(tag)
	}
}

// silentUntil is when an exchange must be looked at because its stream may be silent for too long.
func (c *conn) silentUntil(tag uint32, now int64) int64 {
	if c.stream == nil {
		return flow.NotYet
	}
	return c.stream.LookAt(tag, now)
}

// overdue is why an exchange is given up now: the phase and the error; "": it is not.
func (w *worker) overdue(c *conn, tag uint32) (phase loadresult.Phase, err error) {
	x := &c.exchanges[tag]
	switch {
	case !x.live:
	case x.sent+w.timeoutOf(x.Request) <= w.now:
		return loadresult.Timeout, failure.TimeoutOf(c.progressOf(tag))
	case c.stream != nil && c.stream.IsSilent(tag):
		return loadresult.Stream, failure.ErrStalled
	}
	return "", nil
}

// whyLost is why a connection is given up: because of its oldest request.
func (w *worker) whyLost(c *conn) (phase loadresult.Phase, err error) {
	if c.stream != nil && len(c.exchanges) == 1 {
		if phase, err = w.overdue(c, 0); phase != "" {
			return phase, err
		}
	}
	return loadresult.Timeout, c.timeoutOfOldest()
}

// isGood reports whether an answer that is complete now kept all limits of the plan's goodput.
func (w *worker) isGood(c *conn, tag uint32) bool {
	if w.limits == nil {
		return false
	}
	t := goodput.Times{goodput.Latency: w.now - c.exchanges[tag].Due}
	if c.stream != nil {
		c.stream.AddTimes(tag, &t)
	}
	return w.limits.Met(&t)
}

// countGood counts a good answer that ended at an instant, to a request due in the window or not.
func (w *worker) countGood(counted bool, at int64) {
	if counted {
		w.counters.Good++
	}
	if w.IsMeasured(at) {
		w.counters.GoodEnded++
	}
}
