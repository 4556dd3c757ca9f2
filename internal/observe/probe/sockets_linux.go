package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// maxSockets is up to how many sockets they are counted by state. The kernel walks
// over all of them and sends each: some 100 bytes, and a microsecond.
const maxSockets = 5_000

var errManySockets = fmt.Errorf("more than %d: counting them would disturb", maxSockets)

// tcpStates are the kernel's states of TCP sockets, in its order, from 1. TIME_WAIT,
// of which a load leaves tens of thousands, is not asked for: sockstat has it.
var tcpStates = []string{
	"established", "syn_sent", "syn_recv", "fin_wait1", "fin_wait2", timeWait,
	"close", "close_wait", "last_ack", "listen", "closing", "new_syn_recv",
}

const timeWait = "time_wait"

func stateColumns() (all []column) {
	for _, s := range tcpStates {
		if s != timeWait {
			all = append(all, column{name: "host.tcp." + s})
		}
	}
	return all
}

// A socketDiag asks the kernel for TCP sockets by netlink's sock_diag: binary, one
// pass over its table, and none of the text of /proc/net/tcp.
type socketDiag struct {
	fd       int
	sequence uint32
	buffer   []byte
}

func openSocketDiag() (*socketDiag, error) {
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
	return &socketDiag{fd: fd, buffer: make([]byte, 64<<10)}, nil
}

func (s *socketDiag) closeSocket() { unix.Close(s.fd) }

// countStates counts the sockets of each state, of IPv4 and IPv6, in the order of
// stateColumns.
func (s *socketDiag) countStates(row []float64) error {
	var counts [64]float64
	states := uint32(math.MaxUint32) &^ (1 << (slices.Index(tcpStates, timeWait) + 1))
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		if err := s.querySockets(family, states, countState(counts[:])); err != nil {
			return fmt.Errorf("ask netlink for sockets: %w", err)
		}
	}
	i := 0
	for state, name := range tcpStates {
		if name != timeWait {
			row[i] = counts[state+1]
			i++
		}
	}
	return nil
}

// querySockets calls each with the inet_diag_msg of all sockets in one of the states, a bit for
// each.
func (s *socketDiag) querySockets(family byte, states uint32, each func(message []byte)) error {
	s.sequence++
	to := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	if err := unix.Sendto(s.fd, diagRequest(family, states, s.sequence), 0, to); err != nil {
		return err
	}
	for {
		n, _, err := unix.Recvfrom(s.fd, s.buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		done, err := eachSocket(s.buffer[:n], s.sequence, each)
		if done || err != nil {
			return err
		}
	}
}

// diagRequest is an inet_diag_req_v2 in a netlink message.
func diagRequest(family byte, states, sequence uint32) []byte {
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

// countState counts by the number of the state, which is an inet_diag_msg's second byte.
func countState(counts []float64) func(message []byte) {
	return func(message []byte) {
		if len(message) >= 2 && int(message[1]) < len(counts) {
			counts[message[1]]++
		}
	}
}

// eachSocket reads the messages of an answer; done with the last one.
func eachSocket(text []byte, sequence uint32, each func(message []byte)) (done bool, err error) {
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
		case kind == unix.NLMSG_DONE:
			return true, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			return false, unix.Errno(-int32(order.Uint32(body)))
		case kind == unix.SOCK_DIAG_BY_FAMILY && len(body) >= 2:
			each(body)
		default:
			return false, errNetlink
		}
	}
	return false, nil
}
