package ring

import (
	"syscall"
	"unsafe"
)

// exactTimers has the kernel wake this thread within a nanosecond of when it asked for,
// and not within 50 microseconds.
func exactTimers() {
	const setTimerSlack = 29 // PR_SET_TIMERSLACK
	syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}

// sleepUntil sleeps, until an instant or a signal, and returns how long, in ns. The Go scheduler
// is not told, as by a wait.
func sleepUntil(until int64) int64 {
	from := Clock()
	if until <= from {
		return 0
	}
	d := syscall.NsecToTimespec(until - from)
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&d)), 0, 0)
	return Clock() - from
}
