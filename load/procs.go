package load

import (
	"runtime"
	"sync"
)

// procs is how many of the processors of the Go scheduler, of which there are GOMAXPROCS,
// the workers of all loads of this process keep to themselves, and how many there were
// before the first did.
var procs struct {
	sync.Mutex
	kept, before int
}

// keepProcs has the scheduler have n processors more than the other goroutines need,
// which is one, until giveBack. A worker keeps its processor also while it waits for the
// kernel: to have it taken and given back for waits of some microseconds costs a tenth of
// a request's CPU time, and makes requests late.
func keepProcs(n int) (giveBack func()) {
	add := func(n int) {
		procs.Lock()
		defer procs.Unlock()
		if procs.kept == 0 {
			procs.before = runtime.GOMAXPROCS(0)
		}
		procs.kept += n
		if need := max(procs.before, procs.kept+1); need != runtime.GOMAXPROCS(0) {
			runtime.GOMAXPROCS(need)
		}
	}
	add(n)
	return func() { add(-n) }
}
