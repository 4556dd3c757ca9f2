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
// profile comes to k. One worker's share of them is every step-th from its own
// first on, so all workers together have each once.
type even struct {
	along   cursor
	k, step uint64
}

// newEven is the share of worker i of n.
func newEven(p profile, i, n int) *even {
	return &even{cursor{profile: p}, uint64(i), uint64(n)}
}

func (s *even) Next() (int64, bool) {
	hi, lo := bits.Mul64(s.k, perArrival)
	s.k += s.step
	return s.along.due(count{hi, lo})
}

// poisson is arrivals without memory: between them the profile gains a number
// that is exponential with mean 1, and so the gaps of a constant rate are
// exponential themselves. Of n workers each has a process of its own with an
// n-th of the rate, which together are one with all of it.
type poisson struct {
	along cursor
	at    count
	mean  float64 // in parts of an arrival
	coin  *rand.Rand
}

func newPoisson(p profile, seed uint64, i, n int) *poisson {
	return &poisson{along: cursor{profile: p}, mean: perArrival * float64(n),
		coin: rand.New(rand.NewPCG(seed, uint64(i)))}
}

func (s *poisson) Next() (int64, bool) {
	s.at = s.at.plus(uint64(s.coin.ExpFloat64() * s.mean))
	return s.along.due(s.at)
}

// schedule is the share of worker i of n in an open loop's arrivals.
func (p *Plan) schedule(i, n int) Schedule {
	i, n = p.place(i, n)
	if p.Arrival == Poisson {
		return newPoisson(p.profile(), p.Seed, i, n)
	}
	return newEven(p.profile(), i, n)
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
