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
// Each worker occupies its processor even while it waits for the kernel. It raises GOMAXPROCS and
// never lowers it, because that stops the world while another load may be measuring.
func KeepProcs(n int) (giveBack func()) {
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
