package h3

import (
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// packets reads and writes a socket's packets without telling the Go scheduler, because no call can
// block, and without what package net and x/net do for sockets that have many peers.
type packets struct {
	raw  syscall.RawConn
	peer net.Addr

	// Of the one goroutine that reads.
	heads   [packetsMost]packetHead
	parts   [packetsMost]unix.Iovec
	room    int // of heads, used
	came    int
	readErr syscall.Errno
	read    func(fd uintptr) bool

	mu       sync.Mutex // of what follows: quic-go may write from two goroutines
	head     unix.Msghdr
	part     unix.Iovec
	sent     int
	writeErr syscall.Errno
	write    func(fd uintptr) bool
}

// packetsMost is how many packets are read at once: as many as quic-go asks for.
const packetsMost = 8

// A packetHead is a struct mmsghdr.
type packetHead struct {
	unix.Msghdr
	size uint32
}

func newPackets(c *net.UDPConn) (*packets, error) {
	raw, err := c.SyscallConn()
	p := &packets{raw: raw, peer: c.RemoteAddr()}
	p.read, p.write = p.readNow, p.writeNow
	return p, err
}

// ReadBatch reads packets as quic-go wants them, and waits for the first.
func (p *packets) ReadBatch(all []ipv4.Message, _ int) (int, error) {
	p.room = min(len(all), packetsMost)
	for i := range p.room {
		m, h := &all[i], &p.heads[i]
		p.parts[i].Base = unsafe.SliceData(m.Buffers[0])
		p.parts[i].SetLen(len(m.Buffers[0]))
		h.Iov, h.Control = &p.parts[i], unsafe.SliceData(m.OOB)
		h.SetIovlen(1)
		h.SetControllen(len(m.OOB))
	}
	if err := p.raw.Read(p.read); err != nil {
		return 0, err
	}
	if p.readErr != 0 {
		return 0, &net.OpError{Op: "read", Net: "udp", Addr: p.peer,
			Err: os.NewSyscallError("recvmmsg", p.readErr)}
	}
	for i := range p.came {
		m, h := &all[i], &p.heads[i]
		m.Addr, m.N, m.NN, m.Flags = p.peer, int(h.size), int(h.Controllen), int(h.Flags)
	}
	return p.came, nil
}

// readNow reads what has come. It is false if that is nothing.
func (p *packets) readNow(fd uintptr) bool {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVMMSG, fd,
			uintptr(unsafe.Pointer(&p.heads[0])), uintptr(p.room), syscall.MSG_DONTWAIT, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		p.came, p.readErr = int(n), errno
		return errno != syscall.EAGAIN
	}
}

func (p *packets) send(b, oob []byte) (n, oobn int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.part.Base = unsafe.SliceData(b)
	p.part.SetLen(len(b))
	p.head = unix.Msghdr{Iov: &p.part, Control: unsafe.SliceData(oob)}
	p.head.SetIovlen(1)
	p.head.SetControllen(len(oob))
	if err := p.raw.Write(p.write); err != nil {
		return 0, 0, err
	}
	if p.writeErr != 0 {
		return 0, 0, &net.OpError{Op: "write", Net: "udp", Addr: p.peer,
			Err: os.NewSyscallError("sendmsg", p.writeErr)}
	}
	return p.sent, len(oob), nil
}

// writeNow writes. It is false if the socket has no room.
func (p *packets) writeNow(fd uintptr) bool {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(&p.head)),
			syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		p.sent, p.writeErr = int(n), errno
		return errno != syscall.EAGAIN
	}
}
