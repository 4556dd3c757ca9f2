package dial

import (
	"net/netip"
	"reflect"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

const ms = int64(time.Millisecond)

// addr is an address of a server, seen from a source or none.
func addr(to, from string) ring.Addr {
	a := ring.Addr{TCP: netip.MustParseAddrPort(to)}
	if from != "" {
		a.From = netip.MustParseAddr(from)
	}
	return a
}

const never = int64(1) << 62

// One server is one destination from however many sources: nothing else can be dialed in its place.
func TestSourcesAreNoDestinations(t *testing.T) {
	a := New(&ring.Sim{}, []ring.Addr{addr("192.0.2.1:80", "127.0.0.1"), addr("192.0.2.1:80", "127.0.0.2")}, 2, 0, 5000*ms)
	first, _ := a.Dial(0, 0)
	second, _ := a.Dial(1, 0)
	if first.Addr != 0 || second.Addr != 1 {
		t.Errorf("dialed %d and %d, want both", first.Addr, second.Addr)
	}
	if at := a.WidenAt(0, first, never); at != never {
		t.Errorf("another is dialed at %d", at)
	}
	if _, ok := a.Fail(0, first, syscall.ECONNREFUSED, ms); ok {
		t.Error("another is dialed after a failure")
	}
}

// Which errors say that an address is lost: those of a source, or of the generator, do not.
func TestErrorsAboutAddresses(t *testing.T) {
	for _, c := range []struct {
		err   error
		from  string
		known bool // a connection to it was opened before
		lost  bool
	}{
		{syscall.ECONNREFUSED, "", false, true},
		{syscall.ECONNREFUSED, "127.0.0.1", true, true},
		{syscall.ENETUNREACH, "", false, true},
		{syscall.ENETUNREACH, "127.0.0.1", false, false},
		{syscall.EADDRNOTAVAIL, "", false, true}, // there is no IPv6 here
		{syscall.EADDRNOTAVAIL, "", true, false},
		{syscall.EADDRNOTAVAIL, "127.0.0.1", false, false},
		{syscall.EINVAL, "", false, true}, // a route that leads nowhere
		{syscall.EMFILE, "", false, false},
		{failure.ErrTimeout, "", false, true},
		{failure.ErrTimeout, "", true, true},
	} {
		a := New(&ring.Sim{}, []ring.Addr{addr("192.0.2.1:80", c.from), addr("192.0.2.2:80", c.from)}, 1, 0, 5000*ms)
		if c.known {
			own, _ := a.Dial(0, 0)
			a.Connected(0, own, 0)
			a.turn = 0
		}
		own, _ := a.Dial(0, 10*ms)
		_, other := a.Fail(0, own, c.err, 20*ms)
		if a.dests[0].lost != c.lost || other != c.lost {
			t.Errorf("%v from %q, known %v: lost %v, another is dialed %v", c.err, c.from, c.known, a.dests[0].lost, other)
		}
	}
}

// A lost address is called beside dials, one call at a time, after pauses that double. None of these
// calls becomes a connection.
func TestChecksHaveAPace(t *testing.T) {
	var calls []int64
	sim := &ring.Sim{}
	sim.Reach = func(addr int) (int64, error) {
		if addr == 0 {
			calls = append(calls, sim.Now())
			return 0, syscall.ECONNREFUSED
		}
		return 0, nil
	}
	a := New(sim, []ring.Addr{addr("192.0.2.1:80", ""), addr("192.0.2.2:80", "")}, 1, 0, 5000*ms)
	for now := int64(0); now < 200_000*ms; now += 100 * ms {
		sim.Wait(now)
		own, err := a.Dial(0, now)
		for c, ok := sim.Next(); ok; c, ok = sim.Next() {
			switch life := uint32(c.User >> 32); {
			case life != own.Life:
				if _, connected := a.Hear(0, own, life, c.Err, now); connected {
					t.Fatal("a check became a connection")
				}
			case c.Err != nil:
				if own, _ = a.Fail(0, own, c.Err, now); own.Addr != 1 {
					t.Fatalf("%v: goes on with %+v", time.Duration(now), own)
				}
			default:
				a.Connected(0, own, now)
			}
		}
		if err != nil || now > 0 && own.Addr != 1 {
			t.Fatalf("%v: dialed %+v, %v", time.Duration(now), own, err)
		}
		sim.Close(own.FD, false)
	}
	want := []int64{0, 1000 * ms, 3000 * ms, 7000 * ms, 15_000 * ms, 31_000 * ms, 61_000 * ms, 91_000 * ms, 121_000 * ms, 151_000 * ms, 181_000 * ms}
	if !reflect.DeepEqual(calls, want) {
		t.Errorf("called at %v", calls)
	}
}

// What workers lost is one loss, unless another worker connects there later.
func TestLostByWorkers(t *testing.T) {
	type worker struct {
		up, first, since, back, total int64
		lost                          bool
		times                         int
	}
	for what, c := range map[string]struct {
		workers []worker
		want    loadresult.LostAddress
	}{
		"by none":             {[]worker{{up: 1}, {up: -1}}, loadresult.LostAddress{}},
		"by one of two":       {[]worker{{up: 1, first: 20, since: 20, lost: true, times: 1}, {up: 5}}, loadresult.LostAddress{Since: 10, Times: 1}},
		"by both":             {[]worker{{up: 1, first: 20, since: 20, lost: true, times: 1}, {up: 5, first: 15, since: 15, lost: true, times: 1}}, loadresult.LostAddress{Since: 5, Times: 1}},
		"another connects":    {[]worker{{up: 1, first: 20, since: 20, lost: true, times: 1}, {up: 30}}, loadresult.LostAddress{Since: 10, Back: 20, IsBack: true, Times: 1, For: 10}},
		"another connected":   {[]worker{{up: -1, first: 20, since: 20, lost: true, times: 1}, {up: 19}}, loadresult.LostAddress{Since: 10, Times: 1}},
		"it is back":          {[]worker{{up: 40, first: 20, since: 28, back: 30, total: 6, times: 3}, {up: 35, first: 21, since: 21, back: 34, total: 13, times: 1}}, loadresult.LostAddress{Since: 10, Back: 24, IsBack: true, Times: 3, For: 13}},
		"again, and for good": {[]worker{{up: 25, first: 20, since: 28, lost: true, times: 2}}, loadresult.LostAddress{Since: 18, Times: 2}},
		"before the window":   {[]worker{{up: -1, first: 3, since: 3, lost: true, times: 1}}, loadresult.LostAddress{Since: -7, Times: 1}},
	} {
		var all []*Addresses
		for _, w := range c.workers {
			all = append(all, &Addresses{dests: []destination{{name: "a", up: w.up, loss: loss{lost: w.lost, times: w.times,
				first: w.first, since: w.since, back: w.back, total: w.total, why: "refused"}}, {name: "b", up: 1}}})
		}
		got := Lost(all, 0, 10)
		if c.want.Times == 0 {
			if got != nil {
				t.Errorf("%s: %+v", what, got)
			}
			continue
		}
		c.want.Address, c.want.Why, c.want.Addresses, c.want.Others = "a", "refused", 2, 1
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}
