package loadplan

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sort"
)

// A Schedule yields the intended start times of requests, in ns after the start of the load, in
// ascending order. It reads no clock and does not wait: a worker that falls behind gets instants in
// the past. So no request is omitted, and latency counts from the intended start time, not from the
// sending.
type Schedule interface {
	Next() (due int64, ok bool)
	// Left is how many instants lie from one instant on and before another. It is computed, because
	// there can be 10¹⁵ of them. No other method may be called afterwards.
	Left(from, till int64) int64
}

// AtOnce is the instant of a request that is due as soon as a connection has room for it.
const AtOnce = -1

// ClosedSchedule is the schedule of a closed workload.
type ClosedSchedule struct{}

// Next is AtOnce, always.
func (ClosedSchedule) Next() (int64, bool) { return AtOnce, true }

// Left is 0: nothing becomes due by the clock.
func (ClosedSchedule) Left(_, _ int64) (n int64) { return 0 }

// even is arrivals as evenly spaced as the rate allows: the k-th is due when a profile reaches k.
// Each worker sends its slots of the arrivals, so that all workers together send each once.
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

// Left is the difference of two positions among this worker's arrivals.
func (s *even) Left(from, till int64) int64 {
	at := s.begun/s.period*uint64(len(s.slots)) + uint64(s.next)
	return max(int64(s.firstFrom(till)-max(s.firstFrom(from), at)), 0)
}

// firstFrom is the position of the worker's first arrival that is due at the instant or later. It
// is found by bisection, in 52 steps at most.
func (s *even) firstFrom(at int64) uint64 {
	const most = 1 << 52 // arrivals of all workers; MaxRate for MaxTime has fewer
	own := uint64(len(s.slots))
	return uint64(sort.Search(int(most/s.period*own+own), func(j int) bool {
		whole := cursor{profile: s.along.profile}
		hi, lo := bits.Mul64(uint64(j)/own*s.period+s.slots[uint64(j)%own], perArrival)
		due, ok := whole.instantOf(count{hi, lo})
		return !ok || due >= at
	}))
}

// poisson is arrivals without memory. Between two of them the profile grows by an exponential
// number with mean 1, so the gaps of a constant rate are exponential too. Each worker has a process
// of its own with its share of the rate; together they are one process with the whole rate.
type poisson struct {
	along cursor
	at    count
	mean  float64 // in parts of an arrival; see count
	coin  *rand.Rand
}

// newPoisson is the stream of that number, with one of every oneIn arrivals.
func newPoisson(p profile, seed uint64, stream int, oneIn float64) *poisson {
	return &poisson{along: cursor{profile: p}, mean: perArrival * oneIn,
		coin: rand.New(rand.NewPCG(seed, uint64(stream)))}
}

func (s *poisson) Next() (int64, bool) {
	s.at = s.at.plus(uint64(s.coin.ExpFloat64() * s.mean))
	return s.along.instantOf(s.at)
}

// walkMost is how many arrivals of a Poisson process Left counts one by one, which takes some 20
// ms.
const walkMost = 1 << 20

// Left counts walkMost arrivals one by one, and adds the mean number for those after them, which
// have not been drawn. In two of three cases the error is below a thousandth of the result.
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

// NewSchedule is the share of worker i, from 0, of n in the arrivals of an open workload; of a
// closed one a ClosedSchedule. Plans of Poisson arrivals need a Seed.
func (p *Plan) NewSchedule(i, n int) Schedule {
	if !p.Open() {
		return ClosedSchedule{}
	}
	if p.Replay > 0 {
		return &replay{requests: p.Requests, own: p.replayed(i, n)}
	}
	if p.Arrival == Poisson {
		stream, _ := p.streamIndex(i, n)
		return newPoisson(p.rateProfile(), p.Seed, stream, float64(n)*p.shareDivisor())
	}
	return newEven(p.rateProfile(), p.workerSlots(i, n))
}

// ConnectSchedule is when worker i of n may open its connections, of a plan with a ConnectRate.
func (p *Plan) ConnectSchedule(i, n int) Schedule {
	return newEven(constantProfile(p.ConnectRate), p.workerSlots(i, n))
}

// EvenShare is the size of part i, from 0, of total, cut into n parts as evenly as possible.
func EvenShare(total int64, i, n int) int64 {
	part := total / int64(n)
	if int64(i) < total%int64(n) {
		part++
	}
	return part
}

// RequestQuota is how many of the requested requests worker i of n sends. An open workload divides
// them as it divides arrivals. A closed one gives each connection the same number, because
// otherwise workers with fewer connections would continue alone.
func RequestQuota(p *Plan, i, n int) int64 { return p.quotaOf(p.Requested, i, n) }

// quotaOf is RequestQuota of so many requests, or of users.
func (p *Plan) quotaOf(total int64, i, n int) int64 {
	if p.Open() {
		return EvenShare(total, i, n)
	}
	all := int64(p.Connections)
	return total/all*EvenShare(all, i, n) + EvenShare(total%all, i, n)
}
