package load

import "math/bits"

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

// constant is arrivals at an even rate; one worker's share of them is every
// step-th from its own first on.
type constant struct {
	rate    Rate
	k, step uint64
}

// newConstant is the share of worker i of n.
func newConstant(rate Rate, i, n int) *constant {
	return &constant{rate: rate, k: uint64(i), step: uint64(n)}
}

func (s *constant) Next() (int64, bool) {
	hi, lo := bits.Mul64(s.k, 1e12)
	if hi >= uint64(s.rate) { // beyond any clock
		return 0, false
	}
	due, _ := bits.Div64(hi, lo, uint64(s.rate)) // k/rate seconds: no error to add up
	s.k += s.step
	return int64(due), due < 1<<62
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

// A sequence is the order in which a run's requests are sent, over and over:
// each as often as its weight says, and as evenly spread as that allows.
type sequence struct {
	order []uint32
	next  int
}

// sequenceMax bounds the memory of a sequence. Weights that need a longer one
// are scaled down, none below 1.
const sequenceMax = 1 << 20

// newSequence begins where worker i of n is not in step with the others.
func newSequence(reqs []Request, i, n int) *sequence {
	weight, total := make([]int64, len(reqs)), int64(0)
	common := int64(0)
	for k := range reqs {
		weight[k] = max(int64(reqs[k].Weight), 1)
		common = gcd(weight[k], common)
		total += weight[k]
	}
	for k := range weight {
		weight[k] /= common
	}
	if total /= common; total > sequenceMax {
		total = scaleDown(weight, total)
	}
	s := &sequence{order: make([]uint32, 0, total)}
	if total == int64(len(reqs)) {
		for k := range reqs {
			s.order = append(s.order, uint32(k))
		}
	} else {
		s.spread(weight, total)
	}
	s.next = int(total) * i / n
	return s
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

// spread gives request k its j-th place, of weight[k], nearest to
// (j+1/2)/weight[k] of the way: a bucket a place, and those of one bucket in
// the requests' own order.
func (s *sequence) spread(weight []int64, total int64) {
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
	s.order = s.order[:total]
	each(func(k int, at int64) { s.order[count[at]] = uint32(k); count[at]++ })
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// take is the next request.
func (s *sequence) take() uint32 {
	i := s.order[s.next]
	if s.next++; s.next == len(s.order) {
		s.next = 0
	}
	return i
}
