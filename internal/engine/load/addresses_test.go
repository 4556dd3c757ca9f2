package load

import (
	"io"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// silent is an address that drops what is sent to it.
const silent = 3600 * s

// A site is a server with several addresses, in virtual time.
type site struct {
	ring.Sim
	addrs  []ring.Addr
	dialed [][]int64 // when each address was
	served []int     // requests that came to each address
}

// siteOf is a server at these addresses, where reach tells the outcome of connects.
func siteOf(reach func(addr int, now int64) (after int64, err error), addrs ...string) *site {
	p := &site{dialed: make([][]int64, len(addrs)), served: make([]int, len(addrs))}
	for _, a := range addrs {
		p.addrs = append(p.addrs, ring.Addr{TCP: netip.MustParseAddrPort(a)})
	}
	p.Reach = func(addr int) (int64, error) {
		p.dialed[addr] = append(p.dialed[addr], p.Now())
		return reach(addr, p.Now())
	}
	p.Server = func(q *ring.Peer, _ []byte) {
		p.served[q.Addr]++
		q.Reply(ms, hello)
	}
	return p
}

func (p *site) run(t *testing.T, plan loadplan.Plan) *loadresult.Result {
	t.Helper()
	return simulateAt(t, plan, p.addrs, func(*gate) ring.Ring { return p })
}

// dialedSince is how often an address was dialed from an instant on.
func (p *site) dialedSince(addr int, at int64) (n int) {
	for _, t := range p.dialed[addr] {
		if t >= at {
			n++
		}
	}
	return n
}

// The load begins as soon as each connection has an address that answers, and it is said which have
// not: an address that is silent gets 250 ms, one that fails gets none.
func TestFirstDialOfSeveralAddresses(t *testing.T) {
	ok, refused, six := int64(0), int64(-1), "[2001:db8::1]:80"
	for what, c := range map[string]struct {
		addrs       []string
		after       []int64 // of connects to each; refused; silent
		connections int
		begins      int64
		lost        []int
	}{
		"both answer":                  {[]string{six, "192.0.2.1:80"}, []int64{ok, ok}, 1, 0, nil},
		"the first is silent":          {[]string{six, "192.0.2.1:80"}, []int64{silent, ok}, 1, 250 * ms, []int{0}},
		"the first refuses":            {[]string{six, "192.0.2.1:80"}, []int64{refused, ok}, 1, 0, []int{0}},
		"any one of three":             {[]string{"192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80"}, []int64{ok, silent, ok}, 6, 250 * ms, []int{1}},
		"two of three":                 {[]string{"192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80"}, []int64{silent, silent, ok}, 1, 500 * ms, []int{0, 1}},
		"two of three, with one known": {[]string{"192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80"}, []int64{silent, silent, ok}, 3, 250 * ms, []int{0, 1}},
		"IPv4 comes before more IPv6":  {[]string{six, "[2001:db8::2]:80", "192.0.2.1:80"}, []int64{silent, silent, ok}, 1, 250 * ms, []int{0}},
		"one refuses while one is silent": {[]string{"192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80"},
			[]int64{silent, refused, ok}, 1, 250 * ms, []int{0, 1}},
		"nine are silent": {[]string{"192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80", "192.0.2.4:80", "192.0.2.5:80", "192.0.2.6:80",
			"192.0.2.7:80", "192.0.2.8:80", "192.0.2.9:80", "192.0.2.10:80"},
			[]int64{silent, silent, silent, silent, silent, silent, silent, silent, silent, ok}, 1, 2250 * ms,
			[]int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		p := siteOf(func(addr int, _ int64) (int64, error) {
			if c.after[addr] == refused {
				return 0, syscall.ECONNREFUSED
			}
			return c.after[addr], nil
		}, c.addrs...)
		began := int64(-1)
		serve := p.Server
		p.Server = func(q *ring.Peer, b []byte) {
			if began < 0 {
				began = p.Now()
			}
			serve(q, b)
		}
		r := p.run(t, simPlan(func(q *loadplan.Plan) {
			q.Connections, q.Duration = c.connections, loadplan.Seconds(1*s)
		}))
		if began != c.begins || r.Total.Failed != 0 || len(r.Failures) != 0 || r.Served != c.connections {
			t.Errorf("%s: began at %v, want %v; %d served, %+v", what, time.Duration(began),
				time.Duration(c.begins), r.Served, r.Failures)
		}
		var lost []int
		for _, l := range r.Lost {
			lost = append(lost, slices.Index(c.addrs, l.Address))
			if l.IsBack || l.Since > 0 || l.Others != len(c.addrs)-len(c.lost) || l.Addresses != len(c.addrs) {
				t.Errorf("%s: %+v", what, l)
			}
		}
		if !slices.Equal(lost, c.lost) {
			t.Errorf("%s: lost %+v, want %v", what, r.Lost, c.lost)
		}
	}
}

// If all are silent, that is known when the time for connecting is over, and not later.
func TestAllAddressesAreSilent(t *testing.T) {
	p := siteOf(func(int, int64) (int64, error) { return silent, nil }, "192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80")
	r := p.run(t, simPlan(func(q *loadplan.Plan) { q.Connections, q.Connecting = 2, loadplan.Seconds(5*s) }))
	if r.Ended != loadresult.Unreachable || p.Now() != 5*s || len(r.Lost) != 3 || r.Lost[0].Others != 0 {
		t.Errorf("ended by %s at %v, lost %+v", r.Ended, time.Duration(p.Now()), r.Lost)
	}
}

// An address that falls silent costs one connection 250 ms, and others nothing: it is left out, and
// is called again at a pace, without a request. When it answers, it has its share again.
func TestAddressFallsSilent(t *testing.T) {
	for what, c := range map[string]struct{ from, to int64 }{"for good": {2 * s, silent}, "for a time": {2 * s, 20 * s}} {
		p := siteOf(func(addr int, now int64) (int64, error) {
			if addr == 0 && now >= c.from && now < c.to {
				return silent, nil
			}
			return 0, nil
		}, "192.0.2.1:80", "192.0.2.2:80")
		r := p.run(t, simPlan(func(q *loadplan.Plan) {
			q.Rate, q.Connections, q.Reconnect = loadplan.RatePerSecond(400), 4, 50
			q.Duration, q.Connecting = loadplan.Seconds(60*s), loadplan.Seconds(5*s)
		}))
		if r.Total.Completed != 24000 || len(r.Failures) != 0 || r.Waiting != 0 {
			t.Errorf("%s: %d completed, %d waiting, %+v", what, r.Total.Completed, r.Waiting, r.Failures)
		}
		if late := r.Total.Latency.Max; late > 5*ms { // the other three connections have room
			t.Errorf("%s: a request took %v", what, time.Duration(late))
		}
		if len(r.Lost) != 1 || r.Lost[0].Address != "192.0.2.1:80" || r.Lost[0].Why != "timeout" || r.Lost[0].Times != 1 {
			t.Fatalf("%s: lost %+v", what, r.Lost)
		}
		l := r.Lost[0]
		if first := time.Duration(p.dialed[0][slices.IndexFunc(p.dialed[0], func(at int64) bool { return at >= c.from })]); l.Since != first {
			t.Errorf("%s: lost since %v, want %v", what, l.Since, first)
		}
		switch calls := p.dialedSince(0, c.from); {
		case c.to == silent && (l.IsBack || calls < 4 || calls > 8):
			t.Errorf("%s: called %d times while it was silent, %+v", what, calls, l)
		case c.to < silent && (!l.IsBack || l.Back < 20*time.Second || l.Back > 40*time.Second || p.dialedSince(0, 45*s) < 30):
			t.Errorf("%s: called %d times when it was back, %+v", what, p.dialedSince(0, 45*s), l)
		}
	}
}

// A server that goes at one address, and refuses, fails no request on other connections, and none of
// those that are dialed.
func TestAddressRefuses(t *testing.T) {
	p := siteOf(nil, "192.0.2.1:80", "192.0.2.2:80")
	p.Reach = func(addr int) (int64, error) {
		if addr == 0 && p.Now() >= 2*s {
			return 0, syscall.ECONNREFUSED
		}
		return 0, nil
	}
	serve := p.Server
	p.Server = func(q *ring.Peer, b []byte) {
		if q.Addr == 0 && p.Now() >= 2*s {
			q.Hangup(0, io.EOF)
			return
		}
		serve(q, b)
	}
	r := p.run(t, simPlan(func(q *loadplan.Plan) { q.Connections, q.Duration = 4, loadplan.Seconds(4*s) }))
	if r.Total.Failed != 0 || len(r.Failures) != 0 || r.Outage != 0 || r.Unavailable != 0 || len(r.Lost) != 1 ||
		r.Lost[0].Since != 2*time.Second || r.Lost[0].Why != "refused" || r.Lost[0].Others != 1 {
		t.Errorf("%d failed: %+v; lost %+v", r.Total.Failed, r.Failures, r.Lost)
	}
}

// An address that answers late has its share: it is given more time once it has answered.
func TestSlowAddressKeepsItsShare(t *testing.T) {
	p := siteOf(func(addr int, _ int64) (int64, error) { return []int64{400 * ms, 0}[addr], nil },
		"192.0.2.1:80", "192.0.2.2:80")
	r := p.run(t, simPlan(func(q *loadplan.Plan) {
		q.Connections, q.Reconnect, q.Duration = 2, 100, loadplan.Seconds(60*s)
	}))
	if len(r.Failures) != 0 || len(r.Lost) > 1 || len(r.Lost) == 1 && r.Lost[0].For != 400*time.Millisecond {
		t.Errorf("%+v, lost %+v", r.Failures, r.Lost)
	}
	if a, b := len(p.dialed[0]), len(p.dialed[1]); a < b-5 || a > b+5 {
		t.Errorf("dialed %d and %d times", a, b)
	}
}

// A server that is slow to accept some connections, and accepts others, is not lost.
func TestAddressAnswersOthers(t *testing.T) {
	n := 0
	p := siteOf(func(addr int, now int64) (int64, error) {
		if n++; addr == 0 && n%10 == 0 {
			return s, nil // its SYN was dropped, and comes again
		}
		return 0, nil
	}, "192.0.2.1:80", "192.0.2.2:80")
	r := p.run(t, simPlan(func(q *loadplan.Plan) {
		q.Connections, q.Reconnect, q.Duration = 20, 20, loadplan.Seconds(10*s)
	}))
	if len(r.Failures) != 0 || len(r.Lost) != 0 {
		t.Errorf("%+v, lost %+v", r.Failures, r.Lost)
	}
}

// The only address is told of if it is gone at the end, with since when.
func TestOnlyAddressIsGone(t *testing.T) {
	for what, back := range map[string]int64{"gone": silent, "away for a time": 4 * s} {
		p := siteOf(nil, "192.0.2.1:80")
		away := func() bool { return p.Now() >= 2*s && p.Now() < back }
		p.Reach = func(int) (int64, error) {
			if away() {
				return 0, syscall.ECONNREFUSED
			}
			return 0, nil
		}
		serve := p.Server
		p.Server = func(q *ring.Peer, b []byte) {
			if away() {
				q.Hangup(0, syscall.ECONNRESET)
				return
			}
			serve(q, b)
		}
		r := p.run(t, simPlan(func(q *loadplan.Plan) { q.Connections, q.Duration = 4, loadplan.Seconds(10*s) }))
		gone := back == silent
		if (len(r.Lost) == 1) != gone || gone && (r.Ended != loadresult.Gone || r.Lost[0].Since != 2*time.Second ||
			r.Lost[0].IsBack || r.Lost[0].Others != 0) {
			t.Errorf("%s: ended by %s, lost %+v", what, r.Ended, r.Lost)
		}
	}
}

// What the generator lacks says nothing about an address.
func TestOwnLimitsLoseNoAddress(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.EADDRNOTAVAIL} {
		n := 0
		p := siteOf(func(int, int64) (int64, error) {
			if n++; n > 4 && n%2 == 0 {
				return 0, err
			}
			return 0, nil
		}, "192.0.2.1:80", "192.0.2.2:80")
		r := p.run(t, simPlan(func(q *loadplan.Plan) { q.Connections, q.Reconnect, q.Duration = 4, 10, loadplan.Seconds(1*s) }))
		if len(r.Lost) != 0 || len(r.Failures) == 0 {
			t.Errorf("%v: lost %+v, %+v", err, r.Lost, r.Failures)
		}
	}
}
