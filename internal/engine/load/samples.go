package load

import (
	"time"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/reqlog"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// This file keeps samples of errors: what was sent, and what the server said. A worker keeps them
// in memory that it allocates when such an error happens, and gives them away with its totals. It
// writes no file, because it must not wait. Package sampling knows which are kept.

// logRequest adds a request that ended at an instant to the log.
func (w *worker) logRequest(x *exchange, body, at int64, failed loadresult.Phase) {
	w.samples.Log.Add(reqlog.Line{Due: x.Due - w.From, Sent: x.sent - w.From, Ended: at - w.From,
		Bytes: body, Failed: string(failed), Request: int32(w.numberOf(x)), Thread: int32(w.id),
		Status: x.status})
}

// A place is where an exchange took place.
type place struct {
	conn  *conn
	life  uint32
	addr  *ring.Addr
	whole *scenario.Response // all of the response; nil: not kept
	seen  *loadresult.Seen   // its events; nil: likewise
}

func (w *worker) placeOf(c *conn, tag uint32) place {
	p := place{conn: c, life: c.Life, addr: &w.addrs[c.Addr], seen: c.stream.Seen(tag)}
	if c.responses.Whole != nil {
		p.whole = &c.responses.Whole.Of[tag]
	}
	return p
}

// takeWhole takes the response from its connection, which may have the next one before this one is
// needed.
func (p *place) takeWhole() {
	if p.whole != nil {
		kept := *p.whole
		*p.whole = scenario.Response{}
		p.whole = &kept
	}
}

// sampleAnswer keeps a sample of an answer that is an error by its status, in a load without a
// scenario.
func (w *worker) sampleAnswer(c *conn, tag uint32, body int64, k failure.Kind) {
	if w.samples.Wants(k) {
		x, p := &c.exchanges[tag], w.placeOf(c, tag)
		s := w.addSample(k, k.AnswerDetail(x.status), x, w.now, p)
		s.SetRequest(w.plan, proto.Message{Request: int(x.Request)})
		s.SetResponse(p.whole, x.status, body)
	}
}

// sampleStep keeps a sample of a step whose response is an error: by its status, or by a check.
func (w *worker) sampleStep(x *exchange, r *scenario.Response, at int64, p place, k failure.Kind) {
	if !w.samples.Wants(k) {
		return
	}
	s, response := w.addSample(k, k.AnswerDetail(x.status), x, at, p), r
	if w.samples.Whole {
		s.SetRequest(w.plan, w.samples.Judged.Message)
		s.RequestBytes = max(s.RequestBytes, w.samples.Judged.BodyBytes)
		response = p.whole
	}
	s.SetResponse(response, x.status, r.BodyBytes)
}

// sampleFailure keeps a sample of a request that failed before its response was complete.
func (w *worker) sampleFailure(c *conn, tag uint32, phase loadresult.Phase, err error) {
	if !w.samples.Whole && w.samples.Show == 0 {
		return
	}
	k := failure.Of(phase, err)
	x, p := &c.exchanges[tag], w.placeOf(c, tag)
	m := proto.Message{Request: int(x.Request)}
	if w.users != nil {
		m = w.users.all[x.Request].step.Message
	}
	if w.samples.Show > 0 {
		w.showRequest(x, m, w.now, p, -1, failure.Describe(err))
	}
	if w.samples.Whole && w.samples.Wants(k) {
		s := w.addSample(k, failure.Describe(err), x, w.now, p)
		s.SetRequest(w.plan, m)
		if x.status != cutShort {
			s.SetResponse(p.whole, x.status, -1)
		}
	}
}

// showRequest keeps a sample of one of the first Plan.Show; why is why body is -1, and not whole.
func (w *worker) showRequest(x *exchange, m proto.Message, at int64, p place, body int64,
	why string) {
	w.samples.Show--
	s := w.addSample(failure.Kind{Phase: loadresult.Shown}, why, x, at, p)
	if s.SetRequest(w.plan, m); p.seen != nil {
		s.Seen = *p.seen
	}
	if x.status != cutShort {
		s.SetResponse(p.whole, x.status, body)
	}
}

// showHop keeps a sample of an answer that is followed, of one of the first Plan.Show.
func (w *worker) showHop(x *exchange, at int64, p place, body int64) {
	if w.samples.Show > 0 && x.Counted && len(w.samples.Kept) < loadplan.ShowMost {
		s := w.addSample(failure.Kind{Phase: loadresult.Shown, Name: loadresult.Hop}, "", x, at, p)
		s.SetRequest(w.plan, w.samples.Judged.Message)
		s.SetResponse(p.whole, x.status, body)
	}
}

// addSample adds a sample of an exchange that was over at an instant.
func (w *worker) addSample(k failure.Kind, detail string, x *exchange, at int64,
	p place) *loadresult.Sample {
	s := loadresult.Sample{Phase: k.Phase, Kind: k.Name, Address: p.addr.String(),
		Detail: detail, Due: time.Duration(x.Due - w.From), Sent: time.Duration(x.sent - w.From),
		Ended: time.Duration(at - w.From), Thread: w.id,
		Connection: int(p.conn.number), Life: p.life}
	if p.conn.Life == p.life {
		s.Protocol = p.conn.protocol
	}
	if w.users != nil {
		u := &w.users.all[x.Request]
		s.Step, s.User, s.Iteration = w.plan.StepName(u.step.Route), u.Number, u.Iteration
	}
	return w.samples.Add(k, s)
}

// wholeSinkOf is the sink of a connection whose responses are kept whole.
func (w *worker) wholeSinkOf(c *conn) proto.Sink {
	if c.responses.Whole == nil {
		most := w.plan.SampledShare()
		whole := &scenario.WholeResponses{Header: most, Bytes: min(most, loadplan.SampledBody)}
		if w.users != nil {
			whole.Part, whole.Want = &c.responses, w.users.want
		}
		if !w.plan.SaveErrors {
			whole.Show = &w.samples.Show
		}
		c.responses.Whole = whole
	}
	return c.responses.Whole
}
