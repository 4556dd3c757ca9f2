package machine

import (
	"runtime"
	"sync"
)

// procs counts the processors of the Go scheduler that the workers of all loads occupy. GOMAXPROCS
// belongs to the process, and so does this count.
var procs struct {
	sync.Mutex
	kept int
}

// KeepProcs makes sure that n workers leave a processor to all other goroutines, until giveBack.
// Each worker occupies its processor even while it waits for the kernel. It raises GOMAXPROCS, if
// it may, and never lowers it, because that stops the world while another load may be measuring. If
// GOMAXPROCS is too low and may not be raised, nothing is kept and giveBack is nil.
func KeepProcs(n int, mayRaise bool) (giveBack func()) {
	procs.Lock()
	defer procs.Unlock()
	if runtime.GOMAXPROCS(0) <= procs.kept+n {
		if !mayRaise {
			return nil
		}
		runtime.GOMAXPROCS(procs.kept + n + 1)
	}
	procs.kept += n
	return func() {
		procs.Lock()
		defer procs.Unlock()
		procs.kept -= n
	}
}
