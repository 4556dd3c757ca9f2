//go:build !windows

package machine

import (
	"syscall"
	"time"
)

// ProcessCPU is the CPU time that this process has used, in user and system
// mode, of all its threads.
func ProcessCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
