package scenario

import "math/rand/v2"

// A CallClock estimates how long the calls of a scenario take: to read the clock before and after
// each would take longer than some scenarios do. It has one call in SampleEach measured on average,
// drawn at random, for a scenario may do the same at every so many calls.
type CallClock struct {
	calls, sampled, took int64
	left                 uint64 // calls until the next that is measured
	coin                 *rand.PCG
}

// SampleEach is of how many calls one is measured, on average.
const SampleEach = 64

// NewCallClock returns a clock that draws from the stream of a seed.
func NewCallClock(seed, stream uint64) CallClock {
	c := CallClock{coin: rand.NewPCG(seed, stream)}
	c.drawNext()
	return c
}

// Draw counts a call, and reports whether it is to be measured.
func (c *CallClock) Draw() bool {
	c.calls++
	if c.left > 0 {
		c.left--
		return false
	}
	c.drawNext()
	return true
}

// drawNext draws how many calls to leave out: none to 2×SampleEach-2.
func (c *CallClock) drawNext() { c.left = c.coin.Uint64() % (2*SampleEach - 1) }

// Add adds how many ns a measured call took.
func (c *CallClock) Add(took int64) {
	c.sampled++
	c.took += took
}

// Counts are how many calls there were, and how many of them were measured.
func (c *CallClock) Counts() (calls, sampled int64) { return c.calls, c.sampled }

// Estimate is how many ns all calls took.
func (c *CallClock) Estimate() int64 {
	if c.sampled == 0 {
		return 0
	}
	return int64(float64(c.took) / float64(c.sampled) * float64(c.calls))
}
