//go:build amd64 || arm64

package target

import (
	"syscall"
	"time"
	"unsafe"
)

// The system calls of the loop. Those that cannot block are made raw, without
// a word to the Go scheduler, which is worth it at millions a second.

const (
	edge          = 1 << 31 // EPOLLET, which package syscall has as negative
	exclusive     = 1 << 28 // EPOLLEXCLUSIVE
	reusePort     = 0xf     // SO_REUSEPORT
	timerSlack    = 29      // PR_SET_TIMERSLACK
	sysEventfd    = syscall.SYS_EVENTFD2
	sysEpollWait2 = 441 // epoll_pwait2, the same on both architectures
)

// receiveBytes reads what has come. Both results are 0 at the end of the stream.
func receiveBytes(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	return int(n), e
}

// sendBytes sends as much of b as there is room for.
func sendBytes(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_NOSIGNAL, 0, 0)
	return int(n), e
}

// A gather sends two pieces of memory as one.
type gather struct {
	iov [2]syscall.Iovec
	msg syscall.Msghdr
}

func (g *gather) sendBoth(fd int, a, b []byte) (int, syscall.Errno) {
	g.iov[0].Base, g.iov[0].Len = unsafe.SliceData(a), uint64(len(a))
	g.iov[1].Base, g.iov[1].Len = unsafe.SliceData(b), uint64(len(b))
	g.msg.Iov, g.msg.Iovlen = &g.iov[0], 2
	n, _, e := syscall.RawSyscall6(syscall.SYS_SENDMSG, uintptr(fd),
		uintptr(unsafe.Pointer(&g.msg)), syscall.MSG_NOSIGNAL, 0, 0, 0)
	return int(n), e
}

// acceptConn takes a connection, made not to block.
func acceptConn(fd int) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_ACCEPT4, uintptr(fd), 0, 0,
		syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0, 0)
	return int(n), e
}

// newEvent makes a descriptor that is readable once signal has been called.
func newEvent() (int, error) {
	fd, _, e := syscall.RawSyscall(sysEventfd, 0, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

func signalEvent(event int) error {
	_, err := syscall.Write(event, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	return err
}

// waitFor waits for events for a time, which is not limited when negative.
func waitFor(ep int, events []syscall.EpollEvent, d time.Duration) (int, error) {
	var limit *syscall.Timespec
	if d >= 0 {
		t := syscall.NsecToTimespec(int64(d))
		limit = &t
	}
	n, _, e := syscall.Syscall6(sysEpollWait2, uintptr(ep),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)),
		uintptr(unsafe.Pointer(limit)), 0, 0)
	switch e {
	case 0:
		return int(n), nil
	case syscall.EINTR:
		return 0, nil
	case syscall.ENOSYS, syscall.EPERM: // before Linux 5.11, or in a strict container
		return waitMillis(ep, events, d)
	}
	return 0, e
}

// waitMillis is waitFor where waits are whole milliseconds.
func waitMillis(ep int, events []syscall.EpollEvent, d time.Duration) (int, error) {
	ms := -1
	if d >= 0 {
		ms = int(min((d+time.Millisecond-1)/time.Millisecond, 1<<30))
	}
	n, err := syscall.EpollWait(ep, events, ms)
	if err == syscall.EINTR {
		return 0, nil
	}
	return max(n, 0), err
}

// A pollfd is a descriptor to wait for, as ppoll wants it.
type pollfd struct {
	fd              int32
	events, revents int16
}

// pauseThread waits for d, or until event rings.
func pauseThread(event int, d time.Duration) {
	const in = 1 // POLLIN
	p := pollfd{fd: int32(event), events: in}
	t := syscall.NsecToTimespec(int64(d))
	syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1,
		uintptr(unsafe.Pointer(&t)), 0, 0, 0)
}

// preciseTimers makes this thread's waits end when asked, not up to 50 µs later.
func preciseTimers() {
	syscall.RawSyscall(syscall.SYS_PRCTL, timerSlack, 1, 0)
}
