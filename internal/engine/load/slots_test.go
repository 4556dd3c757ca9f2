package load

import (
	"io"
	"syscall"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
)

// slow is a server that is connected to after a time, and answers after another.
func slow(connect, after int64, server func(p *ring.Peer, b []byte)) *ring.Sim {
	if server == nil {
		server = func(p *ring.Peer, _ []byte) { p.Reply(after, hello) }
	}
	return &ring.Sim{Server: server, Accept: func(int) (int64, error) { return connect, nil }}
}

var goodbye = []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")

// The wait for a new connection is latency, and not service time: of all requests but the
// first of each slot, for which the load began when it was connected.
func TestConnectingIsLatency(t *testing.T) {
	closes := func(p *ring.Peer, _ []byte) { p.Reply(10*ms, goodbye); p.Hangup(10*ms, io.EOF) }
	for name, c := range map[string]struct {
		reconnect int
		server    func(*ring.Peer, []byte)
	}{"--reconnect always": {1, nil}, "a server that closes": {0, closes}} {
		p := simPlan(func(p *loadplan.Plan) {
			p.Connections, p.Duration, p.Reconnect = 3, loadplan.Seconds(3*s), c.reconnect
		})
		r := simulate(t, p, slow(50*ms, 10*ms, c.server))
		l, v := r.Total.Latency, r.Total.Service
		if l.Count != 150 || l.Min != 10*ms || l.Max != 60*ms || l.Sum != nanoseconds(3*(10+49*60)*ms) {
			t.Errorf("%s: latency of %d from %d to %d ns, in all %d", name, l.Count, l.Min, l.Max, l.Sum)
		}
		if v.Count != 150 || v.Min != 10*ms || v.Max != 10*ms || v.Sum != nanoseconds(150*10*ms) {
			t.Errorf("%s: service time of %d from %d to %d ns", name, v.Count, v.Min, v.Max)
		}
		if got := r.Connect; got.Min != 50*ms || got.Max != 50*ms {
			t.Errorf("%s: connects from %d to %d ns", name, got.Min, got.Max)
		}
		for _, iv := range r.Intervals[:3] {
			if iv.Max != 60e3 {
				t.Errorf("%s: in second %d latency is %v µs at most", name, iv.Index, iv.Max)
			}
		}
	}
}

// Nothing changes for connections that are kept: service time is latency, and not counted.
func TestKeptConnections(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 3, loadplan.Seconds(1*s) })
	r := simulate(t, p, slow(50*ms, 10*ms, nil))
	if l := r.Total.Latency; l.Count != 300 || l.Max != 10*ms || r.Total.Service.Count != 0 {
		t.Errorf("%d, %d ns at most; %d of service time", l.Count, l.Max, r.Total.Service.Count)
	}
}

// From some second on connections are new ones: service time is that of all requests, also of
// those before.
func TestServiceTimeIsOfAll(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Duration = loadplan.Seconds(2500 * ms) })
	sim := slow(90*ms, 10*ms, nil)
	kept := 0
	sim.Server = func(p *ring.Peer, _ []byte) {
		if kept++; kept < 151 {
			p.Reply(10*ms, hello)
			return
		}
		p.Reply(10*ms, goodbye)
		p.Hangup(10*ms, io.EOF)
	}
	r := simulate(t, p, sim)
	// 151 take 1.51 s, the others 100 ms each: sent from 1.6 to 2.4 s.
	l, v := r.Total.Latency, r.Total.Service
	if l.Count != 160 || l.Sum != nanoseconds((151*10+9*100)*ms) || v.Count != 160 || v.Min != 10*ms || v.Max != 10*ms {
		t.Errorf("latency of %d, in all %d ns; service time of %d from %d to %d", l.Count, l.Sum, v.Count, v.Min, v.Max)
	}
}

// A slot of a pipeline is free from its own answer on, and the one that is free for the
// longest sends first.
func TestPipelinedSlots(t *testing.T) {
	for _, streams := range []int{1, 2} {
		p := simPlan(func(p *loadplan.Plan) { p.Pipeline, p.Reconnect, p.Requested, p.Duration = 2, 2, 10, 0 })
		if streams == 1 {
			p.Pipeline = 1
			p.Reconnect = 1
		}
		r := simulate(t, p, slow(50*ms, 0, func(p *ring.Peer, b []byte) {
			for i := range int64(streams) {
				p.Reply((i+1)*10*ms, hello)
			}
		}))
		// Of two the answers come 10 and 20 ms after the connection; both then wait 50 ms, and
		// the first 10 ms more for the other.
		want := int64(10*ms + 9*60*ms)
		if streams == 2 {
			want = 10*ms + 20*ms + 8*70*ms
		}
		if l := r.Total.Latency; l.Count != 10 || l.Sum != nanoseconds(want) || r.Total.Service.Max != int64(streams)*10*ms {
			t.Errorf("%d at once: latency of %d, in all %d ns, not %d; service time %d ns at most",
				streams, l.Count, l.Sum, want, r.Total.Service.Max)
		}
	}
}

// After an exchange that failed its slot is free, and the next request of it due; what became
// due in the warm-up is of the warm-up.
func TestSlotsAfterFailures(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Duration = loadplan.Seconds(1 * s) })
	n := 0
	r := simulate(t, p, slow(100*ms, 0, func(p *ring.Peer, _ []byte) {
		if n++; n == 1 {
			p.Hangup(20*ms, syscall.ECONNRESET) // no answer on a connection that had served none
			return
		}
		p.Reply(10*ms, hello)
	}))
	if l := r.Total.Latency; r.Total.Failed != 1 || l.Max != 110*ms || l.Count != 88 {
		t.Errorf("%d failed; %d others, latency %d ns at most", r.Total.Failed, l.Count, l.Max)
	}
	p = simPlan(func(p *loadplan.Plan) {
		p.Warmup, p.Duration, p.Reconnect = loadplan.Seconds(100*ms), loadplan.Seconds(1*s), 1
	})
	r = simulate(t, p, slow(200*ms, 10*ms, nil))
	// Sent at 0, 210, 420, 630, 840 and 1050 ms; the second was due at 10 ms.
	if r.Warmup != 2 || r.Total.Completed != 4 || r.Total.Latency.Min != 210*ms {
		t.Errorf("%d before the window, %d in it, latency %d ns at least", r.Warmup, r.Total.Completed,
			r.Total.Latency.Min)
	}
}

// nanoseconds is a sum of latencies that is known.
func nanoseconds(n int64) (s metric.Sum) {
	s.AddValue(n)
	return s
}
