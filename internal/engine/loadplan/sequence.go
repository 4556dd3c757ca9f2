package loadplan

import "dyno/internal/engine/sequence"

// A Sequence is the order in which requests are sent, repeated forever: each as often as its weight
// says, and spread as evenly as possible. Every worker has its own, because workers share nothing
// under load. Only a worker that knows how many requests it will send can leave the rest to the
// others. So with Requested each worker has a block of consecutive positions, and all together send
// what one worker alone would.
type Sequence struct {
	order []uint32
	next  int
}

// newSequence gives worker i of n a beginning of its own, so that workers are not in step.
func newSequence(reqs []Request, i, n int) *Sequence {
	weights := make([]int, len(reqs))
	for k := range reqs {
		weights[k] = reqs[k].Weight
	}
	s := &Sequence{order: sequence.Order(weights)}
	s.next = len(s.order) * i / n
	return s
}

// startingAt is the same order from another position on, counted from the very first request.
func (s *Sequence) startingAt(place int64) *Sequence {
	return &Sequence{s.order, int(place % int64(len(s.order)))}
}

// NewSequences are what worker i, from 0, of n sends in the window, and in the warm-up before it.
// Without Requested both are the same sequence, and the window continues it.
func (p *Plan) NewSequences(i, n int) (window, warmup *Sequence) {
	if p.Replay > 0 {
		window = &Sequence{order: p.replayed(i, n)}
		return window, window
	}
	place, places := p.streamIndex(i, n)
	reqs := p.Requests
	if p.Scenario != nil { // it chooses what is sent
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

// NextIndex is the index of the next request in Plan.Requests. It never ends.
func (s *Sequence) NextIndex() uint32 {
	i := s.order[s.next]
	if s.next++; s.next == len(s.order) {
		s.next = 0
	}
	return i
}
