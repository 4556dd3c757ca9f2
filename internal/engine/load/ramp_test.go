package load

import (
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// A server takes 150 connections in 10 ms, and ignores those beyond, which the client's
// kernel then asks for again after 1 s, 3 s and 7 s. Dialed all at once most would not have
// come to it when their time is over.
func TestRampSurvivesTheBacklog(t *testing.T) {
	const connections, room = 20_000, 150
	taken := map[int64]int{}
	sim := steady(ms)
	sim.Accept = func(int) (int64, error) {
		for _, later := range []int64{0, 1 * s, 3 * s, 7 * s} {
			if at := (sim.Now() + later) / (10 * ms); taken[at] < room {
				taken[at]++
				return later + 50*us, nil
			}
		}
		return 100 * s, nil
	}
	p := simPlan(func(p *loadplan.Plan) {
		p.Connections, p.Requested, p.Duration = connections, connections, 0
	})
	r := simulate(t, p, sim)
	if r.Opened != connections || len(r.Failures) > 0 || r.Served != connections {
		t.Errorf("%d opened, %d served, failures %v", r.Opened, r.Served, r.Failures)
	}
	if ramp := sim.Now(); ramp > 5*s {
		t.Errorf("it took %d ms", ramp/ms)
	}
}

// Nobody listens: so many connections as may be under way together come to their end one
// after the other, and yet it is known soon.
func TestRampToNowhere(t *testing.T) {
	sim := &ring.Sim{Accept: func(int) (int64, error) { return 1000 * s, nil }}
	p := simPlan(func(p *loadplan.Plan) { p.Connections = 20_000 })
	r := simulate(t, p, sim)
	if r.Ended != loadresult.Unreachable || r.Opened > 0 {
		t.Errorf("ended by %s, %d opened", r.Ended, r.Opened)
	}
	if took := sim.Now(); took > 15*s {
		t.Errorf("known after %d ms", took/ms)
	}
}

// A slowRing is a simulated one on which a send takes 2 µs. It has room for so many
// completions.
type slowRing struct {
	*ring.Sim
	sends, most int // since the last turn
}

func (r *slowRing) Wait(deadline int64) error {
	r.sends = 0
	return r.Sim.Wait(deadline)
}

func (r *slowRing) Send(fd int, b []byte) bool {
	r.sends++
	r.most = max(r.most, r.sends)
	r.Sim.Send(fd, b)
	r.Sim.Wait(r.Sim.Now() + 2*us)
	return true
}

// Of many connections that all have room a turn sends to some, and each request is sent
// when it says.
func TestBurst(t *testing.T) {
	const connections = 5000
	arrived := map[int]int64{}
	sim := &ring.Sim{}
	sim.Server = func(p *ring.Peer, _ []byte) {
		arrived[p.N] = p.Now()
		p.Reply(100*s-p.Now(), hello) // all at one instant
	}
	p := simPlan(func(p *loadplan.Plan) {
		p.Connections, p.Requested, p.Duration = connections, connections, 0
		p.Timeout = loadplan.Seconds(200 * s)
	})
	slow := &slowRing{Sim: sim}
	r := simulate(t, p, slow)
	if r.Total.Completed != connections || slow.most > burst+1 { // one for a connection that opened last
		t.Errorf("%d completed, %d sends in a turn", r.Total.Completed, slow.most)
	}
	var first, last int64 = 1 << 62, 0
	for _, at := range arrived {
		first, last = min(first, at), max(last, at)
	}
	if want := int64(connections-1) * 2 * us; last-first != want {
		t.Errorf("sent in %d ns, want %d", last-first, want)
	}
	if l := r.Total.Latency; l.Max-l.Min != last-first {
		t.Errorf("latencies from %d to %d ns differ by other than the %d ns of sending",
			l.Min, l.Max, last-first)
	}
}
