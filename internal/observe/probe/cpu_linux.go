package probe

import (
	"math"

	"golang.org/x/sys/unix"
)

// threadCPU is the CPU time of the calling thread in ns, NaN if it is not known.
func threadCPU() float64 { return readClock(unix.CLOCK_THREAD_CPUTIME_ID) }

// selfCPU is the CPU time of this process in ns.
func selfCPU() float64 { return readClock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func readClock(id int32) float64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return math.NaN()
	}
	return float64(t.Nano())
}

// processClock is the id of another process's CPU clock: the complement of the pid and
// the kernel's number of the clock that counts what the scheduler counted.
func processClock(pid int) int32 {
	const scheduled = 2
	return int32(^pid<<3 | scheduled)
}
