package load

import (
	"slices"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/transport"
)

// A closed loop that begins with others sends to sixteen connections at a time until it has
// sent to all, and from then on to each that has answered, at once.
func TestEase(t *testing.T) {
	for easing, want := range map[bool]map[int64]int{
		false: {0: 40, 1000 * us: 40, 2000 * us: 40},
		// The first of the seventeen is the one whose opening lets the load begin.
		true: {0: 17, 50 * us: 16, 100 * us: 7, 1000 * us: 40, 2000 * us: 40},
	} {
		p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Requested = 40, 120 })
		protocol, err := transport.NewProtocols(&p)
		if err != nil {
			t.Fatal(err)
		}
		var sent []int64
		sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			sent = append(sent, p.Now())
			p.Reply(ms-(p.Now()-sent[0])%ms, hello)
		}}
		w, err := newWorker(&p, sim, []ring.Addr{{Unix: "simulated"}}, protocol, newGate(1), 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		w.rampingIn = easing
		w.publish = func(*metric.Counters) *metric.Counters { return metric.NewCounters() }
		if err := w.runLoop(); err != nil {
			t.Fatal(err)
		}
		for at, n := range want {
			if got := sentAt(sent, sent[0]+at); got != n {
				t.Errorf("easing %v: %d sent after %d ns, want %d", easing, got, at, n)
			}
		}
		if len(sent) != 120 || !slices.IsSorted(sent) {
			t.Errorf("easing %v: %d sent", easing, len(sent))
		}
	}
}

// sentAt is how many of the instants are at.
func sentAt(instants []int64, at int64) (n int) {
	for _, i := range instants {
		if i == at {
			n++
		}
	}
	return n
}
