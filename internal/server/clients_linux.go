package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The network of the clients, of which nothing leads outside: client i has
// 10.77.i.2 and, on the other end of its pair, the server 10.77.i.1. All clients
// take the whole of 10.77.0.0/16 to be behind their one interface, so each finds
// NetnsAddress there, which is on the server's loopback interface. Without a
// bridge in the way, and without a route.
const (
	clientLink  = "eth0"
	serverRange = 24
	clientRange = 16
)

// connect makes the namespaces of the clients. The calling thread, which is locked
// to its goroutine, is in each for a while.
func (n *Netns) connect() (all []*os.File, err error) {
	if n.Clients == 0 {
		return nil, nil
	}
	if err := assignAddress("lo", NetnsAddress, 32); err != nil {
		return nil, fmt.Errorf("address of the server: %w", err)
	}
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer home.Close()
	for i := 1; i <= n.Clients; i++ {
		space, err := n.makeClient(i, home)
		if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
			return nil, errors.Join(err, fmt.Errorf("return to the server's namespace: %w", back))
		}
		if err == nil {
			err = assignAddress(serverLink(i), fmt.Sprintf("10.77.%d.1", i), serverRange)
		}
		if err != nil {
			return nil, fmt.Errorf("network namespace of client %d: %w", i, err)
		}
		all = append(all, space)
	}
	return all, nil
}

func serverLink(client int) string { return fmt.Sprintf("client%d", client) }

// makeClient makes the namespace of client i, leaves the thread in it, and connects it
// with the one at home.
func (n *Netns) makeClient(i int, home *os.File) (*os.File, error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return nil, isRefused(err)
	}
	space, err := os.Open("/proc/thread-self/ns/net")
	if err == nil {
		err = n.prepare()
	}
	if err == nil {
		err = pair(clientLink, serverLink(i), home)
	}
	if err == nil {
		err = assignAddress(clientLink, fmt.Sprintf("10.77.%d.2", i), clientRange)
	}
	return space, err
}

// enter moves the trampoline to the namespace of its client.
func (l launching) enter() error {
	if !l.Client {
		return nil
	}
	if err := unix.Setns(clientSpace, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network namespace of a client: %w", err)
	}
	return unix.Close(clientSpace)
}

// raiseLink brings an interface up.
func raiseLink(name string) error {
	return withInterface(name, func(fd int, i *unix.Ifreq) error {
		i.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, i)
	})
}

// assignAddress gives an interface an address in a network whose prefix has so many bits,
// and brings it up. The loopback interface keeps its own.
func assignAddress(name, address string, bits int) error {
	label := name
	if name == "lo" {
		label = "lo:1"
	}
	err := withAddress(label, address, unix.SIOCSIFADDR)
	if err == nil {
		mask := netip.AddrFrom4([4]byte{255, 255, 255, 255})
		network, _ := mask.Prefix(bits)
		err = withAddress(label, network.Addr().String(), unix.SIOCSIFNETMASK)
	}
	if err == nil {
		err = raiseLink(name)
	}
	if err != nil {
		return fmt.Errorf("give %s the address %s: %w", name, address, err)
	}
	return nil
}

func withAddress(name, address string, request uint) error {
	return withInterface(name, func(fd int, i *unix.Ifreq) error {
		a := netip.MustParseAddr(address).As4()
		if err := i.SetInet4Addr(a[:]); err != nil {
			return err
		}
		return unix.IoctlIfreq(fd, request, i)
	})
}

func withInterface(name string, do func(fd int, i *unix.Ifreq) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	i, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	return do(fd, i)
}

// pair makes two virtual Ethernet interfaces that are connected: name here, and
// other in the namespace there.
func pair(name, other string, there *os.File) error {
	const peer = 1 // VETH_INFO_PEER
	far := append(make([]byte, unix.SizeofIfInfomsg), attribute(unix.IFLA_IFNAME, text(other))...)
	fd := binary.NativeEndian.AppendUint32(nil, uint32(there.Fd()))
	far = append(far, attribute(unix.IFLA_NET_NS_FD, fd)...)
	info := append(attribute(unix.IFLA_INFO_KIND, text("veth")),
		attribute(unix.IFLA_INFO_DATA, attribute(peer, far))...)
	link := append(make([]byte, unix.SizeofIfInfomsg), attribute(unix.IFLA_IFNAME, text(name))...)
	link = append(link, attribute(unix.IFLA_LINKINFO, info)...)
	if err := newLink(link); err != nil {
		return fmt.Errorf("make a pair of virtual Ethernet interfaces (veth): %w", err)
	}
	return nil
}

func text(s string) []byte { return append([]byte(s), 0) }

// attribute is an attribute of rtnetlink(7).
func attribute(kind uint16, value []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(unix.SizeofRtAttr+len(value)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, value...)
	for len(b)%unix.RTA_ALIGNTO != 0 {
		b = append(b, 0)
	}
	return b
}

// newLink asks the kernel for an interface, and waits for its word.
func newLink(body []byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	h := unix.NlMsghdr{Len: uint32(unix.SizeofNlMsghdr + len(body)), Type: unix.RTM_NEWLINK,
		Flags: unix.NLM_F_REQUEST | unix.NLM_F_ACK | unix.NLM_F_CREATE | unix.NLM_F_EXCL, Seq: 1}
	message := append((*[unix.SizeofNlMsghdr]byte)(unsafe.Pointer(&h))[:], body...)
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return err
	}
	if n < unix.SizeofNlMsghdr+4 || binary.NativeEndian.Uint16(answer[4:]) != unix.NLMSG_ERROR {
		return errors.New("the kernel answered something else than how it went")
	}
	if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}
