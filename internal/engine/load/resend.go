package load

import (
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// methodOf is the method of a request in flight: of the plan, or of the step of a user.
func (u *users) methodOf(request uint32, p *loadplan.Plan) string {
	if u == nil {
		return p.Requests[request].Method
	}
	return p.MethodOf(u.all[request].step.Message)
}

// queueRetry has a request sent again as soon as a connection has room.
func (w *worker) queueRetry(x *exchange, past uint16, why string) {
	a := x.Arrival
	a.Past = past
	w.queue(a)
	if a.Counted {
		w.totals.Retried++
		w.totals.Retries.Count(w.users.methodOf(a.Request, w.plan), why, 1)
	}
}

// resends reports whether a request that was lost with its connection is sent again, and why. It is
// if nothing of it was handed to the ring, or if its method may be sent twice: otherwise the server
// may have carried it out, even if it had announced the close. One retry is enough, unless the
// server announced the close.
func (w *worker) resends(x *exchange, c *conn, announced bool) (why string, again bool) {
	unsent := x.handed == c.handed
	switch {
	case x.Past&flow.WasLost != 0 && !announced, c.used == 0 && !unsent:
		return "", false
	case unsent:
		return loadresult.RetryUnsent, true
	case announced:
		why = loadresult.RetryAnnounced
	default:
		why = loadresult.RetryClosed
	}
	return why, w.plan.Resends(w.users.methodOf(x.Request, w.plan))
}
