package load

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// numbered are n requests, of paths that are their places, with weights in turn.
func numbered(n int, weights ...int) []loadplan.Request {
	all := make([]loadplan.Request, n)
	for i := range all {
		all[i] = loadplan.Request{Weight: weights[i%len(weights)], Request: proto.Request{Method: "GET",
			Authority: "sim", Path: "/" + strconv.Itoa(i)}}
	}
	return all
}

// takenBy is how often each request is the turn of a worker of the plan's parts, with the
// threads that each is given.
func takenBy(parts []loadplan.Plan, threads func(part int) int) []int {
	counts := make([]int, len(parts[0].Requests))
	for k := range parts {
		p := &parts[k]
		n := min(threads(k), p.Connections)
		for i := range n {
			f, w := flow.New(p, i, n), flow.Window{End: flow.NotYet}
			for f.Left > 0 {
				counts[f.NextRequest(0, &w).Request]++
			}
		}
	}
	return counts
}

// With a number of requests each is sent as often as if one thread of one machine had sent
// them, whatever the threads, connections, weights, clients and agents are.
func TestRequestsInTurn(t *testing.T) {
	for _, requests := range [][]loadplan.Request{numbered(250, 1), numbered(7, 1), numbered(60, 1, 6, 2, 3),
		numbered(13, 5, 1)} {
		for _, requested := range []int64{100, 250, 997, 2501} {
			for _, connections := range []int{1, 4, 5, 10, 33} {
				p := simPlan(func(p *loadplan.Plan) {
					p.Requests, p.Requested, p.Connections, p.Duration = requests, requested, connections, 0
				})
				for _, rate := range []loadplan.Rate{0, loadplan.RatePerSecond(1000)} {
					p.Rate = rate
					inTurn(t, p)
				}
			}
		}
	}
}

// inTurn holds against a single thread what others send of a plan.
func inTurn(t *testing.T, p loadplan.Plan) {
	t.Helper()
	want := takenBy([]loadplan.Plan{p}, func(int) int { return 1 })
	for _, weights := range [][]int{{1}, {1, 1}, {1, 1, 1}, {4, 2, 2}, {7, 3}} {
		parts := p.SplitBy(weights)
		if len(parts) > p.Connections || p.Connections < 10 && len(parts) > 1 && weights[0] > 1 {
			continue // a part would have no connection
		}
		for _, threads := range []func(int) int{
			func(int) int { return 1 }, func(int) int { return 2 }, func(k int) int { return 3 + k },
		} {
			got := takenBy(parts, threads)
			for k := range want {
				if got[k] != want[k] {
					t.Fatalf("-n %d -c %d -R %v, %d requests, the first of weight %d; parts of %v, %d threads "+
						"and more: request %d was sent %d times, not %d", p.Requested, p.Connections,
						p.Rate.PerSecond(), len(want), p.Requests[0].Weight, weights, threads(0), k, got[k], want[k])
				}
			}
		}
	}
}

// What one thread sends is what the weights say, and of alike ones each as often as any other
// or once more.
func TestRequestsAreEven(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Requests, p.Requested, p.Connections = numbered(60, 1), 1234, 5 })
	for i, n := range takenBy([]loadplan.Plan{p}, func(int) int { return 1 }) {
		if n != 1234/60 && n != 1234/60+1 {
			t.Errorf("request %d was sent %d times", i, n)
		}
	}
}

// The warm-up takes nothing of what the window is to send.
func TestWarmupTakesNoTurn(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Requests, p.Requested, p.Connections = numbered(10, 1), 14, 2
		p.Warmup, p.Duration = loadplan.Seconds(105*ms), 0
	})
	counts := map[string]int{}
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if p.Now() >= 110*ms {
			counts[string(b[4:6])]++
		}
		p.Reply(10*ms, hello)
	}})
	if r.Warmup != 22 || len(counts) != 10 {
		t.Errorf("%d before the window; in it %v", r.Warmup, counts)
	}
	for path, n := range counts {
		want := 1
		if path < "/4" {
			want = 2
		}
		if n != want {
			t.Errorf("%s was sent %d times, not %d", path, n, want)
		}
	}
}

// A server counts each path as often as the others, of threads that share connections unevenly.
func TestRequestsInTurnAtAServer(t *testing.T) {
	var lock sync.Mutex
	counts := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		counts[r.URL.Path]++
		lock.Unlock()
		io.WriteString(w, "ok")
	}))
	defer server.Close()
	to := netip.MustParseAddrPort(server.Listener.Addr().String())
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: server.URL + "/", Host: to.Addr().String(), Port: to.Port()}
	p.Requests = numbered(1000, 1)
	for i := range p.Requests {
		p.Requests[i].Authority = to.String()
	}
	p.Connections, p.Threads, p.Requested, p.Duration = 5, 2, 1000, 0
	p.Warmup = loadplan.Seconds(20 * time.Millisecond)
	r, err := Run(t.Context(), p, nil)
	if err != nil || r.Total.Completed != 1000 {
		t.Fatalf("%+v %v", r, err)
	}
	lock.Lock()
	defer lock.Unlock()
	warm := int64(0)
	for i := range p.Requests {
		n := counts["/"+strconv.Itoa(i)]
		if warm += int64(n - 1); n < 1 {
			t.Errorf("request %d was never sent", i)
		}
	}
	if warm != r.Warmup+r.Retried {
		t.Errorf("%d more than once, and %d in the warm-up", warm, r.Warmup)
	}
}
