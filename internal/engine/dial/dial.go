// Package dial chooses which of a target's addresses a connection is dialed to. It dials another
// address at once if one fails, and after Delay if one does not answer, and keeps the one that
// connects first (Happy Eyeballs, RFC 8305). An address that fails while others answer is lost: no
// connection is dialed to it. Once in a while a dial to another address has a second one beside it,
// which carries no request and shows whether the lost address answers again.
//
// An address that fails for one connection fails for all: their share goes to the other addresses.
// Nothing here is done for a request, and nothing waits: the caller's timers bring the time.
//
// The addresses can change, as those of a name do: see follow.go.
//
//	dial.go      the choice, and the calls of one connection
//	follow.go    other addresses, and what went to each
//	lost.go      addresses that are lost, of one worker and of all
package dial

import (
	"slices"

	"dyno/internal/engine/ring"
)

// Delays of RFC 8305, in ns. An address that took longer to connect before gets twice that time.
const (
	Delay     = int64(250e6)
	delayMost = int64(2e9)
)

// waitingMost is how many calls of one connection wait at once besides its own; one more takes the
// place of the oldest.
const waitingMost = 6

// A Call is a socket that is being connected, or is connected.
type Call struct {
	FD    int
	Begun int64  // when it was begun
	Addr  int32  // index of its address
	Life  uint32 // of the connection: none of its other calls has this number
}

// Addresses are a target's addresses as one worker dials them. Addresses of the ring that differ
// only in their source are one destination.
type Addresses struct {
	ring   ring.Ring
	from   []bool // of each address of the ring: it has a source
	to     []int  // likewise: its destination
	dests  []destination
	turn   int      // addresses chosen
	lives  []uint32 // of each connection: the number of its last call
	races  map[uint32]*race
	checks []check // calls that show whether a lost destination answers again
	wait   int64   // for how long a check waits

	Name     *Following   // finds other addresses; nil: they stay
	followed *[]ring.Addr // the last that it found
}

// A race is a connection's calls, when there was more than one.
type race struct {
	tried   []int  // destinations
	waiting []Call // besides the connection's own; the oldest first
}

// A destination is an address of the server.
type destination struct {
	name string
	ip6  bool
	at   []int // its addresses of the ring
	up   int64 // when a connection to it was last opened; -1: none was
	took int64 // for how long that one was dialed
	gone bool  // the name no longer has it
	loss

	opened, answers int64 // connections to it, and what they were answered
}

// New returns the addresses that g can connect to, for that many connections. The first one is
// dialed to the address with the number first, modulo all. A call that shows whether a lost address
// answers again waits that many ns.
func New(g ring.Ring, all []ring.Addr, connections, first int, wait int64) Addresses {
	a := Addresses{ring: g, turn: first, lives: make([]uint32, connections),
		races: map[uint32]*race{}, wait: wait}
	for _, addr := range all {
		a.add(addr)
	}
	return a
}

// User names a call of a connection in the ring's completions.
func User(conn, life uint32) uint64 { return uint64(life)<<32 | uint64(conn) }

// Dial begins to connect. An error is that of the last address that was tried.
func (a *Addresses) Dial(conn uint32, now int64) (Call, error) {
	a.checkLost(conn, now)
	own, err := a.call(conn, a.next(), now)
	if err != nil {
		if other, ok := a.Fail(conn, own, err, now); ok {
			return other, nil
		}
	}
	return own, err
}

// next is the address that is next in turn, of those that are not lost, or of all.
func (a *Addresses) next() int {
	all := a.allLost()
	for {
		addr := a.turn % len(a.to)
		a.turn++
		if d := &a.dests[a.to[addr]]; !d.gone && (all || !d.lost) {
			return addr
		}
	}
}

// call begins a call.
func (a *Addresses) call(conn uint32, addr int, now int64) (Call, error) {
	a.lives[conn]++
	c := Call{Addr: int32(addr), Life: a.lives[conn], Begun: now}
	fd, err := a.ring.Connect(addr, User(conn, c.Life))
	c.FD = fd
	return c, err
}

// other is an address of an untried destination, and of none that is lost unless all are: of one
// that has answered before, else of one of the other family, else of the next one.
func (a *Addresses) other(r *race, last int32) (addr int, ok bool) {
	all, from := a.allLost(), a.to[last]
	best, rank := -1, -1
	for k := 1; k < len(a.dests) && rank < 2; k++ {
		n := (from + k) % len(a.dests)
		d := &a.dests[n]
		if d.gone || d.lost && !all || r != nil && slices.Contains(r.tried, n) {
			continue
		}
		its := 0
		if d.up >= 0 {
			its = 2
		} else if d.ip6 != a.dests[from].ip6 {
			its = 1
		}
		if its > rank {
			best, rank = n, its
		}
	}
	if best < 0 {
		return 0, false
	}
	at := a.dests[best].at
	return at[a.turn%len(at)], true
}

// raceOf is the race of a connection, which begins with its own call.
func (a *Addresses) raceOf(conn uint32, own Call) *race {
	r := a.races[conn]
	if r == nil {
		r = &race{tried: []int{a.to[own.Addr]}}
		a.races[conn] = r
	}
	return r
}

// WidenAt is when another address is to be dialed beside a connection's own call, which then is
// the new one; never is returned if there is no other.
func (a *Addresses) WidenAt(conn uint32, own Call, never int64) int64 {
	if len(a.dests) < 2 {
		return never
	}
	if _, ok := a.other(a.races[conn], own.Addr); !ok {
		return never
	}
	d := &a.dests[a.to[own.Addr]]
	// An address that answers others is not lost: the server may be slow to accept.
	return max(own.Begun, d.up) + min(max(Delay, 2*d.took), delayMost)
}

// Widen dials another address beside a connection's own call. It returns the call that is now the
// connection's own: the same one if no other can be begun.
func (a *Addresses) Widen(conn uint32, own Call, now int64) Call {
	other, ok := a.begin(conn, own, now)
	if !ok {
		return own
	}
	r := a.races[conn]
	if len(r.waiting) == waitingMost {
		a.ring.Close(r.waiting[0].FD, false)
		a.loseSilent(r.waiting[0], now)
		r.waiting = slices.Delete(r.waiting, 0, 1)
	}
	r.waiting = append(r.waiting, own)
	return other
}

// begin begins a call to an untried address. Those that fail at once are tried.
func (a *Addresses) begin(conn uint32, own Call, now int64) (Call, bool) {
	r := a.raceOf(conn, own)
	for last := own.Addr; ; {
		addr, ok := a.other(r, last)
		if !ok {
			return Call{}, false
		}
		r.tried, last = append(r.tried, a.to[addr]), int32(addr)
		c, err := a.call(conn, addr, now)
		if err == nil {
			return c, true
		}
		a.lose(c, err, now)
	}
}

// Fail is called when a connection's own call has failed. Another address is dialed if there is an
// untried one, and else a call that waits becomes the connection's own: then ok is true, and the
// failed socket is closed. Otherwise no address is left.
func (a *Addresses) Fail(conn uint32, own Call, err error, now int64) (_ Call, ok bool) {
	about := a.lose(own, err, now)
	if len(a.dests) < 2 {
		return own, false
	}
	var next Call
	if about {
		next, ok = a.begin(conn, own, now)
	}
	if r := a.races[conn]; !ok && r != nil && len(r.waiting) > 0 {
		last := len(r.waiting) - 1
		next, ok = r.waiting[last], true
		r.waiting = r.waiting[:last]
	}
	if !ok {
		delete(a.races, conn)
		return own, false
	}
	if own.FD >= 0 {
		a.ring.Close(own.FD, false)
	}
	return next, true
}

// Hear is told that a call of a connection which is not its own has connected, or failed. It
// returns the call that is now the connection's own, and whether that has connected. The call is
// the same in most cases.
func (a *Addresses) Hear(conn uint32, own Call, life uint32, err error, now int64) (_ Call,
	connected bool) {
	if i := slices.IndexFunc(a.checks, func(k check) bool {
		return k.conn == conn && k.Life == life
	}); i >= 0 {
		a.endCheck(i, err, now)
		return own, false
	}
	r := a.races[conn]
	if r == nil {
		return own, false
	}
	i := slices.IndexFunc(r.waiting, func(c Call) bool { return c.Life == life })
	if i < 0 {
		return own, false
	}
	c := r.waiting[i]
	r.waiting = slices.Delete(r.waiting, i, i+1)
	if err == nil {
		r.waiting = append(r.waiting, own)
		return c, true
	}
	a.ring.Close(c.FD, false)
	a.lose(c, err, now)
	return a.Widen(conn, own, now), false
}

// Connected is told that a connection's own call has connected. Its other calls end. The address of
// one that did not answer is lost, unless it answered another connection meanwhile; the call goes
// on as a check.
func (a *Addresses) Connected(conn uint32, own Call, now int64) {
	a.found(own, now)
	a.dests[a.to[own.Addr]].opened++
	r := a.races[conn]
	if r == nil {
		return
	}
	delete(a.races, conn)
	for _, c := range r.waiting {
		if now-c.Begun >= Delay {
			a.loseSilent(c, now)
		}
		if !a.keepAsCheck(conn, c) {
			a.ring.Close(c.FD, false)
		}
	}
}

// GiveUp is told that a connection's own call has failed for good, as when it had no answer in
// time. Its other calls end, too.
func (a *Addresses) GiveUp(conn uint32, own Call, err error, now int64) {
	a.lose(own, err, now)
	if r := a.races[conn]; r != nil {
		delete(a.races, conn)
		for _, c := range r.waiting {
			a.ring.Close(c.FD, false)
			a.loseSilent(c, now)
		}
	}
}
