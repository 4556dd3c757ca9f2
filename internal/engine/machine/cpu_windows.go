package machine

import (
	"syscall"
	"time"
)

// ProcessCPU is the CPU time that this process has used, in user and system
// mode, of all its threads.
func ProcessCPU() time.Duration {
	var created, ended, system, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(self, &created, &ended, &system, &user) != nil {
		return 0
	}
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration((ticks(system) + ticks(user)) * 100)
}
