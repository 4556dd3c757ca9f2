package load

import (
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadresult"
)

// A request that is given up has taken longer than its timeout, and one without an answer at the
// end of the run longer than the drain. They are latency that is known to be more (see
// loadresult.Wait). A request that fails in another way is an error alone: how long its answer
// would have taken is not known. Nor is a connection that cannot be opened a request: what waits
// for one is due all the while, so its latency has that wait.
//
// In a closed workload a user who waits asks nothing. If one of a thousand requests is lost, that
// is one of a thousand. If a server starves three of eight users, each of them still asks but once
// in a timeout, while the others ask thousands of times. So the time that slots spend in a silence
// counts too: in two requests or more, one after the other, that were given up; or in one that was
// not answered when the run ended, if it waited as long as for available.go; or through the whole
// window in one of the warm-up, which nothing else counts.

// A silence is the requests of a connection that were given up since the last one was completed.
type silence struct {
	requests uint32
	begun    bool  // the answer to one had begun
	since    int64 // when the wait of the first one began
	until    int64 // when the last one was given up
	shortest int64 // of their timeouts
}

// waitOf is since when c waits for the answer of x, which has begun or not.
func (c *conn) waitOf(x *exchange, begun bool) int64 {
	if begun {
		return x.sent
	}
	return max(x.sent, c.first)
}

// noteTimeout counts a request that is given up now, whose answer had begun or not. It may have
// waited for less than its timeout, if its connection is given up because of another one.
func (w *worker) noteTimeout(c *conn, x *exchange, begun bool) {
	after := w.timeoutOf(x.Request)
	if w.now-x.sent < after {
		return
	}
	if x.Counted {
		w.countNoAnswer(loadresult.Wait{After: after}, begun, x)
	}
	if w.at != nil {
		if w.IsClosed() {
			w.users.silent.GiveUp(x.Request, &w.Window, x.sent, w.now, after, begun)
		}
		return
	}
	s := &c.silence
	if s.requests == 0 {
		s.since, s.shortest = c.waitOf(x, begun), after
	}
	s.requests++
	s.until, s.shortest, s.begun = w.now, min(s.shortest, after), s.begun || begun
}

// countUnanswered counts a request that has not ended at the end of the run, whose answer had begun
// or not.
func (w *worker) countUnanswered(x *exchange, begun bool) {
	if x.Counted {
		w.totals.Unfinished++
		w.countNoAnswer(loadresult.Wait{}, begun, x)
	} else if x.Due < w.From {
		w.totals.WarmupLost++
	}
}

// countSilence counts the time that the slots of c spent in a silence, which is over.
func (w *worker) countSilence(c *conn) {
	if s := c.silence; s.requests > 1 {
		w.addSilence(c, s.since, s.until, s.shortest, s.begun)
	}
	c.silence = silence{}
}

// addSilence adds the part of the time from since to until that lies in the window, for each slot.
func (w *worker) addSilence(c *conn, since, until, after int64, begun bool) {
	if !w.IsClosed() || w.Start == flow.NotYet {
		return
	}
	_, length := w.Overlap(since, until)
	wait := loadresult.Wait{After: after, Slots: max(length, 0) * int64(len(c.exchanges))}
	if begun {
		wait.SlotsBegun = wait.Slots
	}
	if wait.Slots > 0 {
		w.totals.Unanswered.Add(wait)
	}
}

// countSilences counts the silences in which the run ended, at the end of the window or later. A
// first wait was one if it was longer than most, and another if it was longer than again.
func (w *worker) countSilences(end, most, again int64) {
	for i := range w.conns {
		c := &w.conns[i]
		if w.countHeld(c, end, most) > 0 {
			continue
		}
		x, s := c.oldestInFlight(), &c.silence
		begun, since := x != nil && x.status != 0, s.until
		if x != nil {
			since = max(since, c.waitOf(x, begun))
		}
		switch waits := w.Left != 0 && (x != nil || c.doubt != 0 || c.state != ready); {
		case s.requests > 0:
			if waits && w.now-since > again { // the next one waits too
				s.requests, s.until, s.begun = s.requests+1, w.now, s.begun || begun
			}
			w.countSilence(c)
		case x != nil && waits && w.now-since > most:
			w.addSilence(c, since, w.now, 0, begun)
		}
	}
}

// countHeld counts the slots of a closed workload's connection that waited for the answer to a
// request of the warm-up for the whole window, which ends at end. That wait is time without a
// server if it was longer than most, as that of a request that was never answered, which countWaits
// counts.
func (w *worker) countHeld(c *conn, end, most int64) (held int64) {
	if !w.IsClosed() || w.From == flow.NotYet || end <= w.From {
		return 0
	}
	for _, x := range c.exchanges {
		answered := !x.live && x.Due >= end // when the slot became free
		if x.sent == 0 || x.Counted || x.sent >= w.From || !x.live && !answered {
			continue
		}
		held++
		wait := loadresult.Wait{After: end - w.From, Slots: end - w.From}
		if x.status != 0 { // it is not known when its answer began
			wait.SlotsBegun = wait.Slots
		}
		w.totals.Unanswered.Add(wait)
		if answered && !w.deep && x.Due-max(x.sent, w.From) > most {
			w.totals.AddUnavailable(w.Overlap(x.sent, min(x.Due, end)))
		}
	}
	w.totals.Held += held
	return held
}
