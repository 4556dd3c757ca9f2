package load

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sort"
)

// A Schedule yields the instants, in nanoseconds after the start of the load,
// at which requests are due, in order. It looks at no clock and waits for
// nothing: a worker that falls behind takes instants already past, so none is
// forgotten, and latency counts from the instant and not from the sending.
type Schedule interface {
	Next() (due int64, ok bool)
	// Left is how many instants are yet to come from one on and before another. That is
	// computed, for there can be 10¹⁵ of them. No other call may follow.
	Left(from, till int64) int64
}

// AtOnce is the instant of a request that is due as soon as a connection has
// room for it.
const AtOnce = -1

// closedSchedule is the schedule of a closed loop.
type closedSchedule struct{}

func (closedSchedule) Next() (int64, bool)       { return AtOnce, true }
func (closedSchedule) Left(_, _ int64) (n int64) { return 0 }

// even is arrivals as evenly spaced as the rate allows: the k-th is due when a
// profile comes to k. A worker takes its turns of them, so all workers together
// have each once.
type even struct {
	along cursor
	slotCycle
	begun uint64 // where the period began
	next  int    // of own
}

func newEven(p profile, t slotCycle) *even { return &even{along: cursor{profile: p}, slotCycle: t} }

func (s *even) Next() (int64, bool) {
	hi, lo := bits.Mul64(s.begun+s.slots[s.next], perArrival)
	if s.next++; s.next == len(s.slots) {
		s.next, s.begun = 0, s.begun+s.period
	}
	return s.along.instantOf(count{hi, lo})
}

// Left is the difference of two places among this worker's arrivals.
func (s *even) Left(from, till int64) int64 {
	at := s.begun/s.period*uint64(len(s.slots)) + uint64(s.next)
	return max(int64(s.firstFrom(till)-max(s.firstFrom(from), at)), 0)
}

// firstFrom is the place of the first arrival, of this worker's, that is not due before an instant:
// found by bisection, with 52 looks at most.
func (s *even) firstFrom(at int64) uint64 {
	const most = 1 << 52 // arrivals of all workers: MaxRate for MaxTime are fewer
	own := uint64(len(s.slots))
	return uint64(sort.Search(int(most/s.period*own+own), func(j int) bool {
		whole := cursor{profile: s.along.profile}
		hi, lo := bits.Mul64(uint64(j)/own*s.period+s.slots[uint64(j)%own], perArrival)
		due, ok := whole.instantOf(count{hi, lo})
		return !ok || due >= at
	}))
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
	return s.along.instantOf(s.at)
}

// walkMost is up to how many arrivals of a Poisson law are counted one by one, in some 20 ms.
const walkMost = 1 << 20

// Left walks through walkMost arrivals, and takes the mean number for those after them, which
// nobody has drawn: the truth lies within a thousandth of all that wait in two of three cases.
func (s *poisson) Left(from, till int64) (n int64) {
	for range walkMost {
		due, ok := s.Next()
		if !ok || due >= till {
			return n
		}
		if due >= from {
			n++
		}
	}
	at, end := s.along.countBy(from), s.along.countBy(till)
	if at.less(s.at) {
		at = s.at
	}
	if at.less(end) {
		n += int64(math.Round(end.minus(at).toFloat() / s.mean))
	}
	return n
}

// newSchedule is the share of worker i of n in an open loop's arrivals.
func (p *Plan) newSchedule(i, n int) Schedule {
	if p.Arrival == Poisson {
		stream, _ := p.streamIndex(i, n)
		return newPoisson(p.rateProfile(), p.Seed, stream, float64(n)*p.shareDivisor())
	}
	return newEven(p.rateProfile(), p.workerSlots(i, n))
}

// evenShare is part i of total cut into n parts as even as can be.
func evenShare(total int64, i, n int) int64 {
	part := total / int64(n)
	if int64(i) < total%int64(n) {
		part++
	}
	return part
}

// requestQuota is how many of the requests asked for are worker i's of n. In an open
// loop they are shared as the arrivals are; in a closed one every connection
// has as many, or workers with fewer connections would go on alone.
func requestQuota(p *Plan, i, n int) int64 { return p.quotaOf(p.Requested, i, n) }

// quotaOf is requestQuota of so many requests, or of users.
func (p *Plan) quotaOf(total int64, i, n int) int64 {
	if p.Open() {
		return evenShare(total, i, n)
	}
	all := int64(p.Connections)
	return total/all*evenShare(all, i, n) + evenShare(total%all, i, n)
}
