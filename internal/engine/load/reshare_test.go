package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// A told ring is one whose worker is told something while it waits.
type told struct {
	ring.Ring
	tell func(now int64)
}

func (r told) Wait(until int64) error {
	err := r.Ring.Wait(until)
	r.tell(r.Now())
	return err
}

// A worker that has nothing left of its old share takes what is due of the new one, and one
// that was told of it too late to leave the rest of the old to others says so.
func TestShareAfterTheLast(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Rate, p.Connections, p.Duration = loadplan.RatePerSecond(1), 10, loadplan.Seconds(10*s)
	})
	for _, c := range []struct {
		weights       []int
		heard         int64
		sent, notices int
	}{
		{[]int{1, 9}, 6 * s, 4, 0}, // 5 s, and the next would be 15 s
		{[]int{1, 9}, 7500 * ms, 4, 0},
		{[]int{1, 1}, 6 * s, 7, 0}, // 0, 2, 4, 6 and 8 s
		{[]int{1, 1}, 7500 * ms, 7, 1},
	} {
		p := p.SplitBy(c.weights)[0]
		r := simulateWith(t, p, func(g *gate) ring.Ring {
			return told{steady(ms), func(now int64) {
				if now >= c.heard && g.Share.Load() == nil {
					q := p
					q.Part, q.Parts, q.Weights = 0, 1, nil
					g.Share.Store(&flow.Reshare{Plan: q, At: 7 * s})
				}
			}}
		})
		if r.Total.Sent != int64(c.sent) || len(r.Notices) != c.notices {
			t.Errorf("%+v: %d were sent; %+v", c, r.Total.Sent, r.Notices)
		}
	}
}

// A load that is told of another share has it from that instant on, exactly.
func TestRunShared(t *testing.T) {
	var served atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	defer server.Close()
	to := netip.MustParseAddrPort(server.Listener.Addr().String())
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: server.URL + "/", Host: to.Addr().String(), Port: to.Port()}
	p.Requests = []loadplan.Request{{Weight: 1, Request: proto.Request{Method: "GET", Authority: to.String(), Path: "/"}}}
	p.Connections, p.Threads, p.Rate, p.Duration = 8, 4, loadplan.RatePerSecond(400), loadplan.Seconds(2*time.Second)
	p.Drain = loadplan.Seconds(time.Minute) // what is due is sent, however late
	p = p.SplitBy([]int{1, 3})[0]
	p.Threads = 2
	shares := make(chan Share, 1)
	r, err := RunShared(t.Context(), p, func(context.Context) time.Time {
		shares <- Share{After: time.Second, Part: 0, Weights: []int{1}}
		return time.Now().Add(50 * time.Millisecond)
	}, shares, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Total.Sent; n != 500 || served.Load() != n {
		t.Errorf("%d were sent and %d served, want 100 and then 400", n, served.Load())
	}
}
