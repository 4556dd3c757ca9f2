package load

import (
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// What waits in vain is known to be longer than its timeout, or than the drain. Only a silence counts the
// time of its slot: requests that were given up one after the other, or the one in which the run ended.
func TestSilences(t *testing.T) {
	hang := func(hangs func(p *ring.Peer) bool) *ring.Sim {
		return &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			if !hangs(p) {
				p.Reply(10*ms, hello)
			}
		}}
	}
	half := []byte("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok")
	stall := func(stalls func(p *ring.Peer) bool) *ring.Sim {
		return &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			if stalls(p) {
				p.Reply(10*ms, half)
			} else {
				p.Reply(10*ms, hello)
			}
		}}
	}
	three := func(p *ring.Peer) bool { return p.N < 3 || p.N >= 8 } // of 8, and those that take their place
	n, m := 0, 0
	for name, c := range map[string]struct {
		sim     *ring.Sim
		timeout int64
		change  func(p *loadplan.Plan)
		given   loadresult.Wait // up after the timeout
		end     loadresult.Wait // without an answer at the end of the drain
	}{
		"none": {hang(func(*ring.Peer) bool { return false }), s, nil, loadresult.Wait{}, loadresult.Wait{}},
		"to the end, given up again and again": {hang(three), s, nil,
			loadresult.Wait{After: s, Requests: 30, Slots: 30 * s}, loadresult.Wait{}},
		"from the warm-up on": {hang(three), s, func(p *loadplan.Plan) { p.Warmup = loadplan.Seconds(500 * ms) },
			loadresult.Wait{After: s, Requests: 27, Slots: 30 * s}, loadresult.Wait{}},
		"given up once, and again without an answer": {hang(three), 7 * s, nil,
			loadresult.Wait{After: 7 * s, Requests: 3, Slots: 30 * s}, loadresult.Wait{Requests: 3}},
		"never given up": {hang(func(p *ring.Peer) bool { return p.N < 3 && p.Now() > 4*s }), 60 * s, nil,
			loadresult.Wait{}, loadresult.Wait{Requests: 3, Slots: 3 * 6 * s}},
		"begun, and given up again and again": {stall(three), s, nil,
			loadresult.Wait{After: s, Requests: 30, Begun: 30, Slots: 30 * s, SlotsBegun: 30 * s}, loadresult.Wait{}},
		"begun, and never given up": {stall(func(p *ring.Peer) bool { return p.N < 3 && p.Now() > 4*s }), 60 * s, nil,
			loadresult.Wait{}, loadresult.Wait{Requests: 3, Begun: 3, Slots: 3 * 6 * s, SlotsBegun: 3 * 6 * s}},
		"begun once, and a single one later": {&ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			if m++; m == 10 {
				p.Reply(10*ms, half)
			} else if m != 500 {
				p.Reply(10*ms, hello)
			}
		}}, 100 * ms, func(p *loadplan.Plan) { p.Connections = 1 },
			loadresult.Wait{After: 100 * ms, Requests: 2, Begun: 1}, loadresult.Wait{}},
		"single ones": {hang(func(*ring.Peer) bool { n++; return n%500 == 499 && n < 3000 }), 100 * ms, nil,
			loadresult.Wait{After: 100 * ms, Requests: 6}, loadresult.Wait{}},
		"at a rate": {hang(func(p *ring.Peer) bool { return p.Now() > 7500*ms }), s, func(p *loadplan.Plan) {
			p.Rate, p.Drain = loadplan.RatePerSecond(1), loadplan.Seconds(3*s)
		}, loadresult.Wait{After: s, Requests: 2}, loadresult.Wait{}},
	} {
		t.Run(name, func(t *testing.T) {
			p := simPlan(func(p *loadplan.Plan) {
				p.Connections, p.Duration, p.Timeout = 8, loadplan.Seconds(10*s), loadplan.Seconds(c.timeout)
				if c.change != nil {
					c.change(p)
				}
			})
			r := simulate(t, p, opensLate(c.sim))
			got := map[int64]loadresult.Wait{}
			for _, w := range r.Unanswered {
				got[w.After] = w
			}
			if got[c.given.After] != c.given && c.given.After > 0 || got[0] != c.end || len(got) > 2 ||
				r.Total.Failed != c.given.Requests || r.Unfinished != c.end.Requests {
				t.Errorf("%+v, failed %d, unfinished %d; want %+v and %+v", r.Unanswered, r.Total.Failed, r.Unfinished, c.given, c.end)
			}
		})
	}
}

// A user who thinks waits for nothing: a connection that has been idle since its one timeout is not silent.
func TestIdleIsNoSilence(t *testing.T) {
	p := scenarioPlan(thinking(4000), 1, func(p *loadplan.Plan) {
		p.Users, p.Connections, p.Timeout, p.Duration = 2, 2, loadplan.Seconds(s), loadplan.Seconds(8*s)
		p.Drain = loadplan.Seconds(500 * ms) // the users think until later
	})
	r := simulate(t, p, opensLate(&ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		if p.N > 0 {
			p.Reply(10*ms, hello)
		}
	}}))
	want := loadresult.Wait{After: s, Requests: 1}
	if len(r.Unanswered) != 1 || r.Unanswered[0] != want || r.Total.Completed == 0 {
		t.Errorf("%+v, %d completed; want %+v", r.Unanswered, r.Total.Completed, want)
	}
}

// A request with its redirects waits for its whole timeout, of which the last hop has what is left.
func TestTimeoutAfterARedirect(t *testing.T) {
	at := func(u *scenario.User, i int) scenario.Step {
		u.State = i
		return scenario.Step{Message: proto.Message{Request: i}, Timeout: []time.Duration{0, 1e8}[i], KeepGoing: true, Hop: i > 0}
	}
	follows := scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) {
		return scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
			switch {
			case r == nil:
				return at(u, 0)
			case r.Failed != "":
				return scenario.Fail()
			}
			return at(u, 1)
		}), nil
	}}
	p := scenarioPlan(follows, 2, func(p *loadplan.Plan) {
		p.Timeout, p.Requested, p.Duration = loadplan.Seconds(s), 3, 0
	})
	r := simulate(t, p, opensLate(&ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if stepOf(b) == 0 {
			p.Reply(900*ms, answer(302, "moved"))
		}
	}}))
	want := loadresult.Wait{After: s, Requests: 3}
	if len(r.Unanswered) != 1 || r.Unanswered[0] != want {
		t.Errorf("%+v, want %+v", r.Unanswered, want)
	}
}
