package load

import (
	"context"
	"fmt"

	"dyno/internal/engine/dial"
	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/timers"
	"dyno/internal/engine/transport"
)

// Redirects may lead to other origins (Plan.FollowTo). A worker has an outpost for each: its
// connections there, and the requests that wait for one. Whatever happens to one of them is handled
// as on the server's own connections, by the same code: meanwhile the outpost stands in the place
// of the worker's server and pool (enter, leave). A request that follows a redirect is in flight
// all the while. Connections are opened as requests need them, at most as many as to the server. If
// one cannot be opened, requests fail that have waited for one.

// A server is where connections lead, and what they are made with.
type server struct {
	plan      *loadplan.Plan // its Target is the server
	addrs     []ring.Addr
	protocols *transport.Protocols
	newCodec  func(proto.Sink) proto.Codec
	framed    bool // bytes can arrive that belong to no response
}

// An outpost is a worker's part of an origin that redirects lead to.
type outpost struct {
	server
	pool
	waiting timers.Heap // users, by when their requests time out: they are in flight
	queued  int64       // requests that ever waited
	before  []int64     // queued as the attempt of each connection began
	none    conn        // of requests that fail while they wait
	spare   []uint32    // connections that are down
	opened  int64       // lives that were ready
	hops    int64       // requests of the window sent there by a redirect
}

// resolveOrigins finds the addresses of the origins that redirects may lead to.
func (r *run) resolveOrigins(ctx context.Context) error {
	for i := range r.plan.FollowTo {
		p := r.plan.Towards(i)
		flaw := func(err error) error {
			return loadplan.Flaw{Setting: "FollowTo", Problem: p.Target.URL + ": " + err.Error()}
		}
		s := server{plan: &p}
		var err error
		if s.protocols, err = transport.NewProtocols(&p); err != nil {
			return flaw(err)
		}
		s.framed = s.protocols.Framed(p.Target)
		if s.addrs, _, err = transport.ResolveTarget(ctx, &p); err != nil {
			return flaw(err)
		}
		if s.addrs, _, err = transport.SpreadOverSources(&p, s.addrs); err != nil {
			return flaw(err)
		}
		r.origins = append(r.origins, s)
	}
	return nil
}

// addrsOfAll are the addresses of the server, and behind them those of the origins.
func (r *run) addrsOfAll() []ring.Addr {
	all := r.addrs[:len(r.addrs):len(r.addrs)]
	for _, s := range r.origins {
		all = append(all, s.addrs...)
	}
	return all
}

// addOutposts adds the outposts of a worker. The numbers of their connections and addresses follow
// those of the server's.
func (w *worker) addOutposts(origins []server) (err error) {
	n, addr := len(w.conns), len(w.addrs)
	for k, s := range origins {
		o := &outpost{server: s}
		if o.newCodec, err = s.protocols.Protocol(s.plan.ProtoRequests(), s.plan.Want()); err != nil {
			return fmt.Errorf("%s: %w", s.plan.Target.URL, err)
		}
		o.conns, o.idle, o.outage = make([]conn, n), flow.NewFIFO[uint32](1), flow.NotYet
		o.before = make([]int64, n)
		for i := range n {
			o.conns[i].settled = true
			o.spare = append(o.spare, uint32(n-1-i))
		}
		o.dialing.addresses = dial.New(ring.Shifted{Ring: w.ring, Conn: uint64(n * (k + 1)),
			Addr: addr}, s.addrs, n, w.id, int64(s.plan.Connecting))
		addr += len(s.addrs)
		w.outposts = append(w.outposts, o)
	}
	return nil
}

// enter puts an outpost in the place of the server and its connections, until leave.
func (w *worker) enter(o *outpost) {
	w.swap(o)
	w.at = o
}

func (w *worker) leave() {
	w.swap(w.at)
	w.at = nil
}

func (w *worker) swap(o *outpost) {
	inFlight := w.inFlight
	w.server, o.server = o.server, w.server
	w.pool, o.pool = o.pool, w.pool
	w.inFlight = inFlight
}

// handleAbroad handles a completion of an outpost's connection. It reports whether it was one.
func (w *worker) handleAbroad(done ring.Completion) bool {
	number, n := uint32(done.User), uint32(len(w.conns))
	if number < n {
		return false
	}
	done.User -= uint64(number - number%n)
	w.enter(w.outposts[number/n-1])
	w.handleCompletion(done)
	w.leave()
	return true
}

// sendAbroad sends what waits at outposts, and opens connections for what finds none.
func (w *worker) sendAbroad() {
	for _, o := range w.outposts {
		if len(o.waiting) == 0 {
			continue
		}
		w.enter(o)
		if w.Interrupted {
			w.dropWaiting()
		}
		w.sendDue(burst)
		depth := w.plan.Depth()
		opening := len(w.conns) - len(o.spare) - w.up
		wanted := min((len(o.waiting)+depth-1)/depth-opening, len(o.spare), dialMost)
		for ; wanted > 0; wanted-- {
			last := len(o.spare) - 1
			i := o.spare[last]
			o.spare = o.spare[:last]
			o.before[i] = o.queued
			w.dialConn(i)
		}
		w.leave()
	}
}

// queue has an arrival sent as soon as a connection has room: the retry of a request, or what
// follows a redirect.
func (w *worker) queue(a flow.Arrival) {
	if w.users != nil && w.outposts != nil {
		if u := &w.users.all[a.Request]; u.step.Origin > 0 {
			o := w.outposts[u.step.Origin-1]
			u.waits = a
			o.waiting.Push(u.first+u.timeout, a.Request)
			o.queued++
			w.inFlight++
			return
		}
	}
	w.Retries.PushBack(a)
}

// takeWaiting takes the request that times out first of those that wait for a connection.
func (w *worker) takeWaiting() flow.Arrival {
	t, _ := w.at.waiting.PopExpired(flow.NotYet)
	w.inFlight--
	return w.users.all[t.Of].waits
}

// dropWaiting gives up what waits: it has no answer when the run ends.
func (w *worker) dropWaiting() {
	for len(w.at.waiting) > 0 {
		a := w.takeWaiting()
		w.leaveWaiting(a, false)
		w.Retries.PushBack(a)
	}
}

// leaveWaiting notes that a request has no answer when the run ends.
func (w *worker) leaveWaiting(a flow.Arrival, begun bool) {
	if w.IsClosed() && w.Left != 0 {
		w.users.silent.Leave(a, &w.Window, w.users.all[a.Request].first, begun)
	}
}

// spareConn keeps a connection that is down until a request needs one.
func (w *worker) spareConn(i uint32, c *conn) {
	c.again = flow.NotYet
	w.at.spare = append(w.at.spare, i)
}

// failAttempted fails what waited for a connection that could not be opened. What waited when the
// attempt began is shared among the attempts that go on: each of them may serve some.
func (w *worker) failAttempted(i uint32, c *conn, phase loadresult.Phase, err error) {
	o := w.at
	waited := int(o.before[i] - (o.queued - int64(len(o.waiting))))
	if waited <= 0 {
		w.recordFailure(c, phase, err)
	}
	attempts := len(w.conns) - len(o.spare) - w.up
	for n := (waited + attempts - 1) / attempts; n > 0; n-- {
		o.none.Call, o.none.number = c.Call, i
		w.failWaiting(phase, err)
	}
}

// failWaiting fails the waiting request that times out first.
func (w *worker) failWaiting(phase loadresult.Phase, err error) {
	c := &w.at.none
	c.exchanges = append(c.exchanges[:0], exchange{Arrival: w.takeWaiting(), sent: w.now})
	w.failRequest(c, 0, phase, err)
}

// wakeUp is when a connection of the outpost, or a request that waits for one, has a timer.
func (o *outpost) wakeUp() int64 {
	return min(o.timers.Earliest(flow.NotYet), o.waiting.Earliest(flow.NotYet))
}

// runOutpostTimers runs the timers of the outposts' connections and of what waits for one.
func (w *worker) runOutpostTimers() {
	for _, o := range w.outposts {
		if o.wakeUp() > w.now {
			continue
		}
		w.enter(o)
		w.runTimers()
		for o.waiting.Earliest(flow.NotYet) <= w.now {
			w.failWaiting(loadresult.Timeout, failure.ErrNotOpen)
		}
		w.leave()
	}
}

// finishOutposts counts what the run's end left at outposts, whose connections have ended.
func (w *worker) finishOutposts() {
	for _, o := range w.outposts {
		w.enter(o)
		w.dropWaiting()
		for i := range w.conns {
			for _, x := range w.conns[i].exchanges {
				if x.live {
					w.leaveWaiting(x.Arrival, x.status != 0)
				}
			}
		}
		w.leave()
		w.totals.CountOrigin(o.plan.Target.URL, o.hops, o.opened)
	}
}
