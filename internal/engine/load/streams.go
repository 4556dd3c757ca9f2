package load

import (
	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/goodput"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
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

// ignoreUnlessStream has an answer have no events if, by its status, it is an error or a redirect.
func (w *worker) ignoreUnlessStream(c *conn, tag uint32) {
	x := &c.exchanges[tag]
	right := w.isExpected(w.messageOf(x), x.status) ||
		w.users != nil && w.users.all[x.Request].step.AnyStatus
	if !right || x.status/100 == 3 {
		c.stream.Ignore(tag)
	}
}

// messageOf is the number of an exchange's request in the plan.
func (w *worker) messageOf(x *exchange) int {
	if w.users == nil {
		return int(x.Request)
	}
	return w.users.all[x.Request].step.Message.Request
}

// beginStream begins the answer to a request that is sent now. It was sent first when the redirects
// began that led here.
func (w *worker) beginStream(c *conn, tag uint32, a flow.Arrival) {
	sent, plain := w.now, false
	c.exchanges[tag].eventful = false
	if w.users != nil {
		u := &w.users.all[a.Request]
		if plain = u.step.Plain; a.Past&flow.IsHop != 0 {
			sent = u.first
		}
	}
	var route *loadresult.Route
	if w.route != nil {
		route = &w.routes[w.route[w.numberOf(&c.exchanges[tag])]]
	}
	c.stream.Begin(tag, a.Due, sent, a.Counted, plain, route)
}

// leaveStreams completes the answers whose users leave now, and looks after those that may stall or
// be left later. Where the protocol cannot cancel one, its connection is closed, as users close it;
// reports whether it was.
func (w *worker) leaveStreams(i uint32, c *conn) (closed bool) {
	for n := range c.exchanges {
		tag := uint32(n)
		if !c.exchanges[tag].live {
			continue
		}
		body, leaves := c.stream.Leaves(tag)
		if !leaves {
			continue
		}
		codec, can := c.codec.(proto.Canceler)
		can = can && codec.Cancel(tag)
		if w.finishRequest(c, tag, body); !can {
			w.closeConn(i, c)
			return true
		}
	}
	w.goOn(i, c)
	return false
}

// overdue is why an exchange is given up now: the phase and the error; "": it is not.
func (w *worker) overdue(c *conn, tag uint32) (phase loadresult.Phase, err error) {
	x := &c.exchanges[tag]
	switch {
	case !x.live:
	case x.sent+w.timeoutOf(x.Request) <= w.now:
		return loadresult.Timeout, failure.TimeoutOf(c.progressOf(tag))
	case c.stream.IsSilent(tag):
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
// of is the number of the request, or of the step, in the plan.
func (w *worker) countGood(counted bool, of int, at int64) {
	var n metric.GoodCounts
	if counted {
		n.Good = 1
	}
	if w.IsMeasured(at) {
		n.GoodEnded = 1
	}
	if w.counters.AddGood(n); w.route != nil {
		w.routes[w.route[of]].AddGood(n)
	}
}
