package load

import (
	"math/bits"
	"math/rand/v2"
)

// A Schedule yields the instants, in nanoseconds after the start of the load,
// at which requests are due, in order. It looks at no clock and waits for
// nothing: a worker that falls behind takes instants already past, so none is
// forgotten, and latency counts from the instant and not from the sending.
type Schedule interface {
	Next() (due int64, ok bool)
}

// AtOnce is the instant of a request that is due as soon as a connection has
// room for it.
const AtOnce = -1

// closedLoop is the schedule of a closed loop.
type closedLoop struct{}

func (closedLoop) Next() (int64, bool) { return AtOnce, true }

// even is arrivals as evenly spaced as the rate allows: the k-th is due when a
// profile comes to k. A worker takes its turns of them, so all workers together
// have each once.
type even struct {
	along cursor
	turns
	begun uint64 // where the period began
	next  int    // of own
}

func newEven(p profile, t turns) *even { return &even{along: cursor{profile: p}, turns: t} }

func (s *even) Next() (int64, bool) {
	hi, lo := bits.Mul64(s.begun+s.own[s.next], perArrival)
	if s.next++; s.next == len(s.own) {
		s.next, s.begun = 0, s.begun+s.period
	}
	return s.along.due(count{hi, lo})
}

// poisson is arrivals without memory: between them the profile gains a number
// that is exponential with mean 1, and so the gaps of a constant rate are
// exponential themselves. Each worker has a process of its own with its share of
// the rate, which together are one with all of it.
type poisson struct {
	along cursor
	at    count
	mean  float64 // in parts of an arrival
	coin  *rand.Rand
}

// newPoisson is the stream of that number, with one in so many of all arrivals.
func newPoisson(p profile, seed uint64, stream int, oneIn float64) *poisson {
	return &poisson{along: cursor{profile: p}, mean: perArrival * oneIn,
		coin: rand.New(rand.NewPCG(seed, uint64(stream)))}
}

func (s *poisson) Next() (int64, bool) {
	s.at = s.at.plus(uint64(s.coin.ExpFloat64() * s.mean))
	return s.along.due(s.at)
}

// schedule is the share of worker i of n in an open loop's arrivals.
func (p *Plan) schedule(i, n int) Schedule {
	if p.Arrival == Poisson {
		stream, _ := p.place(i, n)
		return newPoisson(p.profile(), p.Seed, stream, float64(n)*p.oneIn())
	}
	return newEven(p.profile(), p.turns(i, n))
}

// share is part i of total cut into n parts as even as can be.
func share(total int64, i, n int) int64 {
	part := total / int64(n)
	if int64(i) < total%int64(n) {
		part++
	}
	return part
}

// quota is how many of the requests asked for are worker i's of n. In an open
// loop they are shared as the arrivals are; in a closed one every connection
// has as many, or workers with fewer connections would go on alone.
func quota(p *Plan, i, n int) int64 {
	if p.Open() {
		return share(p.Requested, i, n)
	}
	all := int64(p.Connections)
	return p.Requested/all*share(all, i, n) + share(p.Requested%all, i, n)
}
