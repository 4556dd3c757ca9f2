// Package reqlog takes a line for each request, or for some of them, from the threads of a load to
// whoever writes a log. Each thread has a ring of its own, which is bounded: adding a line costs a
// copy and an atomic store, and never waits. Lines for which there is no room are counted and lost.
package reqlog

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// A Line is a request that ended. Times are nanoseconds after the start of the measured window.
type Line struct {
	Due, Sent, Ended int64
	Bytes            int64  // of the response's body; -1: not all of it arrived
	Failed           string // the phase in which it failed; "": it was answered completely
	Request          int32  // its number in the plan, or that of its step
	Thread           int32
	Status           uint16 // below 100: no response arrived
}

// ringSize is how many lines a thread can be ahead of the writer: 32 Ki of 64 bytes, 2 MiB.
const ringSize = 1 << 15

// A Log has a ring for each thread of one load.
type Log struct {
	share float64
	mu    sync.Mutex
	rings []*Ring
}

// New returns a log of a share of all requests, above 0 and up to 1, drawn at random.
func New(share float64) *Log { return &Log{share: share} }

// Ring returns a new ring, for one thread.
func (l *Log) Ring(thread int) *Ring {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &Ring{lines: make([]Line, ringSize), all: l.share >= 1,
		below: uint64(l.share * math.MaxUint64), coin: rand.NewPCG(uint64(thread), 1)}
	l.rings = append(l.rings, r)
	return r
}

// Drain calls each with all lines that are there, oldest first of each thread, and returns how many
// were lost so far. Only one goroutine may call it at a time.
func (l *Log) Drain(each func(Line)) (lost int64) {
	l.mu.Lock()
	rings := l.rings
	l.mu.Unlock()
	for _, r := range rings {
		end := r.added.Load()
		for at := r.taken.Load(); at < end; at++ {
			each(r.lines[at%ringSize])
			if at%1024 == 0 { // seldom: the thread's processor reads it
				r.taken.Store(at + 1)
			}
		}
		r.taken.Store(end)
		lost += r.lost.Load()
	}
	return lost
}

// A Ring is where one thread adds its lines. A nil ring takes none.
type Ring struct {
	lines []Line
	all   bool
	below uint64 // of what the coin gives, for a line to be added
	coin  *rand.PCG

	added atomic.Uint64 // by the thread
	lost  atomic.Int64
	_     [64]byte      // a cache line: the writer's store does not slow the thread down
	taken atomic.Uint64 // by the writer
}

// Add adds a line, if it is drawn and there is room. It allocates nothing and does not wait.
func (r *Ring) Add(l Line) {
	if !r.all && r.coin.Uint64() >= r.below {
		return
	}
	at := r.added.Load()
	if at-r.taken.Load() == ringSize {
		r.lost.Add(1)
		return
	}
	r.lines[at%ringSize] = l
	r.added.Store(at + 1)
}
