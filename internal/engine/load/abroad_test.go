package load

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/reqlog"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/transport"
)

// simOrigins are the origins that a plan's redirects may lead to, in virtual time: the first has the
// address 1 of the ring.
func simOrigins(t testing.TB, p *loadplan.Plan) (all []server) {
	for i := range p.FollowTo {
		q := p.Towards(i)
		protocols, err := transport.NewProtocols(&q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, server{plan: &q, addrs: []ring.Addr{{Unix: fmt.Sprint("origin ", i+1)}}, protocols: protocols})
	}
	return all
}

// abroadPlan is a plan whose requests go from the server to the origins of the route.
func abroadPlan(route []int, change func(p *loadplan.Plan)) loadplan.Plan {
	return routePlan(route, func(p *loadplan.Plan) {
		p.Follow = 10
		for i := range 2 {
			p.FollowTo = append(p.FollowTo, loadplan.Target{URL: fmt.Sprint("http://origin-", i+1), Host: "origin", Port: 80})
		}
		change(p)
	})
}

// A world is the servers of all origins: each answers after 10 ms, with a redirect until the last.
type world struct {
	ring.Sim
	route []int
	asked []string                // which request arrived where
	reply func(p *ring.Peer) bool // nil: as above; it reports whether it did
	slow  int64                   // how long it takes to connect to origin 2
	dead  map[int]error           // connecting to these fails
}

func newWorld(route ...int) *world {
	x := &world{route: route, slow: 5 * ms, dead: map[int]error{}}
	x.Reach = func(addr int) (int64, error) {
		if addr == 2 {
			return x.slow, x.dead[addr]
		}
		return 0, x.dead[addr]
	}
	x.Server = func(p *ring.Peer, b []byte) {
		i := stepOf(b)
		x.asked = append(x.asked, fmt.Sprintf("%d at %d", i, p.Addr))
		switch {
		case x.reply != nil && i == len(route)-1 && x.reply(p):
		case i < len(route)-1:
			p.Reply(10*ms, answer(302, "moved"))
		default:
			p.Reply(10*ms, hello)
		}
	}
	return x
}

// A request goes from origin to origin and back, and counts once. Connections elsewhere are opened
// when they are needed, are kept, and are none of the server's.
func TestRedirectsToOrigins(t *testing.T) {
	route := []int{0, 1, 1, 2, 0}
	for _, tc := range []struct {
		name        string
		change      func(p *loadplan.Plan)
		latency     int64 // ms, of three requests; origin 2 takes 5 ms to connect
		connections int64 // to each origin
	}{
		{"one user", func(*loadplan.Plan) {}, 55 + 50 + 50, 1},
		{"three users", func(p *loadplan.Plan) { p.Connections = 3 }, 55 + 55 + 55, 3},
		{"at a rate", func(p *loadplan.Plan) {
			p.Rate, p.Users, p.Connections = loadplan.RatePerSecond(1), 3, 2
		}, 55 + 50 + 50, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log, x := reqlog.New(1), newWorld(route...)
			r := simulate(t, abroadPlan(route, func(p *loadplan.Plan) {
				p.Requested, p.Log = 3, log.Ring
				tc.change(p)
			}), &x.Sim)
			if r.Total.Sent != 3 || r.Total.Completed != 3 || r.Total.Status[200] != 3 || r.Redirects != 12 || len(x.asked) != 15 {
				t.Errorf("%d sent, %d completed, %d redirects, %v", r.Total.Sent, r.Total.Completed, r.Redirects, x.asked)
			}
			if l := sumOf(r.Total.Latency); l != tc.latency {
				t.Errorf("latency %d ms, want %d", l, tc.latency)
			}
			want := []loadresult.OriginTotals{{Origin: "http://origin-1", Redirects: 6, Connections: tc.connections},
				{Origin: "http://origin-2", Redirects: 3, Connections: tc.connections}}
			if fmt.Sprint(r.RedirectsTo) != fmt.Sprint(want) || r.Opened != int64(r.Served) || r.Reconnects != 0 || r.Unavailable != 0 {
				t.Errorf("%+v; of the server %d opened, %d again, unavailable for %d", r.RedirectsTo, r.Opened, r.Reconnects, r.Unavailable)
			}
			lines := 0
			log.Drain(func(l reqlog.Line) {
				if lines++; l.Sent != l.Due || l.Status != 200 {
					t.Errorf("%+v", l)
				}
			})
			if lines != 3 {
				t.Errorf("%d lines", lines)
			}
		})
	}
	x := newWorld(route...)
	simulate(t, abroadPlan(route, func(p *loadplan.Plan) { p.Requested = 1 }), &x.Sim)
	if got := fmt.Sprint(x.asked); got != "[0 at 0 1 at 1 2 at 1 3 at 2 4 at 0]" {
		t.Error(got)
	}
}

// What becomes of a request elsewhere becomes of the request: no connection can be opened, the
// connection is lost, there is no answer in time, or the run ends.
func TestRedirectsToOriginsFail(t *testing.T) {
	const requests = 3
	once := func(x *world, then func(p *ring.Peer)) {
		done := false
		x.reply = func(p *ring.Peer) bool {
			was := done
			if done = true; !was {
				then(p)
			}
			return !was
		}
	}
	for _, tc := range []struct {
		name              string
		world             func(x *world)
		completed, failed int64
		phase, kind       string
		address           string
	}{
		{"refused", func(x *world) { x.dead[2] = syscall.ECONNREFUSED }, 0, requests, "connect", "refused", "origin 2"},
		{"silent", func(x *world) { x.slow = 60 * s }, 0, requests, "connect", "timeout", "origin 2"},
		{"lost and sent again", func(x *world) {
			once(x, func(p *ring.Peer) { p.Reply(ms, hello[:10]); p.Hangup(2*ms, io.EOF) })
		}, requests - 1, 1, "read", "truncated", "origin 2"},
		{"no answer", func(x *world) { x.reply = func(*ring.Peer) bool { return true } }, 0, requests, "timeout", "timeout", "origin 2"},
		{"an error", func(x *world) {
			x.reply = func(p *ring.Peer) bool { p.Reply(10*ms, unavailable); return true }
		}, 0, requests, "expect", "status", "origin 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := newWorld(0, 2)
			tc.world(x)
			r := simulate(t, abroadPlan(x.route, func(p *loadplan.Plan) {
				p.Requested, p.Timeout, p.Connecting = requests, loadplan.Seconds(500*ms), loadplan.Seconds(400*ms)
			}), &x.Sim)
			if r.Total.Completed != tc.completed || r.Total.Failed != tc.failed || r.Unfinished != 0 || r.Ended != loadresult.ByRequests {
				t.Errorf("%d completed, %d failed, %d unfinished, ended %s", r.Total.Completed, r.Total.Failed, r.Unfinished, r.Ended)
			}
			if len(r.Failures) != 1 || string(r.Failures[0].Phase) != tc.phase || r.Failures[0].Kind != tc.kind ||
				r.Failures[0].Address != tc.address || r.Failures[0].Count != tc.failed {
				t.Errorf("%+v", r.Failures)
			}
		})
	}
}

// A connection that its origin closes between requests is opened again for the next, and one that
// is lost before an answer has its request sent again.
func TestOriginsCloseConnections(t *testing.T) {
	x := newWorld(0, 2)
	n := 0
	x.reply = func(p *ring.Peer) bool {
		if n++; n == 2 { // on its way when the connection is closed
			p.Hangup(ms, io.EOF)
			return true
		}
		p.Reply(10*ms, hello)
		if n == 3 {
			p.Hangup(15*ms, io.EOF)
		}
		return true
	}
	r := simulate(t, abroadPlan(x.route, func(p *loadplan.Plan) { p.Requested = 4 }), &x.Sim)
	if r.Total.Completed != 4 || r.Total.Failed != 0 || r.Retried != 1 || len(r.Failures) != 0 {
		t.Errorf("%d completed, %d failed, %d sent again: %+v", r.Total.Completed, r.Total.Failed, r.Retried, r.Failures)
	}
	if r.RedirectsTo[1].Connections != 3 || r.Redirects != 4 || r.Opened != 1 {
		t.Errorf("%+v, %d redirects, %d opened", r.RedirectsTo, r.Redirects, r.Opened)
	}
}

// What is elsewhere when the run ends has no answer, whether it waits for one or for a connection.
func TestOriginsAtTheEnd(t *testing.T) {
	for name, change := range map[string]func(x *world){
		"for an answer":    func(x *world) { x.reply = func(*ring.Peer) bool { return true } },
		"for a connection": func(x *world) { x.slow = 60 * s },
	} {
		x := newWorld(0, 2)
		change(x)
		r := simulate(t, abroadPlan(x.route, func(p *loadplan.Plan) {
			p.Connections, p.Duration, p.Drain = 2, loadplan.Seconds(s), loadplan.Seconds(ms)
			p.Timeout, p.Connecting = loadplan.Seconds(10*s), loadplan.Seconds(10*s)
		}), &x.Sim)
		if r.Total.Sent != 2 || r.Unfinished != 2 || r.Total.Failed != 0 || r.Ended != loadresult.ByDuration {
			t.Errorf("%s: %d sent, %d unfinished, %d failed, ended %s", name, r.Total.Sent, r.Unfinished, r.Total.Failed, r.Ended)
		}
	}
}

// Each answer of a shown request is shown, in order, and those of no other request.
func TestShownRedirects(t *testing.T) {
	x := newWorld(0, 1, 2)
	r := simulate(t, abroadPlan(x.route, func(p *loadplan.Plan) { p.Show, p.Requested = 2, 6 }), &x.Sim)
	var got []string
	for _, s := range r.Samples {
		got = append(got, fmt.Sprint(s.Kind, " ", s.Status, " at ", s.Address, " ", s.Request.Path))
		if took := s.Ended - s.Sent; took != 10*time.Millisecond {
			t.Errorf("%s took %v", got[len(got)-1], took)
		}
	}
	want := []string{"hop 302 at simulated /0", "hop 302 at origin 1 /1", " 200 at origin 2 /2"}
	if want = append(want, want...); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What users wait for at an origin that is silent counts as time without a server: four users hang for 4.5 of
// 6 s, until the run ends, or as requests that are given up one after the other.
func TestSilentOrigins(t *testing.T) {
	type waits = loadresult.Unanswered
	after := func(at int64) func(x *world) {
		return func(x *world) { x.reply = func(p *ring.Peer) bool { return p.Now() >= at } }
	}
	for _, tc := range []struct {
		name        string
		world       func(x *world)
		change      func(p *loadplan.Plan)
		want        waits
		unavailable int64
	}{
		{"to the end", after(1500 * ms), nil, waits{{Requests: 4, Slots: 4 * 4500 * ms}}, 4 * 4500 * ms},
		{"given up again and again", after(1500 * ms), func(p *loadplan.Plan) { p.Timeout = loadplan.Seconds(s) },
			waits{{After: s, Requests: 16, Slots: 4 * 4500 * ms}, {Requests: 4}}, 4 * 4500 * ms},
		{"through the whole window", func(x *world) {
			x.reply = func(p *ring.Peer) bool { return p.N == 4 } // its first connection
		}, func(p *loadplan.Plan) { p.Warmup = loadplan.Seconds(s) }, waits{{Slots: 6 * s}}, 6 * s},
		{"a connection that does not open", func(x *world) {
			x.Reach = func(int) (int64, error) { return max(0, min(x.Now()-1500*ms, 1)) * 60 * s, nil }
			x.reply = func(p *ring.Peer) bool { p.Reply(10*ms, hello); p.Hangup(10*ms, io.EOF); return true }
		}, func(p *loadplan.Plan) { p.Connecting = loadplan.Seconds(60 * s) },
			waits{{Requests: 4, Slots: 4 * 4500 * ms}}, 4 * 4500 * ms},
		{"at a rate", after(1500 * ms), func(p *loadplan.Plan) { p.Rate, p.Users = loadplan.RatePerSecond(1), 4 },
			waits{{Requests: 4}}, 0},
		{"once in a while", func(x *world) {
			n := 0
			x.reply = func(*ring.Peer) bool { n++; return n%100 == 50 && n < 200 }
		}, func(p *loadplan.Plan) { p.Timeout = loadplan.Seconds(100 * ms) }, waits{{After: 100 * ms, Requests: 2}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := newWorld(0, 2)
			tc.world(x)
			r := simulate(t, abroadPlan(x.route, func(p *loadplan.Plan) {
				p.Connections, p.Duration, p.Drain = 4, loadplan.Seconds(6*s), loadplan.Seconds(500*ms)
				p.Timeout = loadplan.Seconds(30 * s)
				if tc.change != nil {
					tc.change(p)
				}
			}), &x.Sim)
			var slots, want int64
			if len(r.Unanswered) != len(tc.want) {
				t.Fatalf("%+v, want %+v", r.Unanswered, tc.want)
			}
			for i, got := range r.Unanswered {
				slots, want = slots+got.Slots, want+tc.want[i].Slots
				if got.After != tc.want[i].After || got.Requests != tc.want[i].Requests {
					t.Errorf("%+v, want %+v", r.Unanswered, tc.want)
				}
			}
			// What was sent before the silence began waits up to 20 ms less.
			if most := 4 * 20 * ms; slots > want || slots < want-most || r.Unavailable > tc.unavailable || r.Unavailable < tc.unavailable-most {
				t.Errorf("%d and %d ns, want %d and %d", slots, r.Unavailable, want, tc.unavailable)
			}
		})
	}
}

// A request that waits for a connection to another origin fails with the attempt to open one that began
// while it waited, or when it has had its timeout. The wait is a part of its timeout.
func TestWaitsForOrigins(t *testing.T) {
	for name, tc := range map[string]struct {
		requests            int64
		timeout, connecting int64
		slow                int64
		phases              string
		measured            time.Duration
	}{
		// Due each ms, each is redirected 10 ms after the last: the first attempt begins with one, the next with 19.
		"attempts fail":    {20, 30 * s, s, 60 * s, "connect 20", 2010 * time.Millisecond},
		"the timeout ends": {20, 500 * ms, 10 * s, 60 * s, "timeout 20", 690 * time.Millisecond},
		"no answer, after a wait for the connection": {1, 500 * ms, 10 * s, 400 * ms, "timeout 1", 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			x := newWorld(0, 2)
			x.slow, x.reply = tc.slow, func(*ring.Peer) bool { return true }
			r := simulate(t, abroadPlan(x.route, func(p *loadplan.Plan) {
				p.Rate, p.Users, p.Requested = loadplan.RatePerSecond(1000), 20, tc.requests
				p.Timeout, p.Connecting = loadplan.Seconds(tc.timeout), loadplan.Seconds(tc.connecting)
			}), &x.Sim)
			got := ""
			for _, f := range r.Failures {
				got += fmt.Sprint(f.Phase, " ", f.Count)
			}
			if got != tc.phases || r.Total.Failed != tc.requests || r.Measured != tc.measured {
				t.Errorf("%s, %d failed in %v; want %s in %v", got, r.Total.Failed, r.Measured, tc.phases, tc.measured)
			}
		})
	}
}

// Of the requests that wait for a connection to another origin, each is given up at its own timeout: also one
// that was redirected late, and waits behind one that was sent later.
func TestTimeoutsOfWaits(t *testing.T) {
	x, log := newWorld(0, 2), reqlog.New(1)
	x.slow = 60 * s
	x.Server = func(p *ring.Peer, _ []byte) {
		x.asked = append(x.asked, "")
		p.Reply([]int64{400 * ms, 10 * ms}[len(x.asked)-1], answer(302, "moved"))
	}
	simulate(t, abroadPlan(x.route, func(p *loadplan.Plan) {
		p.Rate, p.Users, p.Connections, p.Requested, p.Log = loadplan.RatePerSecond(10), 2, 2, 2, log.Ring
		p.Timeout, p.Connecting = loadplan.Seconds(500*ms), loadplan.Seconds(60*s)
	}), &x.Sim)
	var took []int64
	log.Drain(func(l reqlog.Line) { took = append(took, (l.Ended-l.Due)/ms) })
	if fmt.Sprint(took) != "[500 500]" {
		t.Errorf("given up after %d ms", took)
	}
}

// Requests to other origins count below a limit of the rate as those to the server do.
func TestOriginsBelowACap(t *testing.T) {
	x := newWorld(0, 2)
	r := simulate(t, abroadPlan(x.route, func(p *loadplan.Plan) {
		p.Connections, p.Duration, p.Drain, p.Cap = 5, loadplan.Seconds(20*s), 0, loadplan.RatePerSecond(20)
	}), &x.Sim)
	if n := len(x.asked); n > 20*20+2 || n < 20*20*95/100 || r.Total.Completed < 20*20/2*9/10 {
		t.Errorf("%d arrived, %d completed; want 400 and 200", n, r.Total.Completed)
	}
}

// A redirect that a step leads to whose message was lent until the run ended is waited for as any other. The
// server is gone meanwhile.
func TestLentStepAbroadAtTheEnd(t *testing.T) {
	fill := proto.Fill{Body: make([]byte, 200<<10)}
	does := scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) {
		return scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
			n := 0
			if r != nil {
				n = u.State.(int) + 1
			}
			u.State = n
			step := scenario.Step{Message: proto.Message{Request: n}, KeepGoing: true, Hop: n > 0, Origin: n}
			if n == 1 {
				step.Message.Fill = &fill
			}
			return step
		}), nil
	}}
	x := newWorld(0, 1, 2)
	serve, reach := x.Server, x.Reach
	x.Reach = func(addr int) (int64, error) {
		if addr == 0 && x.Now() > 0 {
			return 0, syscall.ECONNREFUSED
		}
		return reach(addr)
	}
	x.Server = func(p *ring.Peer, b []byte) {
		if bytes.Contains(b, []byte("HTTP/1.1")) { // else the rest of the upload
			serve(p, b)
		}
		if p.Addr == 0 {
			p.Hangup(15*ms, io.EOF)
		}
	}
	p := abroadPlan(x.route, func(p *loadplan.Plan) {
		p.Scenario = does
		p.Requests[1].Method, p.Requests[1].Body = "POST", []byte{}
		p.Requests[1].Holes = []proto.Hole{{In: proto.InBody}}
		p.Duration, p.Connecting = loadplan.Seconds(20*s), loadplan.Seconds(s)
	})
	r := simulate(t, p, &slowSends{takes: 5 * s, Sim: &x.Sim})
	if r.Total.Sent != 1 || r.Unfinished != 1 || r.Redirects != 2 || r.Ended != loadresult.Gone {
		t.Errorf("%d sent, %d unfinished, %d redirects, ended %s", r.Total.Sent, r.Unfinished, r.Redirects, r.Ended)
	}
}
