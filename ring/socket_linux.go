package ring

import (
	"syscall"
	"unsafe"
)

type target struct {
	family int
	addr   syscall.Sockaddr
}

func sockaddr(a Addr) target {
	switch ip := a.TCP.Addr(); {
	case a.Unix != "":
		return target{syscall.AF_UNIX, &syscall.SockaddrUnix{Name: a.Unix}}
	case ip.Unmap().Is4():
		return target{syscall.AF_INET, &syscall.SockaddrInet4{
			Addr: ip.Unmap().As4(), Port: int(a.TCP.Port())}}
	default:
		return target{syscall.AF_INET6, &syscall.SockaddrInet6{
			Addr: ip.As16(), Port: int(a.TCP.Port()), ZoneId: zone(ip.Zone())}}
	}
}

// missCost measures a receive that finds nothing.
func missCost() int64 {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0
	}
	defer syscall.Close(pair[0])
	defer syscall.Close(pair[1])
	const n = 64
	var b [1]byte
	from := Clock()
	for range n {
		receive(pair[0], b[:])
	}
	return (Clock() - from) / n
}

// send and receive do not tell the Go scheduler: they cannot block.
func send(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), syscall.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

func receive(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	return int(n), errno
}
