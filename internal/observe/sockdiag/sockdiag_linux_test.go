package sockdiag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// message is one of netlink.
func message(kind uint16, sequence uint32, body []byte) []byte {
	order := binary.NativeEndian
	m := order.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(body)))
	m = order.AppendUint16(m, kind)
	m = order.AppendUint16(m, 0)
	m = order.AppendUint32(m, sequence)
	m = order.AppendUint32(m, 0)
	m = append(m, body...)
	for len(m)%4 != 0 {
		m = append(m, 0)
	}
	return m
}

func socket(state byte) []byte { return append([]byte{unix.AF_INET, state}, make([]byte, 70)...) }

// counter counts sockets by their state.
func counter(counts map[uint8]int) func(Socket) { return func(s Socket) { counts[s.State]++ } }

func TestReadAnswer(t *testing.T) {
	text := message(unix.SOCK_DIAG_BY_FAMILY, 7, socket(1))
	text = append(text, message(unix.SOCK_DIAG_BY_FAMILY, 7, append(socket(Listen), 1))...)
	text = append(text, message(unix.SOCK_DIAG_BY_FAMILY, 6, socket(1))...) // of another question
	text = append(text, message(unix.SOCK_DIAG_BY_FAMILY, 7, socket(1))...)
	counts := map[uint8]int{}
	if done, err := readAnswer(text, 7, counter(counts)); done || err != nil {
		t.Fatal(done, err)
	}
	if counts[1] != 2 || counts[Listen] != 1 {
		t.Errorf("%v", counts)
	}
	end := message(unix.NLMSG_DONE, 7, make([]byte, 4))
	if done, err := readAnswer(end, 7, counter(counts)); !done || err != nil {
		t.Error(done, err)
	}
	missing := binary.NativeEndian.AppendUint32(nil, ^uint32(unix.ENOENT)+1)
	if _, err := readAnswer(message(unix.NLMSG_DONE, 7, missing), 7, counter(counts)); err != unix.ENOENT {
		t.Errorf("%v, want %v", err, unix.ENOENT)
	}
	refusal := binary.NativeEndian.AppendUint32(nil, ^uint32(unix.EPERM)+1)
	if _, err := readAnswer(message(unix.NLMSG_ERROR, 7, refusal), 7, counter(counts)); err != unix.EPERM {
		t.Errorf("%v, want %v", err, unix.EPERM)
	}
	short := message(unix.SOCK_DIAG_BY_FAMILY, 7, socket(1)[:messageSize-4])
	for _, bad := range [][]byte{text[:3], text[:40], message(99, 7, nil), make([]byte, 16), short} {
		if _, err := readAnswer(bad, 7, counter(counts)); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

// The kernel knows a socket that listens, by its port and by what the link to it says.
func TestListeners(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(host)})
		if err != nil {
			t.Fatal(err)
		}
		file, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		if port := l.Addr().(*net.TCPAddr).Port; !listens(t, link, port) {
			t.Errorf("%s: %s is not among them", host, link)
		} else if err := errors.Join(file.Close(), l.Close()); err != nil || listens(t, link, port) {
			t.Errorf("%s: it still listens: %v", host, err)
		}
	}
}

func listens(t *testing.T, link string, port int) bool {
	t.Helper()
	all, err := Listeners()
	if err != nil {
		t.Fatal(err)
	}
	s := all[link]
	return s.State == Listen && s.Port == port && s.Backlog > 0
}

func FuzzReadAnswer(f *testing.F) {
	f.Add(message(unix.SOCK_DIAG_BY_FAMILY, 7, socket(1)))
	f.Add(message(unix.SOCK_DIAG_BY_FAMILY, 7, make([]byte, messageSize)))
	f.Add(message(unix.NLMSG_ERROR, 7, []byte{1, 2, 3}))
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		if _, err := readAnswer(text, 7, func(Socket) { n++ }); err == nil && n*(unix.NLMSG_HDRLEN+messageSize) > len(text) {
			t.Errorf("%d sockets in %d bytes", n, len(text))
		}
	})
}
