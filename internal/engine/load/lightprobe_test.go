package load

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
)

// answering is a plan of requests to a server that answers all, and counts them and
// its connections.
func answering(t *testing.T) (p loadplan.Plan, requests, conns *atomic.Int64) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	requests, conns = new(atomic.Int64), new(atomic.Int64)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			conns.Add(1)
			go func() {
				for b := make([]byte, 4096); ; { // requests are smaller, and come one by one
					if _, err := c.Read(b); err != nil {
						return
					}
					requests.Add(1)
					c.Write(hello)
				}
			}()
		}
	}()
	p = loadplan.DefaultPlan()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	p.Target = loadplan.Target{URL: "http://" + at.String() + "/", Host: at.Addr().String(), Port: at.Port()}
	p.Requests = []loadplan.Request{{Weight: 1, Request: proto.Request{Method: "GET", Authority: at.String(), Path: "/"}}}
	p.Connections, p.Threads = 2, 1
	return p, requests, conns
}

// A probe and the load beside it begin together, end together, and count each its own.
func TestProbe(t *testing.T) {
	p, requests, conns := answering(t)
	p.Duration, p.Probe = loadplan.Seconds(500*time.Millisecond), loadplan.RatePerSecond(50)
	r, err := Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	side := r.Probe
	checkAccounts(t, r)
	checkAccounts(t, side)
	if got := r.Total.Sent + side.Total.Sent; got != requests.Load() {
		t.Errorf("%d and %d sent, the server had %d", r.Total.Sent, side.Total.Sent, requests.Load())
	}
	if conns.Load() != 52 || r.Opened != 2 || side.Opened != 50 {
		t.Errorf("%d connections, %d and %d", conns.Load(), r.Opened, side.Opened)
	}
	// Poisson with a mean of 25: five standard deviations.
	if n := side.Total.Sent; n == 0 || n > 50 || r.Ended != loadresult.ByDuration || side.Ended != loadresult.ByDuration {
		t.Errorf("%d sent by the probe; ended by %s and %s", n, r.Ended, side.Ended)
	}
	if apart := r.Started.Sub(side.Started).Abs(); apart > time.Duration(p.Duration)/2 {
		t.Errorf("they began %v apart", apart)
	}
	if r.Plan.Seed == 0 || side.Plan.Seed != r.Plan.Seed+1 || r.Plan.Probe != p.Probe || r.Plan.Open() {
		t.Errorf("seeds %d and %d, probe %v", r.Plan.Seed, side.Plan.Seed, r.Plan.Probe)
	}
}

// A load that ends first takes its probe with it, and one that nobody answers does too.
func TestProbeEndsWithTheLoad(t *testing.T) {
	p, _, _ := answering(t)
	p.Duration, p.Requested, p.Probe = 0, 100, loadplan.RatePerSecond(20)
	r, err := Run(t.Context(), p, nil)
	if err != nil || r.Ended != loadresult.ByRequests || r.Total.Completed != 100 || r.Probe.Ended != loadresult.Aborted {
		t.Fatalf("%+v %v", r, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.Target.Port = l.Addr().(*net.TCPAddr).AddrPort().Port()
	l.Close()
	r, err = Run(t.Context(), p, nil)
	if err != nil || r.Ended != loadresult.Unreachable || r.Probe.Total.Sent != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	p.Ring = "none"
	if _, err = Run(t.Context(), p, nil); err == nil {
		t.Error("no fault of the load")
	}
}

// What ends a run for what it measured is told from an interruption.
func TestAborted(t *testing.T) {
	p, _, _ := answering(t)
	for cause, want := range map[error]loadresult.Ending{loadresult.ErrAborted: loadresult.Aborted, context.Canceled: loadresult.Interrupted} {
		ctx, end := context.WithCancelCause(t.Context())
		r, err := Run(ctx, p, func(iv loadresult.Interval) {
			if iv.Service.Count != 0 {
				t.Error("service time in a closed loop")
			}
			end(cause)
		})
		if err != nil || r.Ended != want || r.Total.Completed == 0 || r.Measured < time.Second ||
			r.Measured > 5*time.Second {
			t.Errorf("%v: ended by %s after %v, %v", cause, r.Ended, r.Measured, err)
		}
	}
}
