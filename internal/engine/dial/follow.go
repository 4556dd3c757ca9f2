package dial

import (
	"slices"
	"sync/atomic"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// knownMost is how many addresses a worker knows at most, those of the past included: a name server
// can answer with others each time. Further ones are not dialed.
const knownMost = 1 << 10

// pairsMost is how many of them with a source each it knows: some MB.
const pairsMost = 1 << 16

// A Following is what lookups of a name find beside a load.
type Following struct {
	Found atomic.Pointer[[]ring.Addr] // by the last lookup that found any; nil: none has
	Done  atomic.Int64                // lookups
	Lost  atomic.Int64                // those of them that failed, or found nothing
}

// Renew follows what lookups of a.Name have found since it was called last, if they found anything.
func (a *Addresses) Renew(known []ring.Addr) []ring.Addr {
	found := a.Name.Found.Load()
	if found == a.followed {
		return known
	}
	a.followed = found
	return a.Follow(*found, known)
}

// Follow has connections dialed to these addresses from now on, at least one, in their turn.
// Connections to others stay until they end. It returns all addresses by their numbers.
func (a *Addresses) Follow(now []ring.Addr, known []ring.Addr) []ring.Addr {
	more, can := a.ring.(ring.Extender)
	if !can {
		return known
	}
	has := map[string]bool{}
	for _, addr := range now {
		name := addr.String()
		has[name] = true
		if a.named(name) >= 0 || len(a.dests) >= knownMost || len(a.to) >= pairsMost {
			continue // it may be seen from other sources; those known suffice
		}
		for _, one := range now {
			if one.String() == name {
				more.Extend(one)
				a.add(one)
				known = append(slices.Clip(known), one)
			}
		}
	}
	if !slices.ContainsFunc(a.dests, func(d destination) bool { return has[d.name] }) {
		return known // there is no room for them
	}
	for i := range a.dests {
		d := &a.dests[i]
		d.gone = !has[d.name]
	}
	return known
}

// named is the number of a destination; -1: there is none of the name.
func (a *Addresses) named(name string) int {
	return slices.IndexFunc(a.dests, func(d destination) bool { return d.name == name })
}

// add adds an address of the ring.
func (a *Addresses) add(addr ring.Addr) {
	name := addr.String()
	to := a.named(name)
	if to < 0 {
		to = len(a.dests)
		a.dests = append(a.dests, destination{name: name, up: -1, ip6: addr.TCP.Addr().Unmap().Is6()})
	}
	d := &a.dests[to]
	d.at = append(d.at, len(a.to))
	a.to = append(a.to, to)
	a.from = append(a.from, addr.From.IsValid())
}

// Carried is told of a connection that has ended, with how many answers it had, if it was one.
func (a *Addresses) Carried(own Call, answers uint32, was bool) {
	if was {
		a.dests[a.to[own.Addr]].answers += int64(answers)
	}
}

// CountInto counts what went to each address, if there are several or there may be.
func (a *Addresses) CountInto(t *loadresult.AddressTotals) {
	if a.Name != nil { // the first worker counts them, and the others what was looked up since then
		t.Lookups, t.Unlooked = t.Lookups+a.Name.Done.Swap(0), t.Unlooked+a.Name.Lost.Swap(0)
	}
	if len(a.dests) < 2 && a.Name == nil {
		return
	}
	for i := range a.dests {
		d := &a.dests[i]
		t.CountAddress(loadresult.AddressCount{Address: d.name, Connections: d.opened,
			Answers: d.answers})
	}
}

// namesOf are the addresses that workers know, each once.
func namesOf(workers []*Addresses) (all []string) {
	for _, w := range workers {
		for i := range w.dests {
			if name := w.dests[i].name; !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
