package dial

import (
	"time"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/loadresult"
)

// Pauses between checks of a lost address, in ns. They double.
const (
	againFirst = int64(1e9)
	againMost  = int64(30e9)
)

// A loss is what is known of the times in which a destination was lost.
type loss struct {
	lost  bool
	times int
	first int64 // when it was lost for the first time
	since int64 // when it was lost last
	total int64 // for how long, but for the time since then
	back  int64 // when it was no longer lost; 0: it never was, or is
	why   string
	again int64 // when it may be checked
	pause int64 // after a check that fails
}

// A check is a call that carries no request.
type check struct {
	Call
	conn uint32
}

func (a *Addresses) allLost() bool {
	for i := range a.dests {
		if d := &a.dests[i]; !d.lost && !d.gone {
			return false
		}
	}
	return true
}

// lose notes that a call has failed. It reports whether that is about the address.
func (a *Addresses) lose(c Call, err error, now int64) bool {
	d, why := &a.dests[a.to[c.Addr]], failure.NameOf(err)
	switch why {
	case "no-file", "backlog":
		return false
	case "no-port": // or this machine has no address of the family
		if d.up >= 0 || a.from[c.Addr] {
			return false
		}
	case "unreachable":
		if a.from[c.Addr] { // from there
			return false
		}
	case "timeout":
		a.loseSilent(c, now)
		return true
	}
	d.beginLoss(why, now, now)
	return true
}

// loseSilent notes that a call had no answer, while others had none either from its address.
func (a *Addresses) loseSilent(c Call, now int64) {
	if d := &a.dests[a.to[c.Addr]]; d.up < c.Begun {
		d.beginLoss("timeout", c.Begun, now)
	}
}

// beginLoss notes a failure. The last one tells why: a server that ends resets before it refuses.
func (d *loss) beginLoss(why string, since, now int64) {
	if d.why = why; d.lost {
		return
	}
	if d.times++; d.times == 1 {
		d.first = since
	}
	d.lost, d.since, d.back = true, since, 0
	d.pause, d.again = againFirst, now+againFirst
}

// found notes that a call has connected.
func (a *Addresses) found(c Call, now int64) {
	d := &a.dests[a.to[c.Addr]]
	d.up, d.took = now, now-c.Begun
	if d.lost {
		d.lost, d.back, d.total = false, now, d.total+now-d.since
	}
}

// checkLost calls lost destinations beside a dial of a connection, each when its pause is over, and
// ends checks that have waited long enough. If all are lost they are dialed anyway.
func (a *Addresses) checkLost(conn uint32, now int64) {
	for i := len(a.checks) - 1; i >= 0; i-- {
		if now-a.checks[i].Begun >= a.wait {
			a.endCheck(i, failure.ErrTimeout, now)
		}
	}
	if len(a.dests) < 2 || a.allLost() {
		return
	}
	for i := range a.dests {
		if d := &a.dests[i]; d.lost && !d.gone && d.again <= now && !a.isChecked(i) {
			c, err := a.call(conn, d.at[a.turn%len(d.at)], now)
			a.checks = append(a.checks, check{c, conn})
			if err != nil {
				a.endCheck(len(a.checks)-1, err, now)
			}
		}
	}
}

func (a *Addresses) isChecked(dest int) bool {
	for _, k := range a.checks {
		if a.to[k.Addr] == dest {
			return true
		}
	}
	return false
}

// keepAsCheck has a call go on as the check of its destination, if that is lost and has none.
func (a *Addresses) keepAsCheck(conn uint32, c Call) bool {
	to := a.to[c.Addr]
	if !a.dests[to].lost || a.isChecked(to) {
		return false
	}
	a.checks = append(a.checks, check{c, conn})
	return true
}

// endCheck ends a check that has connected, or failed.
func (a *Addresses) endCheck(i int, err error, now int64) {
	k := a.checks[i]
	a.checks = append(a.checks[:i], a.checks[i+1:]...)
	if k.FD >= 0 {
		a.ring.Close(k.FD, false)
	}
	if err == nil {
		a.found(k.Call, now)
		return
	}
	d := &a.dests[a.to[k.Addr]]
	d.pause = min(2*d.pause, againMost)
	d.again = now + d.pause
}

// Lost are the addresses that workers lost, if the target has several, or the only one if it is
// lost still and no connection is up: it may just have been slow to accept. Times are after from.
// What one worker lost is back once another one connects to it.
func Lost(workers []*Addresses, up int, from int64) (all []loadresult.LostAddress) {
	if len(workers) == 0 {
		return nil
	}
	names := namesOf(workers)
	for _, name := range names {
		if s := lostByAny(workers, name, from); s.Times > 0 {
			all = append(all, s)
		}
	}
	lost := 0
	for _, s := range all {
		if !s.IsBack {
			lost++
		}
	}
	for i := range all {
		all[i].Addresses, all[i].Others = len(names), len(names)-lost
		if all[i].IsBack {
			all[i].Others--
		}
	}
	if len(all) > 0 && all[0].Addresses == 1 && (up > 0 || all[0].IsBack) {
		return nil
	}
	return all
}

// lostByAny is what all workers know of a destination.
func lostByAny(workers []*Addresses, name string, from int64) (s loadresult.LostAddress) {
	var back, first, since, last int64
	up, lost := int64(-1), false
	for _, w := range workers {
		dest := w.named(name)
		if dest < 0 {
			continue
		}
		d := &w.dests[dest]
		up, back = max(up, d.up), max(back, d.back)
		if d.times == 0 {
			continue
		}
		if s.Times == 0 || d.first < first {
			first, s.Why = d.first, d.why
		}
		s.Times, s.For = max(s.Times, d.times), max(s.For, time.Duration(d.total))
		if d.lost {
			if !lost || d.since < since {
				since, s.Why = d.since, d.why
			}
			lost, last = true, max(last, d.since)
		}
	}
	s.Address = name
	if lost && up > last {
		lost, back = false, up
		s.For += time.Duration(up - since)
	}
	if s.IsBack = !lost; lost {
		first = max(since, up)
	}
	if s.Since = time.Duration(first - from); s.IsBack {
		s.Back = time.Duration(back - from)
	}
	return s
}
