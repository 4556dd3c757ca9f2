package ring

import (
	"container/heap"
	"io"
	"net/netip"
	"slices"
)

// Sim is a ring in virtual time: nothing sleeps, nothing is random, and the server is a function.
// Data is overwritten once it has become invalid, so that code which keeps it fails.
type Sim struct {
	// Server is called when bytes arrive at the server's end of a connection.
	Server func(p *Peer, b []byte)
	// Accept, if set, returns the outcome of the nth connect, from 0, and after how many nanoseconds
	// it follows.
	Accept func(n int) (after int64, err error)
	// Reach, if set, is Accept by the number of the address.
	Reach func(addr int) (after int64, err error)

	now   int64
	seq   int
	queue simQueue
	peers []*Peer // by file descriptor
	lent  []byte
	idle  int64

	gathering int64 // until when the next Wait does
}

// A Peer is the server's end of a connection.
type Peer struct {
	N    int // which connection it is, from 0
	Addr int // the address that was connected to
	sim  *Sim
	user uint64
	open bool
}

type simEvent struct {
	at   int64
	seq  int
	peer *Peer
	c    Completion
}

// Now is the virtual time.
func (s *Sim) Now() int64 { return s.now }

// IdleTime is the virtual time in which nothing happened.
func (s *Sim) IdleTime() int64 { return s.idle }

func (s *Sim) scheduleEvent(t int64, p *Peer, c Completion) {
	s.seq++
	c.User = p.user
	heap.Push(&s.queue, simEvent{t, s.seq, p, c})
}

// Reply sends b to the client, which receives it after that many nanoseconds.
func (p *Peer) Reply(after int64, b []byte) {
	p.sim.scheduleEvent(p.sim.now+after, p, Completion{Op: Received, Data: b})
}

// Hangup ends the connection: in good order with io.EOF, otherwise with err.
func (p *Peer) Hangup(after int64, err error) {
	p.sim.scheduleEvent(p.sim.now+after, p, Completion{Op: Received, Err: err})
}

// Now is the virtual time. Server and client have the same.
func (p *Peer) Now() int64 { return p.sim.now }

// Extend has nothing to do: Reach is asked of any number.
func (s *Sim) Extend(Addr) {}

// Connect always completes, at once or as Accept or Reach says.
func (s *Sim) Connect(addr int, user uint64) (int, error) {
	p := &Peer{N: len(s.peers), Addr: addr, sim: s, user: user, open: true}
	s.peers = append(s.peers, p)
	var after int64
	var err error
	if s.Accept != nil {
		after, err = s.Accept(p.N)
	}
	if s.Reach != nil {
		after, err = s.Reach(addr)
	}
	s.scheduleEvent(s.now+after, p, Completion{Op: Connected, Err: err})
	return p.N, nil
}

// LocalAddr has the number of the connection as its port.
func (s *Sim) LocalAddr(fd int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), uint16(fd))
}

// Send reaches the server at once.
func (s *Sim) Send(fd int, b []byte) bool {
	s.Server(s.peers[fd], b)
	return true
}

// Close ends all operations in flight on fd.
func (s *Sim) Close(fd int, _ bool) { s.peers[fd].open = false }

// Gather has the next Wait advance the time until then, or until there are enough.
func (s *Sim) Gather(until int64, enough int) bool {
	if enough != AnyNumber && enough <= len(s.queue) {
		at := make([]int64, len(s.queue))
		for i, e := range s.queue {
			at[i] = e.at
		}
		slices.Sort(at)
		until = min(until, at[enough-1])
	}
	s.gathering = until
	return true
}

// Advance advances the time, if it is not that late.
func (s *Sim) Advance(until int64) {
	if until > s.now {
		s.idle += until - s.now
		s.now = until
	}
}

// Wait advances the time to the next event, or to the deadline.
func (s *Sim) Wait(deadline int64) error {
	s.Advance(s.gathering)
	deadline = max(deadline, s.gathering)
	next := deadline
	if len(s.queue) > 0 {
		next = min(next, s.queue[0].at)
	}
	if next == Never {
		return io.ErrNoProgress // no event can ever follow
	}
	if next > s.now {
		s.idle += next - s.now
		s.now = next
	}
	return nil
}

// Next returns what has happened by now.
func (s *Sim) Next() (Completion, bool) {
	for i := range s.lent {
		s.lent[i] = '!'
	}
	s.lent = s.lent[:0]
	for len(s.queue) > 0 && s.queue[0].at <= s.now {
		e := heap.Pop(&s.queue).(simEvent)
		if !e.peer.open {
			continue
		}
		s.lent = append(s.lent, e.c.Data...)
		e.c.Data = s.lent
		return e.c, true
	}
	return Completion{}, false
}

type simQueue []simEvent

func (q simQueue) Len() int { return len(q) }
func (q simQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(x any)   { *q = append(*q, x.(simEvent)) }
func (q *simQueue) Pop() any {
	n := len(*q) - 1
	x := (*q)[n]
	*q = (*q)[:n]
	return x
}
