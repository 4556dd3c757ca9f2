package remote

import (
	"runtime/debug"
	"syscall"
)

// HalfOfMemory is half of what the machine has, in bytes.
func HalfOfMemory() uint64 {
	var s syscall.Sysinfo_t
	if syscall.Sysinfo(&s) != nil {
		return 0
	}
	return uint64(s.Totalram) * uint64(s.Unit) / 2
}

// limitMemory has the kernel refuse this process more memory, by which it ends, and the runtime
// collect garbage before that. 0: there is no limit.
func limitMemory(bytes uint64) {
	if bytes == 0 {
		return
	}
	const rlimitData = 2 // of setrlimit(2), which package syscall lacks a name for
	limit := syscall.Rlimit{Cur: bytes, Max: bytes}
	if syscall.Setrlimit(rlimitData, &limit) == nil {
		debug.SetMemoryLimit(int64(bytes / 10 * 9))
	}
}
