//go:build !linux

package remote

import "runtime/debug"

// HalfOfMemory is half of what the machine has, in bytes; 0: it is not known here.
func HalfOfMemory() uint64 { return 0 }

// limitMemory has the runtime collect garbage before this process takes more memory.
func limitMemory(bytes uint64) {
	if bytes > 0 {
		debug.SetMemoryLimit(int64(bytes))
	}
}
