package ring

import "syscall"

// exactTimers has the kernel wake this thread within a nanosecond of when it asked for,
// and not within 50 microseconds.
func exactTimers() {
	const setTimerSlack = 29 // PR_SET_TIMERSLACK
	syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}

// rest sleeps, until an instant or a signal, and returns how long, in ns.
func rest(until int64) int64 {
	from := Clock()
	if until <= from {
		return 0
	}
	d := syscall.NsecToTimespec(until - from)
	syscall.Nanosleep(&d, nil)
	return Clock() - from
}
