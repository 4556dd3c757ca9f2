package ring

import (
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

type target struct {
	family int
	addr   syscall.Sockaddr
	from   syscall.Sockaddr // nil: the system's choice
}

func targetSockaddr(a Addr) target {
	if a.Unix != "" {
		return target{family: syscall.AF_UNIX, addr: &syscall.SockaddrUnix{Name: a.Unix}}
	}
	to := target{family: syscall.AF_INET6, addr: inetSockaddr(a.TCP)}
	if a.TCP.Addr().Unmap().Is4() {
		to.family = syscall.AF_INET
	}
	if a.From.IsValid() {
		to.from = inetSockaddr(netip.AddrPortFrom(a.From, 0))
	}
	return to
}

func inetSockaddr(a netip.AddrPort) syscall.Sockaddr {
	ip, port := a.Addr(), int(a.Port())
	if ip.Unmap().Is4() {
		return &syscall.SockaddrInet4{Addr: ip.Unmap().As4(), Port: port}
	}
	return &syscall.SockaddrInet6{Addr: ip.As16(), Port: port, ZoneId: zoneIndex(ip.Zone())}
}

// A state is how far a socket has come.
type state uint8

const (
	closed state = iota
	connecting
	connected
	ended     // no more data can be received
	departing // closed by its user, not yet by its peer
)

// departures are the sockets that wait for their peers to close, the longest first.
type departures struct {
	grace
	queue []departure
	gone  int // entries of the queue that have left it
}

type departure struct {
	fd   int
	life int32
	till int64
}

// A leaver is a ring: it reports whether it still has a departure, and closes one. closeLate closes
// it at the end of its time, and reports whether its peer had closed before.
type leaver interface {
	stillDeparts(departure) bool
	closeLate(fd int) (closedByPeer bool)
}

func (q *departures) hasAny() bool { return q.gone < len(q.queue) }
func (q *departures) isFull() bool { return len(q.queue)-q.gone >= departuresMost }
func (q *departures) take() bool   { return !q.isFull() && q.waits() }

func (q *departures) addDeparture(l departure) { q.queue = append(q.queue, l) }

// closeExpired closes departures whose time has expired, and returns when to call it again.
func (q *departures) closeExpired(now int64, r leaver) int64 {
	next := int64(Never)
	for ; q.hasAny(); q.gone++ {
		l := q.queue[q.gone]
		if mine := r.stillDeparts(l); mine && l.till > now {
			next = l.till
			break
		} else if mine {
			q.endWait(r.closeLate(l.fd))
		}
	}
	if q.gone*2 >= len(q.queue) { // so that each entry is moved once at most
		q.queue = q.queue[:copy(q.queue, q.queue[q.gone:])]
		q.gone = 0
	}
	return next
}

// beginConnect starts to connect a socket, and reports whether it is already connected.
func beginConnect(to target) (fd int, up bool, err error) {
	const kind = syscall.SOCK_STREAM | syscall.SOCK_NONBLOCK | syscall.SOCK_CLOEXEC
	fd, err = syscall.Socket(to.family, kind, 0)
	if err != nil {
		return -1, false, err
	}
	if to.family != syscall.AF_UNIX {
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	}
	if to.from != nil {
		// The port is chosen by connect, which needs a port that is free for that target only.
		syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		err = syscall.Bind(fd, to.from)
	}
	if err == nil {
		err = syscall.Connect(fd, to.addr)
	}
	if err == syscall.EINPROGRESS { // on loopback it has often succeeded by now
		err = syscall.Connect(fd, to.addr)
	}
	switch err {
	case nil, syscall.EISCONN:
		return fd, true, nil
	case syscall.EALREADY:
		return fd, false, nil
	}
	syscall.Close(fd)
	return -1, false, err
}

// connectError is the result of a connect.
func connectError(fd int) error {
	e, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	if err == nil && e != 0 {
		err = syscall.Errno(e)
	}
	return err
}

// localAddr is the address from which a socket is connected; zero: it is not TCP.
func localAddr(fd int) netip.AddrPort {
	switch a, _ := syscall.Getsockname(fd); a := a.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *syscall.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// peerClosed reports whether the peer has closed, or the connection has failed.
func peerClosed(fd int) bool {
	ask := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(ask, 0)
	return n > 0 && err == nil
}

// emptyReceiveCost measures a receive that finds nothing, in ns.
func emptyReceiveCost() int64 {
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
		receiveNow(pair[0], b[:])
	}
	return (Clock() - from) / n
}

// sendNow and receive do not tell the Go scheduler, because they cannot block.
func sendNow(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), syscall.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

func receiveNow(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	return int(n), errno
}
