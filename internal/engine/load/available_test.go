package load

import (
	"io"
	"syscall"
	"testing"

	"dyno/internal/engine/loadplan"
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
