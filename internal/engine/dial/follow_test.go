package dial

import (
	"fmt"
	"reflect"
	"syscall"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// dialed are the addresses that n connections in turn are dialed to, each of which answers once.
func dialed(t *testing.T, a *Addresses, all []ring.Addr, n int) (names []string) {
	t.Helper()
	for range n {
		own, err := a.Dial(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		a.Connected(0, own, 0)
		a.Carried(own, 1, true)
		names = append(names, all[own.Addr].TCP.Addr().String())
	}
	return names
}

// Connections go to the addresses that a name has now, in turn; those that it had are dialed no more,
// until it has them again. What went to each is counted, and each worker's counts add up by address.
func TestFollow(t *testing.T) {
	one, two, three := addr("192.0.2.1:80", ""), addr("192.0.2.2:80", ""), addr("192.0.2.3:80", "")
	a, known := New(&ring.Sim{}, []ring.Addr{one, two}, 1, 0, 5000*ms), []ring.Addr{one, two}
	for _, step := range []struct {
		now  []ring.Addr
		want []string
	}{
		{nil, []string{"192.0.2.1", "192.0.2.2", "192.0.2.1"}},
		{[]ring.Addr{three}, []string{"192.0.2.3", "192.0.2.3"}},
		{[]ring.Addr{two, three}, []string{"192.0.2.2", "192.0.2.3", "192.0.2.2", "192.0.2.3"}},
		{[]ring.Addr{one}, []string{"192.0.2.1"}},
	} {
		if step.now != nil {
			known = a.Follow(step.now, known)
		}
		if got := dialed(t, &a, known, len(step.want)); !reflect.DeepEqual(got, step.want) {
			t.Errorf("%v: dialed %v, want %v", step.now, got, step.want)
		}
	}
	var sum loadresult.AddressTotals
	a.CountInto(&sum)
	a.CountInto(&sum)
	want := []loadresult.AddressCount{{Address: "192.0.2.1:80", Connections: 6, Answers: 6}, {Address: "192.0.2.2:80", Connections: 6, Answers: 6},
		{Address: "192.0.2.3:80", Connections: 8, Answers: 8}}
	if !reflect.DeepEqual(sum.Addresses, want) {
		t.Errorf("%+v", sum.Addresses)
	}
}

// An address that fails is left out, also where it is the name's new one, and one that the name no
// longer has is dialed in the place of none.
func TestFollowDead(t *testing.T) {
	one, two, three := addr("192.0.2.1:80", ""), addr("192.0.2.2:80", ""), addr("192.0.2.3:80", "")
	a, known := New(&ring.Sim{}, []ring.Addr{one}, 1, 0, 5000*ms), []ring.Addr{one}
	known = a.Follow([]ring.Addr{two, three}, known)
	own, err := a.Dial(0, 0)
	if err != nil || known[own.Addr] != two {
		t.Fatalf("dialed %v, %v", known[own.Addr], err)
	}
	other, ok := a.Fail(0, own, syscall.ECONNREFUSED, ms)
	if !ok || known[other.Addr] != three {
		t.Errorf("goes on with %+v, %v", other, ok)
	}
	a.Connected(0, other, 2*ms)
	if got := dialed(t, &a, known, 3); !reflect.DeepEqual(got, []string{"192.0.2.3", "192.0.2.3", "192.0.2.3"}) {
		t.Errorf("dialed %v", got)
	}
	lost := Lost([]*Addresses{&a, {dests: []destination{{name: "192.0.2.1:80"}}}}, 1, 0)
	if len(lost) != 1 || lost[0].Address != "192.0.2.2:80" || lost[0].Why != "refused" {
		t.Errorf("lost %+v", lost)
	}
}

// A name server that answers with other addresses each time takes no memory without end.
func TestFollowMany(t *testing.T) {
	first := addr("192.0.2.1:80", "")
	a, known := New(&ring.Sim{}, []ring.Addr{first}, 1, 0, 5000*ms), []ring.Addr{first}
	for i := range 2 * knownMost {
		known = a.Follow([]ring.Addr{addr(fmt.Sprintf("10.0.%d.%d:80", i/256, i%256), "")}, known)
		if own, err := a.Dial(0, 0); err != nil || a.dests[a.to[own.Addr]].gone {
			t.Fatalf("%d: %+v, %v", i, own, err)
		}
	}
	if len(known) != knownMost || len(a.dests) != knownMost {
		t.Errorf("%d addresses of %d destinations", len(known), len(a.dests))
	}
}

// An address is followed to, also where connections come from many sources.
func TestFollowFromManySources(t *testing.T) {
	from := func(to string) (all []ring.Addr) {
		for i := range 3 * knownMost / 2 {
			all = append(all, addr(to, fmt.Sprintf("127.1.%d.%d", i/256, i%256)))
		}
		return all
	}
	first := from("192.0.2.1:80")
	a := New(&ring.Sim{}, first, 1, 0, 5000*ms)
	known := a.Follow(from("192.0.2.2:80"), first)
	if len(known) != 3*knownMost || len(a.dests) != 2 || !a.dests[0].gone || a.dests[1].gone {
		t.Errorf("%d addresses of %d destinations: %+v", len(known), len(a.dests), a.dests)
	}
}
