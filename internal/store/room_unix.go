//go:build linux || darwin

package store

import (
	"math"

	"syscall"
)

// roomIn is what the file system of a folder still takes; without limit where that is not known.
func roomIn(dir string) room {
	free := room{math.MaxInt64, math.MaxInt64}
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return free
	}
	if size := int64(s.Bsize); s.Bavail < math.MaxInt64/uint64(size) {
		free.bytes = int64(s.Bavail) * size
	}
	if s.Files > 0 && s.Ffree < math.MaxInt64 { // some have no fixed number
		free.files = int64(s.Ffree)
	}
	return free
}
