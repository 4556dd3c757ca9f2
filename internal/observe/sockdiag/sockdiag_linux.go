// Package sockdiag asks Linux for its TCP sockets by netlink's sock_diag. The answers are binary,
// where /proc/net/tcp is text. If only sockets that listen are wanted, the kernel does not walk
// through its connections.
package sockdiag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Listen is the state of a socket that listens, the kernel's TCP_LISTEN.
const Listen = 10

// A Socket is a TCP socket of this network namespace.
type Socket struct {
	State   uint8 // the kernel's number, from 1 for ESTABLISHED
	Port    int   // its own
	Backlog int   // of one that listens: how many connections may wait for it to accept them
	Inode   uint32
}

// A Diag is an open netlink socket. It is not for concurrent use.
type Diag struct {
	fd       int
	sequence uint32
	buffer   []byte
}

// Open opens a netlink socket. It fails where the kernel does not permit or does not know it, and
// where no file can be opened.
func Open() (*Diag, error) {
	how := unix.SOCK_RAW | unix.SOCK_CLOEXEC
	fd, err := unix.Socket(unix.AF_NETLINK, how, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("open a netlink socket: %w", err)
	}
	// The kernel answers within the call; the limit is for a kernel that does not.
	limit := unix.NsecToTimeval(int64(time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("limit the waiting for netlink: %w", err)
	}
	return &Diag{fd: fd, buffer: make([]byte, 64<<10)}, nil
}

// Close closes it.
func (d *Diag) Close() { unix.Close(d.fd) }

// Each calls f with every socket, of IPv4 or IPv6, that is in one of the states. Bit 1<<s stands
// for state s.
func (d *Diag) Each(states uint32, f func(Socket)) error {
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		if err := d.query(family, states, f); err != nil {
			return fmt.Errorf("ask netlink for sockets: %w", err)
		}
	}
	return nil
}

// Listeners are the sockets that listen, by what the links to them in /proc/PID/fd say.
func Listeners() (map[string]Socket, error) {
	d, err := Open()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	all := map[string]Socket{}
	err = d.Each(1<<Listen, func(s Socket) { all[fmt.Sprintf("socket:[%d]", s.Inode)] = s })
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (d *Diag) query(family byte, states uint32, f func(Socket)) error {
	d.sequence++
	to := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	if err := unix.Sendto(d.fd, request(family, states, d.sequence), 0, to); err != nil {
		return err
	}
	for {
		n, _, err := unix.Recvfrom(d.fd, d.buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		done, err := readAnswer(d.buffer[:n], d.sequence, f)
		if done || err != nil {
			return err
		}
	}
}

// request is an inet_diag_req_v2 in a netlink message.
func request(family byte, states, sequence uint32) []byte {
	const size = unix.NLMSG_HDRLEN + 56
	order := binary.NativeEndian
	m := order.AppendUint32(make([]byte, 0, size), size)
	m = order.AppendUint16(m, unix.SOCK_DIAG_BY_FAMILY)
	m = order.AppendUint16(m, unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	m = order.AppendUint32(m, sequence)
	m = order.AppendUint32(m, 0)
	m = append(m, family, unix.IPPROTO_TCP, 0, 0)
	m = order.AppendUint32(m, states)
	return m[:size] // which sockets: any
}

var errNetlink = errors.New("a message of netlink that makes no sense")

// readAnswer reads the messages of an answer, and calls f with each socket. done is true if the
// last message was among them.
func readAnswer(text []byte, sequence uint32, f func(Socket)) (done bool, err error) {
	order := binary.NativeEndian
	for len(text) > 0 {
		if len(text) < unix.NLMSG_HDRLEN {
			return false, errNetlink
		}
		size := int(order.Uint32(text))
		if size < unix.NLMSG_HDRLEN || size > len(text) {
			return false, errNetlink
		}
		kind, of := order.Uint16(text[4:]), order.Uint32(text[8:])
		body := text[unix.NLMSG_HDRLEN:size]
		text = text[min((size+3)&^3, len(text)):]
		switch {
		case of != sequence: // what is left of a dump that was given up
		case kind == unix.NLMSG_DONE && len(body) >= 4 && int32(order.Uint32(body)) < 0:
			return true, unix.Errno(-int32(order.Uint32(body))) // so ends one that went wrong
		case kind == unix.NLMSG_DONE:
			return true, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			return false, unix.Errno(-int32(order.Uint32(body)))
		case kind == unix.SOCK_DIAG_BY_FAMILY && len(body) >= messageSize:
			f(readSocket(body))
		default:
			return false, errNetlink
		}
	}
	return false, nil
}

// messageSize is that of an inet_diag_msg.
const messageSize = 72

// readSocket reads an inet_diag_msg. Of a socket that listens the queue of what is written is the
// length of its backlog.
func readSocket(m []byte) Socket {
	const state, port, backlog, inode = 1, 4, 60, 68
	order := binary.NativeEndian
	return Socket{
		State:   m[state],
		Port:    int(binary.BigEndian.Uint16(m[port:])),
		Backlog: int(order.Uint32(m[backlog:])),
		Inode:   order.Uint32(m[inode:]),
	}
}
