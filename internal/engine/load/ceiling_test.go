package load

import (
	"io"
	"slices"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
	"dyno/internal/fact"
)

// inAnySecond is how many of the ascending instants lie within a second at most.
func inAnySecond(instants []int64) (most int) {
	from := 0
	for i, at := range instants {
		for instants[from] <= at-s {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// Below a ceiling a server that stood still is not made up to at once, and what is sent again
// counts with what is sent for the first time. Without one both go as before.
func TestCeiling(t *testing.T) {
	const rate = 1000
	stall := func(at *[]int64) *ring.Sim {
		return &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			*at = append(*at, p.Now())
			wait := int64(0)
			if now := p.Now(); now >= 2*s && now < 5*s {
				wait = 5*s - now
			}
			p.Reply(wait, hello)
		}}
	}
	closes := func(at *[]int64) *ring.Sim {
		answers := map[int]int{}
		return &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			*at = append(*at, p.Now())
			if answers[p.N]++; answers[p.N]%2 == 0 {
				p.Hangup(0, io.EOF)
				return
			}
			p.Reply(0, hello)
		}}
	}
	for name, c := range map[string]struct {
		server  func(*[]int64) *ring.Sim
		ceiling float64
		least   int // sent in the worst second
		most    int
		held    bool
	}{
		"a stall":                  {stall, 0, 3 * rate, 5 * rate, false},
		"a stall, below a ceiling": {stall, rate, rate, rate + rate/10 + 1, true},
		"a stall, with some room":  {stall, 1.5 * rate, 1.5*rate - 1, 1.5*rate + 1.5*rate/10 + 1, true},
		"sent again":               {closes, 0, 1.3 * rate, 2 * rate, false},
		"sent again, below one":    {closes, rate, rate, rate + rate/10 + 1, true},
		"in order, below one":      {func(at *[]int64) *ring.Sim { return steadyAt(at) }, rate, rate, rate + 1, false},
	} {
		var at []int64
		p := simPlan(func(p *loadplan.Plan) {
			p.Rate, p.OwnerLimit, p.Connections = loadplan.RatePerSecond(rate), loadplan.RatePerSecond(c.ceiling), 50
			p.Duration, p.Drain = loadplan.Seconds(10*s), loadplan.Seconds(30*s)
		})
		r := simulate(t, p, c.server(&at))
		slices.Sort(at)
		if n := inAnySecond(at); n < c.least || n > c.most {
			t.Errorf("%s: %d requests in a second, want %d to %d", name, n, c.least, c.most)
		}
		if r.Total.Sent != 10*rate || r.Retried == 0 && r.Total.Completed != 10*rate {
			t.Errorf("%s: %d sent, %d completed of %d", name, r.Total.Sent, r.Total.Completed, 10*rate)
		}
		said := has[fact.OwnerAllows](r)
		if said != c.held {
			t.Errorf("%s: that requests waited is said: %v; %+v", name, said, r.Notices)
		}
	}
}

// steadyAt answers at once, and notes when it was asked.
func steadyAt(at *[]int64) *ring.Sim {
	return &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		*at = append(*at, p.Now())
		p.Reply(0, hello)
	}}
}

// After a stall a load at the ceiling itself is on time again, in twenty times as long, and that it
// was held back is not the generator's own delay.
func TestCeilingIsCaughtUp(t *testing.T) {
	server := &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		wait := int64(0)
		if now := p.Now(); now >= 2*s && now < 2*s+300*ms {
			wait = 2*s + 300*ms - now
		}
		p.Reply(wait, hello)
	}}
	r := simulate(t, simPlan(func(p *loadplan.Plan) {
		p.Rate, p.OwnerLimit, p.Connections = loadplan.RatePerSecond(1000), loadplan.RatePerSecond(1000), 50
		p.Duration = loadplan.Seconds(12 * s)
	}), server)
	last := r.Intervals[11]
	if last.Completed != 1000 || last.Max > 1000 {
		t.Errorf("in the last second %d completed, within %v µs", last.Completed, last.Max)
	}
	for _, iv := range r.Intervals {
		if iv.LagMax > time.Millisecond {
			t.Errorf("second %d: the generator's own delay is %v", iv.Index, iv.LagMax)
		}
	}
}

// A capped closed workload never sends more than the cap in a second. Latency is from when a request
// could be sent, so the waiting for the cap is not in it, and a slow server is asked less.
func TestCap(t *testing.T) {
	for _, c := range []struct {
		cap, took   int64 // a second, and ns for an answer
		connections int
		want        int64 // in 10 s, to 1 %
	}{
		{1000, 1e6, 50, 10_000}, {7, 1e6, 4, 70}, {3, 0, 8, 30}, {20_000, 10e6, 10, 10_000},
	} {
		var at []int64
		p := simPlan(func(p *loadplan.Plan) {
			p.Cap, p.Connections = loadplan.RatePerSecond(float64(c.cap)), c.connections
			p.Duration = loadplan.Seconds(10 * s)
		})
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			at = append(at, p.Now())
			p.Reply(c.took, hello)
		}})
		slices.Sort(at)
		if n := inAnySecond(at); int64(n) > c.cap+c.cap/100+1 {
			t.Errorf("cap %d: %d in a second", c.cap, n)
		}
		if n := r.Total.Sent; n < c.want-c.want/100-1 || n > c.want+c.want/100+1 {
			t.Errorf("cap %d, answers after %v: %d sent, want %d", c.cap, time.Duration(c.took), n, c.want)
		}
		if most := quantile(r.Total.Latency, 1); most > c.took+c.took/100+1e6 {
			t.Errorf("cap %d: the longest latency is %v, of answers after %v", c.cap, time.Duration(most), time.Duration(c.took))
		}
	}
}
