package load

import (
	"runtime"
	"sync"
)

// procs is how many of the processors of the Go scheduler the workers of all loads keep to
// themselves. GOMAXPROCS is the process's, and so is the account of it.
var procs struct {
	sync.Mutex
	kept int
}

// keepProcs sees to it that n workers, each of which keeps its processor also while it waits
// for the kernel, leave one to all other goroutines, until giveBack. It raises GOMAXPROCS
// and never lowers it: to do so stops the world, which another load may be measuring.
func keepProcs(n int) (giveBack func()) {
	procs.Lock()
	defer procs.Unlock()
	procs.kept += n
	if runtime.GOMAXPROCS(0) <= procs.kept {
		runtime.GOMAXPROCS(procs.kept + 1)
	}
	return func() {
		procs.Lock()
		defer procs.Unlock()
		procs.kept -= n
	}
}
