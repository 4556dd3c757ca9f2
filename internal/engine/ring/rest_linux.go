package ring

import (
	"syscall"
	"unsafe"
)

// exactTimers sets the thread's timer slack to a nanosecond, so that the kernel wakes it on time.
// The default slack is 50 microseconds.
func exactTimers() {
	const setTimerSlack = 29 // PR_SET_TIMERSLACK
	syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}

// sleepUntil sleeps until an instant or a signal, and returns for how long, in ns. The Go scheduler
// is not told.
func sleepUntil(until int64) int64 {
	from := Clock()
	if until <= from {
		return 0
	}
	d := syscall.NsecToTimespec(until - from)
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&d)), 0, 0)
	return Clock() - from
}
