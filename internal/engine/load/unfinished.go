package load

import (
	"dyno/internal/engine/failure"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

// progressOf is how far the answer of an exchange in flight has come; nil: nothing of it has.
func (c *conn) progressOf(tag uint32) *fact.AnswerUnfinished {
	var p proto.Progress
	if codec, can := c.codec.(proto.Progressor); can {
		p = codec.Progress(tag)
	}
	status := c.exchanges[tag].status
	if status == 0 && p.Header == 0 {
		return nil
	}
	return &fact.AnswerUnfinished{Header: p.Header, Status: int(status), Body: p.Body,
		Length: max(p.Length, 0), EndedBy: p.End}
}

// timeoutOfOldest is the timeout of a connection: that of its oldest request.
func (c *conn) timeoutOfOldest() error {
	oldest := c.oldestInFlight()
	for tag := range c.exchanges {
		if oldest == &c.exchanges[tag] {
			return failure.TimeoutOf(c.progressOf(uint32(tag)))
		}
	}
	return failure.ErrTimeout
}

// endConnRequests counts the exchanges of c that are in flight at the end of the run.
func (w *worker) endConnRequests(c *conn) {
	for tag := range c.exchanges {
		x := &c.exchanges[tag]
		if !x.live {
			continue
		}
		p := c.progressOf(uint32(tag))
		x.eventful = c.stream.Lose(uint32(tag), "")
		w.countUnanswered(x, p != nil)
		if p != nil && x.Counted {
			p.Count, p.AtEnd = 1, true
			w.totals.AddCut(p)
		}
	}
}
