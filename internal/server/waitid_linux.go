package server

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// nextDead waits for a child that has ended, and leaves it a zombie.
func nextDead() (pid int, err error) {
	// siginfo_t with what waitid fills in; x/sys does not name the fields. The
	// union that si_pid is the first of is aligned to a pointer.
	var info struct {
		_   [3]int32
		_   [0]uintptr
		pid int32
		_   [112]byte
	}
	err = unix.Waitid(unix.P_ALL, 0, (*unix.Siginfo)(unsafe.Pointer(&info)),
		unix.WEXITED|unix.WNOWAIT|unix.WALL, nil)
	return int(info.pid), err
}
