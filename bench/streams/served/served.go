// Package served is a server of streams for benchmarks. Its law is known: so many slots, of which
// each stream takes one for as long as it lasts, and so its capacity is known, too. It logs when
// each request came and when it wrote each event, and its log is what load generators are held
// against.
//
//	log.go     reads and writes logs, and what they say of first events and gaps
//	served.go  the law
//	server.go  the server, in a process of its own
package served

import (
	"math/rand/v2"
	"time"
)

// A Law is how long streams take. The times of a stream follow from its number, so that those of
// two loads are the same.
type Law struct {
	Slots  int           // streams at once; others wait, first come, first served; 0: no limit
	First  time.Duration // mean of an exponential time, from the slot to the first event
	Least  time.Duration // from each event to the next
	More   time.Duration // mean of an exponential time on top of Least
	Events int           // of each stream
}

// Mean is how long a stream takes on average, from its slot to the last event.
func (l Law) Mean() time.Duration {
	return l.First + time.Duration(l.Events-1)*(l.Least+l.More)
}

// Capacity is how many streams a second the slots allow.
func (l Law) Capacity() float64 { return float64(l.Slots) / l.Mean().Seconds() }

// draw returns when the events of a stream are due, after its slot.
func (l Law) draw(number uint64) []time.Duration {
	random := rand.New(rand.NewPCG(number, 49))
	mean := func(d time.Duration) time.Duration {
		return time.Duration(random.ExpFloat64() * float64(d))
	}
	all, at := make([]time.Duration, l.Events), mean(l.First)
	for i := range all {
		all[i] = at
		at += l.Least + mean(l.More)
	}
	return all
}
