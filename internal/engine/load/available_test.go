package load

import (
	"io"
	"slices"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// What a run was without, by a server that is away from 2 to 4 s. It is dialed again at once,
// after another ms, 2 ms more and so on, up to 256 ms, then each 500 ms: the first attempt
// that succeeds is 2.011 s after the loss.
const awayFor = 2011 * ms

// TestUnavailable has each case by hand.
func TestUnavailable(t *testing.T) {
	away := func(sim *ring.Sim, peer func(n int) bool) *ring.Sim {
		gone := func(n int) bool { return peer(n) && sim.Now() >= 2*s && sim.Now() < 4*s }
		sim.Server = func(p *ring.Peer, _ []byte) {
			if gone(p.N) {
				p.Hangup(0, syscall.ECONNRESET)
			} else {
				p.Reply(10*ms, hello)
			}
		}
		sim.Accept = func(n int) (int64, error) {
			if gone(n) {
				return 0, syscall.ECONNREFUSED
			}
			return 0, nil
		}
		return sim
	}
	all := func(int) bool { return true }
	for name, c := range map[string]struct {
		sim         *ring.Sim
		change      func(p *loadplan.Plan)
		sum, since  int64
		most, later int64 // later: of the longest latency
	}{
		"all of them": {sim: away(&ring.Sim{}, all), sum: 2 * awayFor, since: 2 * s, most: awayFor,
			later: awayFor + 10*ms},
		// The server of the first connection, and of all that come in its place.
		"one of two": {sim: away(&ring.Sim{}, func(n int) bool { return n != 1 }), sum: awayFor, since: 2 * s,
			most: awayFor, later: awayFor + 10*ms},
		"in the warm-up": {sim: away(&ring.Sim{}, all), change: func(p *loadplan.Plan) { p.Warmup = loadplan.Seconds(4500 * ms) },
			later: 10 * ms},
		"from before the window": {sim: away(&ring.Sim{}, all), change: func(p *loadplan.Plan) { p.Warmup = loadplan.Seconds(3 * s) },
			sum: 2 * (awayFor - s), most: awayFor - s, later: 10 * ms},
		"to its end": {sim: away(&ring.Sim{}, all), change: func(p *loadplan.Plan) { p.Duration = loadplan.Seconds(3 * s) },
			sum: 2 * s, since: 2 * s, most: s, later: awayFor + 10*ms}, // sent again in the drain
		"a wait for each": {sim: slow(50*ms, 10*ms, nil), change: func(p *loadplan.Plan) { p.Reconnect = 1 }, later: 60 * ms},
		"all sent after it": {sim: away(&ring.Sim{}, all), change: func(p *loadplan.Plan) { p.Requested = 600 },
			sum: 2 * awayFor, since: 2 * s, most: awayFor, later: awayFor + 10*ms},
	} {
		p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 2, loadplan.Seconds(6*s) })
		if c.change != nil {
			c.change(&p)
		}
		r := simulate(t, p, c.sim)
		if r.Unavailable != c.sum || r.UnavailableSince != c.since || r.UnavailableMost != c.most {
			t.Errorf("%s: unavailable for %d ns, the longest %d from %d on; want %d, %d, %d", name, r.Unavailable,
				r.UnavailableMost, r.UnavailableSince, c.sum, c.most, c.since)
		}
		if r.Total.Latency.Max != c.later {
			t.Errorf("%s: the longest latency is %d ns, want %d", name, r.Total.Latency.Max, c.later)
		}
	}
}

// A connection that was closed and is not dialed again, because no request is due any more, waits for
// nothing.
func TestNothingDueIsNoOutage(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Rate, p.Reconnect, p.Duration = loadplan.RatePerSecond(1), 1, loadplan.Seconds(10*s)
	})
	if r := simulate(t, p, steady(10*ms)); r.Outage != 0 || r.Unavailable != 0 || r.Total.Completed == 0 {
		t.Errorf("outage %d ns, unavailable for %d ns, %d completed", r.Outage, r.Unavailable, r.Total.Completed)
	}
}

// A proxy whose server is gone takes each connection and ends it: the pauses before the next
// attempts are time without a server, and the requests that it took are errors.
func TestUnavailableBehindAProxy(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Duration = loadplan.Seconds(3 * s) })
	sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Hangup(0, io.EOF) }}
	sim.Accept = func(n int) (int64, error) { return max(ms-sim.Now(), 0), nil }
	r := simulate(t, p, sim)
	// Attempts at 0, 0, 1, 3, 7, … 511, 1011, 1511, 2011 and 2511 ms.
	if r.Total.Failed != 15 || r.Unavailable != 3*s {
		t.Errorf("%d failed, unavailable for %d ns", r.Total.Failed, r.Unavailable)
	}
}

// A connection that is never open is unavailable from the start, and one of a load that has
// sent all it was to send is not.
func TestUnavailableFromTheStart(t *testing.T) {
	sim := steady(10 * ms)
	sim.Accept = func(n int) (int64, error) {
		if n == 1 || n > 2 {
			return ms, syscall.ECONNREFUSED
		}
		return ms, nil
	}
	p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 3, loadplan.Seconds(3*s) })
	if r := simulate(t, p, sim); r.Unavailable != 3*s || r.UnavailableSince != 0 || r.Outage != 0 {
		t.Errorf("unavailable for %d ns from %d on, outage %d", r.Unavailable, r.UnavailableSince, r.Outage)
	}
}

// frozen is a server that answers after 10 ms until it freezes, in ns, and never again. Of its
// connections only those freeze that are named; all if none is.
func frozen(at int64, which ...int) *ring.Sim {
	sim := &ring.Sim{}
	sim.Server = func(p *ring.Peer, _ []byte) {
		if p.Now() < at || len(which) > 0 && !slices.Contains(which, p.N) {
			p.Reply(10*ms, hello)
		}
	}
	return sim
}

// frozenH2 is a frozen server of HTTP/2, which may still acknowledge each PING.
func frozenH2(at int64, acknowledges bool) *ring.Sim {
	server := &h2Server{}
	server.answer = func(c *h2Peer) {
		if c.Now() < at {
			c.reply(10*ms, ok(c.id))
		}
	}
	sim := server.sim()
	hear := sim.Server
	sim.Server = func(p *ring.Peer, b []byte) {
		if p.Now() < at || acknowledges {
			hear(p, b)
		}
	}
	return sim
}

// opensLate has a server open connections after 1 ms.
func opensLate(sim *ring.Sim) *ring.Sim {
	sim.Accept = func(int) (int64, error) { return ms, nil }
	return sim
}

// TestUnanswered has waits that had not ended when the run ended. Of 10 s, the last request of a
// connection is sent when its server freezes, and its drain ends at 12 s.
func TestUnanswered(t *testing.T) {
	deep := func(p *loadplan.Plan) { p.Pipeline = 4 }
	timeout := func(after int64) func(*loadplan.Plan) {
		return func(p *loadplan.Plan) { p.Timeout = loadplan.Seconds(after) }
	}
	slower := func(growth int64) *ring.Sim { // 2 s, and each answer of a connection takes longer
		n := map[int]int64{}
		return &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			n[p.N]++
			p.Reply(2*s+(n[p.N]-1)*growth, hello)
		}}
	}
	for name, c := range map[string]struct {
		sim        *ring.Sim
		change     func(p *loadplan.Plan)
		sum, since int64
		plan       func(func(*loadplan.Plan)) loadplan.Plan // nil: simPlan
	}{
		"frozen":                    {sim: frozen(4 * s), sum: 2 * 6 * s, since: 4 * s},
		"frozen, and pipelined":     {sim: frozen(4 * s), change: deep, sum: 2 * 6 * s, since: 4 * s},
		"one of two":                {sim: frozen(4*s, 1), sum: 6 * s, since: 4 * s},
		"just before the end":       {sim: frozen(9990 * ms), sum: 2 * 10 * ms, since: 9990 * ms},
		"frozen in the warm-up":     {sim: frozen(s, 1), change: func(p *loadplan.Plan) { p.Warmup = loadplan.Seconds(2 * s) }, sum: 10 * s},
		"no answer at all":          {sim: opensLate(frozen(0))},
		"slow":                      {sim: steady(9 * s)},
		"slower than the drain":     {sim: steady(2300 * ms)},
		"slower and slower":         {sim: slower(2200 * ms)},
		"as long as the window":     {sim: steady(11 * s)},
		"all sent":                  {sim: frozen(4 * s), change: func(p *loadplan.Plan) { p.Requested = 2 * 401 }},
		"timed out in the drain":    {sim: frozen(4 * s), change: timeout(7 * s), sum: 2 * 6 * s, since: 4 * s},
		"timed out, and once again": {sim: frozen(4 * s), change: timeout(5 * s), sum: 2 * 6 * s, since: 4 * s},
		"timed out many times":      {sim: frozen(4 * s), change: timeout(100 * ms), sum: 2 * 6 * s, since: 4 * s},
		"HTTP/2":                    {sim: frozenH2(4*s, false), plan: h2Plan, sum: 2 * 6 * s, since: 4 * s},
		"HTTP/2, and it timed out":  {sim: frozenH2(4*s, false), plan: h2Plan, change: timeout(5 * s), sum: 2 * 6 * s, since: 4 * s},
		"HTTP/2, and PING is acknowledged": {sim: frozenH2(4*s, true), plan: h2Plan, change: timeout(5 * s),
			sum: 2 * 6 * s, since: 4 * s},
	} {
		newPlan := simPlan
		if c.plan != nil {
			newPlan = c.plan
		}
		p := newPlan(func(p *loadplan.Plan) {
			p.Requested = 0
			p.Connections, p.Duration, p.Timeout = 2, loadplan.Seconds(10*s), loadplan.Seconds(30*s)
		})
		if c.change != nil {
			c.change(&p)
		}
		r := simulate(t, p, c.sim)
		if r.Unavailable != c.sum || r.UnavailableSince != c.since {
			t.Errorf("%s: unavailable for %v, the longest from %v on; want %v, %v", name,
				time.Duration(r.Unavailable), time.Duration(r.UnavailableSince), time.Duration(c.sum), time.Duration(c.since))
		}
	}
}

// A request that times out is an error and no time without a server, if later ones are answered.
func TestTimeoutsAreNoTimeWithoutAServer(t *testing.T) {
	for name, c := range map[string]struct {
		plan func(change func(p *loadplan.Plan)) loadplan.Plan
		sim  func(answers func() bool) *ring.Sim
	}{
		"HTTP/1.1": {simPlan, func(answers func() bool) *ring.Sim {
			return &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
				if answers() {
					p.Reply(10*ms, hello)
				}
			}}
		}},
		"HTTP/2": {h2Plan, func(answers func() bool) *ring.Sim {
			server := &h2Server{answer: func(c *h2Peer) {
				if answers() {
					c.reply(10*ms, ok(c.id))
				}
			}}
			return server.sim()
		}},
	} {
		for timeout, failed := range map[int64]int64{3 * s: 3, 6 * s: 1} {
			n := 0
			sim := c.sim(func() bool { n++; return n%10 != 0 })
			r := simulate(t, c.plan(func(p *loadplan.Plan) {
				p.Requested, p.Streams = 0, 1
				p.Duration, p.Timeout = loadplan.Seconds(10*s), loadplan.Seconds(timeout)
			}), sim)
			if r.Unavailable != 0 || r.Total.Failed != failed || r.Unfinished != 1 {
				t.Errorf("%s: unavailable for %d ns, %d failed, %d unfinished", name, r.Unavailable, r.Total.Failed,
					r.Unfinished)
			}
		}
	}
}

// A single request that times out is no time without a server, even if it is the first of all. Only
// connecting again is, because that life completed nothing.
func TestFirstRequestTimesOut(t *testing.T) {
	n := 0
	sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		if n++; n > 1 {
			p.Reply(10*ms, hello)
		}
	}}
	p := simPlan(func(p *loadplan.Plan) { p.Duration, p.Timeout = loadplan.Seconds(10*s), loadplan.Seconds(3*s) })
	if r := simulate(t, p, opensLate(sim)); r.Unavailable != ms || r.Total.Failed != 1 {
		t.Errorf("unavailable for %d ns, %d failed", r.Unavailable, r.Total.Failed)
	}
}

// A server is gone from 2 s on, and its address answers no attempt, so that none has failed by the
// end of the run. A load may also have ended while a connection was being opened in good time.
func TestUnavailableWhilePending(t *testing.T) {
	gone := func(p *ring.Peer, _ []byte) {
		if p.Now() < 2*s {
			p.Reply(10*ms, hello)
		} else {
			p.Hangup(0, io.EOF)
		}
	}
	for name, c := range map[string]struct {
		sim         *ring.Sim
		change      func(p *loadplan.Plan)
		sum, outage int64
		pending     int64 // attempts that are reported
	}{
		"pending at the end": {sim: &ring.Sim{Server: gone}, sum: 2 * 2 * s, outage: 2 * s, pending: 2},
		"at a rate": {sim: &ring.Sim{Server: gone}, sum: 2 * 2 * s, outage: 2 * s, pending: 2,
			change: func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(100) }},
		"a wait for each": {sim: slow(30*ms, 10*ms, nil), change: func(p *loadplan.Plan) { p.Reconnect, p.Drain = 1, 0 }},
	} {
		if c.sim.Accept == nil {
			c.sim.Accept = func(n int) (int64, error) {
				if n < 2 {
					return 0, nil
				}
				return 60 * s, nil
			}
		}
		p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 2, loadplan.Seconds(4*s) })
		if c.change != nil {
			c.change(&p)
		}
		r := simulate(t, p, c.sim)
		var pending int64
		for _, f := range r.Failures {
			if f.Phase == loadresult.Connect && f.Kind == "timeout" {
				pending += f.Count
			}
		}
		if r.Unavailable != c.sum || r.Outage != c.outage || pending != c.pending {
			t.Errorf("%s: unavailable for %v, outage %v, failures %+v", name, time.Duration(r.Unavailable),
				time.Duration(r.Outage), r.Failures)
		}
	}
}

// Three of eight connections are held from the warm-up until after the window: each is a user who
// waited for all of it, and no server that they had. It does not matter whether an answer comes then.
func TestSlotsHeldThroughTheWindow(t *testing.T) {
	for name, c := range map[string]struct {
		until    int64 // when the server answers what it holds, after the load's start
		warmup   int64
		change   func(p *loadplan.Plan)
		held     int64
		sum      int64 // of the times without a server
		finished int64
	}{
		"until the drain":     {3300 * ms, s, nil, 3, 3 * 2 * s, 0},
		"for ever":            {100 * s, s, nil, 3, 3 * 2 * s, 0},
		"until in the window": {2900 * ms, s, nil, 0, 0, 3},
		"without a warm-up":   {3300 * ms, 0, nil, 0, 0, 3}, // they are the window's own
		"at a rate":           {3300 * ms, s, func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(100) }, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
				after := 2 * ms
				if p.N < 3 && p.Now() > 300*ms && p.Now() < c.until {
					after = c.until - p.Now()
				}
				p.Reply(after, hello)
			}}
			p := simPlan(func(p *loadplan.Plan) {
				p.Connections, p.Warmup, p.Duration = 8, loadplan.Seconds(c.warmup), loadplan.Seconds(2*s)
				p.Timeout = loadplan.Seconds(60 * s)
				if c.change != nil {
					c.change(p)
				}
			})
			r := simulate(t, p, sim)
			if r.Held != c.held || r.Unavailable != c.sum {
				t.Errorf("%d held, %d ns without a server; want %d and %d", r.Held, r.Unavailable, c.held, c.sum)
			}
			if c.finished == 0 && r.Plan.Rate == 0 && r.Total.Latency.Max != 2*ms {
				t.Errorf("of those that were answered the longest took %d ns", r.Total.Latency.Max)
			}
		})
	}
}
