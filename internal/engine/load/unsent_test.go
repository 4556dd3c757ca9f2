package load

import (
	"bytes"
	"io"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// postPlan is a plan of two users on one connection, who send a POST each. The second one thinks
// before it, so many ms.
func postPlan(think int64, change func(p *loadplan.Plan)) loadplan.Plan {
	post := scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) {
		return scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
			if r != nil {
				return scenario.End()
			}
			return scenario.Step{Think: time.Duration(think * ms * u.Number)}
		}), nil
	}}
	return scenarioPlan(post, 1, func(p *loadplan.Plan) {
		p.Requests[0].Method, p.Users, p.Requested, p.Duration = "POST", 2, 2, 0
		change(p)
	})
}

// A connection is lost while the ring still sends what came before a POST: nothing of that was
// handed to the ring, and it is sent again. The one that was handed to it fails.
func TestUnsentStep(t *testing.T) {
	p := postPlan(1, func(p *loadplan.Plan) { p.Pipeline = 2 })
	arrived := []int{}
	r := simulate(t, p, &slowSends{takes: 10 * ms, Sim: &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		arrived = append(arrived, p.N*10+bytes.Count(b, []byte("POST ")))
		if p.N == 0 {
			p.Hangup(5*ms, io.EOF)
			return
		}
		p.Reply(20*ms, hello)
	}}})
	// The second one is due at 1 ms, sent again at 5 and answered at 25.
	checkIterations(t, r, iterations{started: 2, completed: 1, failed: 1, time: 25, failedTime: 5})
	if len(arrived) != 2 || arrived[0] != 1 || arrived[1] != 11 || r.Retried != 1 || r.Reconnects != 1 {
		t.Errorf("arrived %v, %d sent again, %d reconnects", arrived, r.Retried, r.Reconnects)
	}
	if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Read || f[0].Count != 1 {
		t.Errorf("%+v", f)
	}
}

// It is sent again once: a server that ends every connection does not have it for ever.
func TestUnsentStepIsSentAgainOnce(t *testing.T) {
	p := postPlan(1, func(p *loadplan.Plan) { p.Pipeline = 2 })
	r := simulate(t, p, &slowSends{takes: 10 * ms, Sim: &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		p.Hangup(5*ms, io.EOF)
	}}})
	checkIterations(t, r, iterations{started: 2, failed: 2, failedTime: 5 + 10})
	if r.Retried != 1 || r.Total.Failed != 2 {
		t.Errorf("%d sent again, %d failed", r.Retried, r.Total.Failed)
	}
}

// An answer announces that the connection ends, and a step was pipelined behind it. The server may
// have processed that step: it is sent again only if it is safe to repeat, or if nothing of it was
// handed to the ring, with a scenario or without.
func TestStepBehindAnnouncedClose(t *testing.T) {
	closing := []byte("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")
	endless := []byte("HTTP/1.1 200 OK\r\n\r\nhello")
	for name, c := range map[string]struct {
		answer  []byte
		method  string
		takes   int64 // ms of each send
		alone   bool  // without a scenario
		arrived int
		want    iterations
	}{
		"a POST":                     {closing, "POST", 0, false, 2, iterations{2, 1, 1, 0, 5, 5}},
		"a POST, without a length":   {endless, "POST", 0, false, 2, iterations{2, 1, 1, 0, 5, 5}},
		"a GET":                      {closing, "GET", 0, false, 3, iterations{2, 2, 0, 0, 5 + 10, 0}},
		"a GET, without a length":    {endless, "GET", 0, false, 3, iterations{2, 2, 0, 0, 5 + 10, 0}},
		"an unsent POST":             {closing, "POST", 10, false, 2, iterations{2, 2, 0, 0, 5 + 10, 0}},
		"a POST, without a scenario": {closing, "POST", 0, true, 2, iterations{failed: 1}},
		"an endless one, likewise":   {endless, "POST", 0, true, 2, iterations{failed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := postPlan(1, func(p *loadplan.Plan) {
				p.Requests[0].Method, p.Pipeline = c.method, 2
				if c.alone {
					p.Scenario, p.Steps, p.Users = nil, nil, 0
				}
			})
			arrived := 0
			r := simulate(t, p, &slowSends{takes: c.takes * ms, Sim: &ring.Sim{Server: func(p *ring.Peer, b []byte) {
				n := bytes.Count(b, []byte(c.method+" "))
				if arrived += n; arrived == n { // the first on the connection, whatever follows it
					p.Reply(5*ms, c.answer)
					p.Hangup(5*ms, io.EOF)
				} else if p.N > 0 {
					p.Reply(5*ms, hello)
				}
			}}})
			if !c.alone {
				checkIterations(t, r, c.want)
			}
			failed := c.want.failed
			if arrived != c.arrived || r.Total.Failed != failed || r.Total.Completed != 2-failed ||
				r.Retried != 1-failed {
				t.Errorf("%d arrived, %d completed, %d failed, %d sent again", arrived, r.Total.Completed,
					r.Total.Failed, r.Retried)
			}
			if f := r.Failures; failed > 0 && (len(f) != 1 || f[0].Phase != loadresult.Read || f[0].Kind != "closed") {
				t.Errorf("%+v", f)
			}
		})
	}
}

// With HTTP/2 both wait behind the connection's preface, which the server answers too early.
func TestUnsentStreams(t *testing.T) {
	s := &h2Server{}
	s.answer = func(c *h2Peer) { c.reply(20*ms, ok(c.id)) }
	sim := s.sim()
	hear, ended := sim.Server, false
	sim.Server = func(p *ring.Peer, b []byte) {
		hear(p, b)
		if p.N == 0 && !ended {
			ended = true
			p.Hangup(5*ms, io.EOF)
		}
	}
	p := postPlan(0, func(p *loadplan.Plan) { p.Target.H2C, p.Target.URL, p.Streams = true, "h2c://sim/", 10 })
	r := simulate(t, p, &slowSends{takes: 10 * ms, Sim: sim})
	// The new connection's preface is sent until 15 ms, and both are answered 20 ms later.
	checkIterations(t, r, iterations{started: 2, completed: 2, time: 35 + 35})
	if s.requests != 2 || r.Retried != 2 || r.Total.Failed != 0 {
		t.Errorf("%d arrived, %d sent again, %d failed: %+v", s.requests, r.Retried, r.Total.Failed, r.Failures)
	}
}

// A connection that the server closes while nobody uses it costs no iteration: the next POST goes
// over another one.
func TestClosedWhileThinking(t *testing.T) {
	m := thinking(0, 20, 20)
	p := scenarioPlan(m, 3, func(p *loadplan.Plan) {
		for i := range p.Requests {
			p.Requests[i].Method = "POST"
		}
		p.Requested, p.Duration = 2, 0
	})
	n := 0
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if p.Reply(10*ms, hello); stepOf(b) == 1 {
			p.Hangup(15*ms, io.EOF)
		}
		n++
	}})
	checkIterations(t, r, iterations{started: 2, completed: 2, time: 2 * (10 + 30 + 30)})
	if n != 6 || r.Retried != 0 || r.Reconnects != 2 || r.Total.Failed != 0 {
		t.Errorf("%d arrived, %d sent again, %d reconnects: %+v", n, r.Retried, r.Reconnects, r.Failures)
	}
}
