package remote

import (
	"runtime/debug"
	"syscall"

	"dyno/internal/cgroup"
)

// leastMemory is what a load may always take, in bytes: a small one takes some 50 MB.
const leastMemory = 256 << 20

// HalfOfMemory is half of the memory that this process may use, in bytes: of the machine's, or of
// its cgroup's limit, as that of a container or of a systemd unit. It is leastMemory at least.
func HalfOfMemory() uint64 {
	var s syscall.Sysinfo_t
	if syscall.Sysinfo(&s) != nil {
		return 0
	}
	all := uint64(s.Totalram) * uint64(s.Unit)
	if limit := cgroup.Own().MemoryLimit; limit > 0 {
		all = min(all, limit)
	}
	return max(all/2, leastMemory)
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
