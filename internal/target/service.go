package target

import (
	"math/rand/v2"
	"slices"
)

// A queue is that of n servers and requests that are served first come, first
// served, each by the server that is free first. In what order requests end need
// not be known to tell when they begin: the earliest of the instants at which
// each server will be free decides, so those are all it holds.
type queue struct {
	free    []int64 // when each server has done all it was given
	next    int     // the server that arrive chose
	service service
	rand    *rand.Rand
}

func newQueue(servers int, s service, seed uint64) *queue {
	return &queue{
		free:    make([]int64, servers),
		service: s,
		rand:    rand.New(rand.NewPCG(seed, 0)),
	}
}

// scheduleArrival gives the request that arrives at now to a server. It returns when its
// service begins and how long it takes; busy must then say when it ends.
func (q *queue) scheduleArrival(now int64) (start, service int64) {
	earliest := slices.Min(q.free)
	q.next = slices.Index(q.free, earliest)
	service = int64(q.service.mean)
	if q.service.exponential {
		service = int64(q.rand.ExpFloat64() * float64(q.service.mean))
	}
	return max(now, earliest), service
}

// occupyServer says that the server just chosen is so until end.
func (q *queue) occupyServer(end int64) { q.free[q.next] = end }

// A stall is the plan of the times at which nothing is done: for length in each
// period, the first of them half a period after 0. All are nanoseconds.
type stall struct {
	length, period int64 // 0: none
}

// nextBegin is when the first stall not over at t begins, which may be before t.
func (s stall) nextBegin(t int64) int64 {
	if s.length == 0 {
		return never
	}
	begin := s.period / 2
	if k := t - begin - s.length; k >= 0 {
		begin += (k/s.period + 1) * s.period
	}
	return begin
}

// endOf is when the stall at t ends, or t when there is none then.
func (s stall) endOf(t int64) int64 {
	if begin := s.nextBegin(t); t >= begin {
		return begin + s.length
	}
	return t
}

// workEnd is when d of work begun at t is done, given that none is in a stall.
func (s stall) workEnd(t, d int64) int64 {
	t = s.endOf(t)
	begin := s.nextBegin(t)
	if d <= begin-t {
		return t + d
	}
	d -= begin - t
	t = begin + s.length
	cycles := (d - 1) / (s.period - s.length) // stalls that follow before it is done
	return t + d + cycles*s.length
}

// never is an instant that does not come.
const never = 1<<63 - 1
