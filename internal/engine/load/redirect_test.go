package load

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/reqlog"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// travelling sends request i to the origin that route has there, and follows each redirect to the
// next.
func travelling(route []int) scenario.Maker {
	at := func(u *scenario.User, i int) scenario.Step {
		u.State = i
		return scenario.Step{Message: proto.Message{Request: i}, KeepGoing: true, Hop: i > 0, Origin: route[i]}
	}
	return scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) {
		return scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
			switch {
			case r == nil:
				return at(u, 0)
			case r.Failed != "":
				return scenario.Fail()
			case r.Status == 302:
				return at(u, u.State.(int)+1)
			}
			return scenario.End()
		}), nil
	}}
}

// routePlan is a plan of one request that is redirected along a route.
func routePlan(route []int, change func(p *loadplan.Plan)) loadplan.Plan {
	return scenarioPlan(travelling(route), len(route), func(p *loadplan.Plan) {
		p.Steps = nil
		for i := range p.Requests {
			p.Requests[i].Name, p.Requests[i].Weight = "visit", 1
		}
		p.Connections, p.Duration = 1, 0
		change(p)
	})
}

// redirectPlan is a plan whose request is redirected twice, at the server.
func redirectPlan(change func(p *loadplan.Plan)) loadplan.Plan {
	return routePlan([]int{0, 0, 0}, change)
}

// redirecting answers after 10, 20 and 30 ms, the first two with a redirect.
func redirecting(n *int) *ring.Sim {
	return &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		*n++
		if i := int64(stepOf(b)); i < 2 {
			p.Reply((i+1)*10*ms, answer(302, "moved"))
		} else {
			p.Reply(30*ms, hello)
		}
	}}
}

// A redirect that is followed counts below a machine owner's ceiling as a request does: of 10
// requests/s that are redirected twice, 20/s are sent.
func TestRedirectsBelowACeiling(t *testing.T) {
	arrived := 0
	p := redirectPlan(func(p *loadplan.Plan) {
		p.Rate, p.Users, p.Connections, p.OwnerLimit = loadplan.RatePerSecond(10), 50, 50, loadplan.RatePerSecond(20)
		p.Duration, p.Drain = loadplan.Seconds(20*s), 0
	})
	simulate(t, p, redirecting(&arrived))
	if most := 20*21 + flow.CeilingLeast; arrived > most || arrived < most*95/100 {
		t.Errorf("%d arrived, want %d", arrived, most)
	}
}

// A request that is redirected counts once: from when it was due to its last answer. The redirects
// are counted apart.
func TestRedirectsAreOneRequest(t *testing.T) {
	for _, tc := range []struct {
		name             string
		change           func(p *loadplan.Plan)
		arrived          int
		latency, service int64 // ms, of three requests
	}{
		{"closed", func(*loadplan.Plan) {}, 9, 60 + 60 + 60, 0}, // service time is latency
		// Due at 0, 50 and 100 ms: the hops go before what waits for the connection.
		{"open", func(p *loadplan.Plan) { p.Rate, p.Users = loadplan.RatePerSecond(20), 3 }, 9,
			60 + 70 + 80, 60 + 60 + 60},
		{"open, at once", func(p *loadplan.Plan) { p.Rate, p.Connections = loadplan.RatePerSecond(20), 3 }, 9,
			60 + 60 + 60, 60 + 60 + 60},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log, arrived := reqlog.New(1), 0
			p := redirectPlan(func(p *loadplan.Plan) { p.Requested, p.Log = 3, log.Ring; tc.change(p) })
			r := simulate(t, p, redirecting(&arrived))
			total := r.Total
			if arrived != tc.arrived || total.Sent != 3 || total.Completed != 3 || total.Failed != 0 || r.Redirects != 6 {
				t.Errorf("%d arrived, %d sent, %d completed, %d failed, %d redirects", arrived, total.Sent,
					total.Completed, total.Failed, r.Redirects)
			}
			if l, s := sumOf(total.Latency), sumOf(total.Service); l != tc.latency || s != tc.service {
				t.Errorf("latency %d ms, service %d ms", l, s)
			}
			if total.Status[302] != 0 || total.Status[200] != 3 || total.Bodies != 3*5 {
				t.Errorf("%d of 302, %d of 200, %d bytes", total.Status[302], total.Status[200], total.Bodies)
			}
			if p.Open() && (r.Lag.Count != 3 || r.Late > 2) {
				t.Errorf("%d lags, %d late", r.Lag.Count, r.Late)
			}
			lines := 0
			log.Drain(func(l reqlog.Line) {
				if lines++; l.Ended-l.Sent != 60*ms || l.Status != 200 || l.Bytes != 5 {
					t.Errorf("%+v", l)
				}
			})
			if lines != 3 {
				t.Errorf("%d lines", lines)
			}
		})
	}
}

// What becomes of a hop becomes of the request: its connection is lost and it is sent again, it has
// no answer in time, or the run ends before one.
func TestRedirectsFail(t *testing.T) {
	for _, tc := range []struct {
		name                             string
		reply                            func(p *ring.Peer, n int) // to the third request that arrives
		completed, failed, retried, left int64
		latency                          int64
	}{
		{"lost and sent again", func(p *ring.Peer, n int) {
			if n == 3 {
				p.Hangup(5*ms, io.EOF)
			} else {
				p.Reply(30*ms, hello)
			}
		}, 1, 0, 1, 0, 10 + 20 + 5 + 30},
		{"lost twice", func(p *ring.Peer, _ int) { p.Hangup(5*ms, io.EOF) }, 0, 1, 0, 0, 0},
		{"no answer", func(*ring.Peer, int) {}, 0, 1, 0, 0, 0},
		{"an error", func(p *ring.Peer, _ int) { p.Reply(30*ms, unavailable) }, 0, 1, 0, 0, 60},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := 0
			sim := redirecting(&n)
			serve := sim.Server
			sim.Server = func(p *ring.Peer, b []byte) {
				if stepOf(b) == 2 {
					n++
					tc.reply(p, n)
					return
				}
				serve(p, b)
			}
			log := reqlog.New(1)
			r := simulate(t, redirectPlan(func(p *loadplan.Plan) {
				p.Requested, p.Timeout, p.Log = 1, loadplan.Seconds(500*ms), log.Ring
			}), sim)
			got := fmt.Sprint(r.Total.Sent, r.Total.Completed, r.Total.Failed, r.Unfinished)
			if want := fmt.Sprint(1, tc.completed, tc.failed, tc.left); got != want || r.Redirects != 2 {
				t.Errorf("sent, completed, failed, unfinished: %s, want %s; %d redirects", got, want, r.Redirects)
			}
			if tc.retried > 0 && r.Retried != tc.retried {
				t.Errorf("%d sent again", r.Retried)
			}
			if l := sumOf(r.Total.Latency) + sumOf(r.Total.ErrorLatency); l != tc.latency {
				t.Errorf("latency %d ms, want %d", l, tc.latency)
			}
			log.Drain(func(l reqlog.Line) {
				if l.Sent != l.Due {
					t.Errorf("%+v", l)
				}
			})
		})
	}
}

// Redirects of the warm-up are counted apart, and those that the run's end cuts short leave a
// request without an answer.
func TestRedirectsAtTheEdges(t *testing.T) {
	arrived := 0
	r := simulate(t, redirectPlan(func(p *loadplan.Plan) {
		p.Warmup, p.Duration, p.Drain = loadplan.Seconds(90*ms), loadplan.Seconds(75*ms), loadplan.Seconds(10*ms)
	}), redirecting(&arrived))
	// Due at 0 and 60 in the warm-up, at 120 in the window (90 to 165), whose drain ends at 175: the
	// last answer would come at 180.
	if r.Total.Sent != 1 || r.Total.Completed != 0 || r.Unfinished != 1 || r.Warmup != 2 {
		t.Errorf("%d sent, %d completed, %d unfinished, %d before", r.Total.Sent, r.Total.Completed, r.Unfinished, r.Warmup)
	}
	if r.Redirects != 2 || r.WarmupRedirects != 4 || arrived != 9 {
		t.Errorf("%d redirects, %d before, %d arrived", r.Redirects, r.WarmupRedirects, arrived)
	}
}

// Requests are followed over every protocol, with bodies, values and checks of the last answer, and
// some fail by name.
func TestRedirectsOverProtocols(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	heard := map[string]int{}
	say := func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		heard[fmt.Sprintf("%s %s %s%s", r.Method, r.URL.Path, body, r.Header.Get("Content-Type"))]++
		mu.Unlock()
		switch to, status, _ := strings.Cut(r.URL.Path[1:], "/"); to {
		case "away":
			rw.Header().Set("Location", "https://elsewhere.test/")
			rw.WriteHeader(301)
		case "odd":
			rw.Header().Set("Location", "%zz")
			rw.WriteHeader(301)
		case "end":
			io.WriteString(rw, "end "+string(body))
		default:
			n, _ := strconv.Atoi(to)
			rw.Header().Set("Location", fmt.Sprintf("../%d/%s", n-1, status))
			if n == 1 {
				rw.Header().Set("Location", "/end")
			}
			code, _ := strconv.Atoi(status)
			rw.WriteHeader(code)
			io.WriteString(rw, "no end")
		}
	}
	port, _ := serveHTTP3(t, say, nil)
	for name, p := range map[string]loadplan.Plan{
		loadplan.HTTP11: servedPlan(t, say, false, func(*loadplan.Plan) {}),
		loadplan.HTTP2:  servedPlan(t, say, true, func(p *loadplan.Plan) { p.HTTP, p.Streams = "2", 3 }),
		loadplan.HTTP3:  http3Plan(port, func(p *loadplan.Plan) { p.Streams = 3 }),
	} {
		mu.Lock()
		clear(heard)
		mu.Unlock()
		p.Follow, p.Requested, p.Duration, p.Connections = 2, 6*4, 0, 2
		p.Timeout, p.Connecting, p.Seed = loadplan.Seconds(60*s), loadplan.Seconds(60*s), 1
		p.Expectations.Body = []string{"contains:end"}
		p.Requests = nil
		for _, path := range []string{"/2/307", "/1/302", "/3/301", "/away", "/odd", "/2/303"} {
			p.Requests = append(p.Requests, loadplan.Request{Name: path, Weight: 1, Request: proto.Request{Method: "POST",
				Authority: "sim", Path: path, Body: []byte("x"), Header: []proto.Field{{Name: "Content-Type", Value: "t"}}}})
		}
		if err := onestep.SetScenario(&p, nil); err != nil {
			t.Fatal(err)
		}
		r := measure(t, p)
		if r.Total.Completed != 12 || r.Total.Failed != 12 || r.Redirects != 4*(2+1+2+2) || r.Total.Status[200] != 12 {
			t.Errorf("%s: %d completed, %d failed, %d redirects, %d of 200: %+v", name, r.Total.Completed,
				r.Total.Failed, r.Redirects, r.Total.Status[200], r.Failures)
		}
		const want = "map[GET /1/301 :4 GET /1/303 :4 GET /2/301 :4 GET /end :8 POST /1/302 xt:4 POST /1/307 xt:4 " +
			"POST /2/303 xt:4 POST /2/307 xt:4 POST /3/301 xt:4 POST /away xt:4 POST /end xt:4 POST /odd xt:4]"
		mu.Lock()
		got := fmt.Sprint(heard)
		mu.Unlock()
		if got != want {
			t.Errorf("%s: the server was asked\n%s, want\n%s", name, got, want)
		}
		said := map[string]int64{}
		for _, f := range r.Failures {
			said[string(f.Phase)+" "+f.Kind+": "+f.Detail] = f.Count
		}
		for _, want := range []string{"check redirects within 2: too many redirects: 2",
			`check redirects stay at the server: the redirect to "https://elsewhere.test/" leads to an origin that the ` +
				"command line does not name: no load goes there",
			`check redirects have a Location that can be followed: the redirect to "%zz" is no URL`} {
			if said[want] != 4 {
				t.Errorf("%s: not said four times: %s; %v", name, want, said)
			}
		}
	}
}
