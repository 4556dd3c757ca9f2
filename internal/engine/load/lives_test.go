package load

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/transport"
)

// A server that resets every connection in the TLS handshake ends the run, with
// the cause: no connection is ready, and none may be dialed for ever.
func TestHandshakeReset(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Target.TLS, p.TLS.Insecure, p.Connections = true, true, 3
	})
	sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Hangup(ms, syscall.ECONNRESET) }}
	r := simulate(t, p, sim)
	if r.Ended != loadresult.Unreachable || len(r.Failures) != 1 {
		t.Fatalf("ended by %s: %+v", r.Ended, r.Failures)
	}
	if f := r.Failures[0]; f.Phase != loadresult.TLSPhase || f.Kind != "reset" || f.Count != 3 {
		t.Errorf("%+v", f)
	}
}

// A ledger knows which of a ring's sockets are open.
type ledger struct {
	*ring.Sim
	open map[int]bool
}

func (l ledger) Connect(addr int, user uint64) (int, error) {
	fd, err := l.Sim.Connect(addr, user)
	l.open[fd] = err == nil
	return fd, err
}

func (l ledger) Close(fd int, gently bool) {
	delete(l.open, fd)
	l.Sim.Close(fd, gently)
}

// A connection that comes late is opened, not reopened, and the socket of an
// attempt that failed is closed.
func TestConnectFails(t *testing.T) {
	sim := steady(10 * ms)
	sim.Accept = func(n int) (int64, error) {
		if 1 <= n && n <= 10 {
			return ms, syscall.ECONNREFUSED
		}
		return ms, nil
	}
	l := ledger{sim, map[int]bool{}}
	p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 2, loadplan.Seconds(10*s) })
	r := simulate(t, p, l)
	if r.Opened != 2 || r.Reconnects != 0 || r.Served != 2 {
		t.Errorf("%d opened, %d reconnects, %d served", r.Opened, r.Reconnects, r.Served)
	}
	if len(l.open) != 2 {
		t.Errorf("%d sockets are open for 2 connections", len(l.open))
	}
}

// A clog is a ring to which the server's end of a connection takes all that is
// sent but says so only at the first send: the rest is never over.
type clog struct {
	*ring.Sim
	sent map[int]bool
}

func (c clog) Send(fd int, b []byte) bool {
	if c.sent[fd] {
		return false
	}
	c.sent[fd] = true
	return c.Sim.Send(fd, b)
}

// A server that answers before it has the whole request, and never reads the
// rest, leaves the connection without an exchange and without room. It is given
// up after the timeout, or -n would never end.
func TestUnreadBody(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Requested, p.Duration, p.Timeout = 3, 0, loadplan.Seconds(2*s)
		p.Requests[0].Method, p.Requests[0].Body = "POST", bytes.Repeat([]byte("x"), 1<<20)
	})
	sim := steady(ms)
	r := simulate(t, p, clog{sim, map[int]bool{}})
	if r.Total.Completed != 3 || r.Opened != 3 || sim.Now() != 4*s+3*ms {
		t.Errorf("%d completed on %d connections in %v", r.Total.Completed, r.Opened,
			time.Duration(sim.Now()))
	}
	if len(r.Failures) != 1 || r.Failures[0].Phase != loadresult.Timeout || r.Failures[0].Count != 2 {
		t.Errorf("%+v", r.Failures)
	}
}

// Bodies of several pieces leave no room while they are sent; afterwards they do.
func TestPipelineOfBodies(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 200<<10)
	arrived, now, deepest := 0, 0, 0
	sim := &ring.Sim{}
	sim.Server = func(p *ring.Peer, b []byte) {
		if arrived += len(b); arrived < len(body) {
			return
		}
		arrived = 0
		if p.Now() == 0 {
			now++
			deepest = max(deepest, now)
		}
		p.Reply(ms, hello)
	}
	p := simPlan(func(p *loadplan.Plan) {
		p.Requested, p.Pipeline, p.Requests[0].Method, p.Requests[0].Body = 40, 4, "POST", body
	})
	r := simulate(t, p, sim)
	if r.Total.Completed != 40 || deepest != 4 {
		t.Errorf("%d completed, %d at once", r.Total.Completed, deepest)
	}
}

// What waits at the end is never more than was asked for.
func TestWaitingIsOfThoseAskedFor(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Rate, p.Requested, p.Duration = loadplan.RatePerSecond(1000), 20, loadplan.Seconds(1*s)
	})
	r := simulate(t, p, &ring.Sim{Server: func(*ring.Peer, []byte) {}})
	if r.Total.Sent != 1 || r.Waiting != 19 {
		t.Errorf("%d sent, %d waiting", r.Total.Sent, r.Waiting)
	}
}

// Intervals come as the workers that still run hand them over: one that has
// ended holds none of them back.
func TestIntervalsDoNotWaitForTheDead(t *testing.T) {
	plan := simPlan(nil)
	r := &run{plan: plan, threads: 2, result: &loadresult.Result{}, gate: newGate(2),
		reports: make(chan workerReport), emptyCounters: make(chan *metric.Counters, 4)}
	shown := make(chan loadresult.Interval, 10)
	r.viewer = loadresult.NewViewer(10, func(iv loadresult.Interval) { shown <- iv })
	defer r.viewer.Close()
	ended := make(chan error)
	go func() { ended <- r.collectIntervals() }()
	hand := func(from, interval int) {
		s := metric.NewCounters()
		s.Interval, s.Sent, s.To = interval, 1, int64(interval+1)*int64(time.Second)
		r.reports <- workerReport{from: from, Counters: s}
	}
	tally := loadresult.NewTotals()
	hand(0, 0)
	hand(1, 0)
	r.reports <- workerReport{from: 0, worker: &worker{account: account{totals: &tally}}}
	for i := 1; i < 5; i++ {
		hand(1, i) // is received only when the one before is dealt with
		if got := (<-shown).Index; got != i-1 {
			t.Errorf("interval %d is shown when number %d came", got, i)
		}
	}
	r.reports <- workerReport{from: 1, worker: &worker{account: account{totals: &tally}}}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := (<-shown).Index; got != 4 {
		t.Errorf("interval %d is the last", got)
	}
}

// Who looks at the intervals may take any time for it: no worker waits.
func TestNobodyWaitsForTheTerminal(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Rate, p.Duration = loadplan.RatePerSecond(10), loadplan.Seconds(100*s) })
	protocol, err := transport.NewProtocols(&p)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{plan: p, threads: 1, result: &loadresult.Result{Plan: p}, gate: newGate(1),
		reports: make(chan workerReport, 1), emptyCounters: make(chan *metric.Counters, 1)}
	w, err := newWorker(&p, steady(ms), []ring.Addr{{Unix: "simulated"}}, protocol, r.gate, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.publish = func(s *metric.Counters) *metric.Counters {
		r.reports <- workerReport{Counters: s}
		return metric.NewCounters()
	}
	over := make(chan bool)
	seen := 0
	r.each = func(loadresult.Interval) { <-over; seen++ }
	r.viewer = loadresult.NewViewer(shownMost, r.each)
	go func() {
		err := w.runLoop()
		close(over)
		r.reports <- workerReport{worker: w, err: err}
	}()
	if err := r.collectIntervals(); err != nil {
		t.Fatal(err)
	}
	if r.viewer.Close(); seen != 100 || r.result.Total.Completed != 1000 {
		t.Errorf("%d intervals seen, %d completed", seen, r.result.Total.Completed)
	}
}
