package loadplan

import "math/bits"

// A Sequence is the order in which requests are sent, repeated forever: each as often as its weight
// says, and spread as evenly as possible. Every worker has its own, because workers share nothing
// under load. Only a worker that knows how many requests it will send can leave the rest to the
// others. So with Requested each worker has a block of consecutive positions, and all together send
// what one worker alone would.
type Sequence struct {
	order []uint32
	next  int
}

// sequenceMax bounds the memory of a sequence. Weights that need a longer one
// are scaled down, none below 1.
const sequenceMax = 1 << 20

// newSequence gives worker i of n a beginning of its own, so that workers are not in step.
func newSequence(reqs []Request, i, n int) *Sequence {
	weight, total := make([]int64, len(reqs)), int64(0)
	common := int64(0)
	for k := range reqs {
		weight[k] = max(int64(reqs[k].Weight), 1)
		common = greatestDivisor(weight[k], common)
		total += weight[k]
	}
	for k := range weight {
		weight[k] /= common
	}
	if total /= common; total > sequenceMax {
		total = scaleDown(weight, total)
	}
	s := &Sequence{}
	if total == int64(len(reqs)) {
		s.order = make([]uint32, 0, total)
		for k := range reqs {
			s.order = append(s.order, uint32(k))
		}
	} else {
		s.order = spreadByWeight(weight, total)
	}
	s.next = int(total) * i / n
	return s
}

// startingAt is the same order from another position on, counted from the very first request.
func (s *Sequence) startingAt(place int64) *Sequence {
	return &Sequence{s.order, int(place % int64(len(s.order)))}
}

// NewSequences are what worker i, from 0, of n sends in the window, and in the warm-up before it.
// Without Requested both are the same sequence, and the window continues it.
func (p *Plan) NewSequences(i, n int) (window, warmup *Sequence) {
	place, places := p.streamIndex(i, n)
	reqs := p.Requests
	if len(reqs) == 0 { // a scenario, which chooses what is sent
		reqs = make([]Request, 1)
	}
	warmup = newSequence(reqs, place, places)
	if p.Requested == 0 {
		return warmup, warmup
	}
	before := p.Before
	for k := range i {
		before += RequestQuota(p, k, n)
	}
	return warmup.startingAt(before), warmup
}

func scaleDown(weight []int64, total int64) (scaled int64) {
	for k := range weight {
		hi, lo := bits.Mul64(uint64(weight[k]), sequenceMax)
		q, _ := bits.Div64(hi, lo, uint64(total))
		weight[k] = max(int64(q), 1)
		scaled += weight[k]
	}
	return scaled
}

// spreadByWeight is an order of total entries in which each k appears weight[k] times. The j-th of
// them is as near as possible to (j+1/2)/weight[k] of the way. It is a bucket sort with one bucket
// a position; entries of one bucket keep their order.
func spreadByWeight(weight []int64, total int64) []uint32 {
	count := make([]int32, total+1)
	each := func(f func(k int, at int64)) {
		for k, n := range weight {
			for j := range n {
				f(k, (2*j+1)*total/(2*n))
			}
		}
	}
	each(func(_ int, at int64) { count[at+1]++ })
	for i := range total {
		count[i+1] += count[i]
	}
	order := make([]uint32, total)
	each(func(k int, at int64) { order[count[at]] = uint32(k); count[at]++ })
	return order
}

func greatestDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// NextIndex is the index of the next request in Plan.Requests. It never ends.
func (s *Sequence) NextIndex() uint32 {
	i := s.order[s.next]
	if s.next++; s.next == len(s.order) {
		s.next = 0
	}
	return i
}
