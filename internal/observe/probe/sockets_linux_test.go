package probe

import (
	"encoding/binary"
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

func TestCountStates(t *testing.T) {
	text := message(unix.SOCK_DIAG_BY_FAMILY, 7, socket(1))
	text = append(text, message(unix.SOCK_DIAG_BY_FAMILY, 7, append(socket(10), 1))...)
	text = append(text, message(unix.SOCK_DIAG_BY_FAMILY, 6, socket(1))...) // of another question
	text = append(text, message(unix.SOCK_DIAG_BY_FAMILY, 7, socket(1))...)
	counts := make([]float64, 64)
	if done, err := eachSocket(text, 7, countState(counts)); done || err != nil {
		t.Fatal(done, err)
	}
	if counts[1] != 2 || counts[10] != 1 {
		t.Errorf("%v", counts)
	}
	end := message(unix.NLMSG_DONE, 7, make([]byte, 4))
	if done, err := eachSocket(end, 7, countState(counts)); !done || err != nil {
		t.Error(done, err)
	}
	refusal := binary.NativeEndian.AppendUint32(nil, ^uint32(unix.EPERM)+1)
	if _, err := eachSocket(message(unix.NLMSG_ERROR, 7, refusal), 7, countState(counts)); err != unix.EPERM {
		t.Errorf("%v, want %v", err, unix.EPERM)
	}
	for _, bad := range [][]byte{text[:3], text[:40], message(99, 7, nil), make([]byte, 16)} {
		if _, err := eachSocket(bad, 7, countState(counts)); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

func FuzzCountStates(f *testing.F) {
	f.Add(message(unix.SOCK_DIAG_BY_FAMILY, 7, socket(1)))
	f.Add(message(unix.SOCK_DIAG_BY_FAMILY, 7, make([]byte, 72)))
	f.Add(message(unix.NLMSG_ERROR, 7, []byte{1, 2, 3}))
	f.Fuzz(func(t *testing.T, text []byte) {
		counts := make([]float64, 64)
		if _, err := eachSocket(text, 7, countState(counts)); err != nil {
			return
		}
		sum := 0.0
		for _, n := range counts {
			sum += n
		}
		if sum*unix.NLMSG_HDRLEN > float64(len(text)) {
			t.Errorf("%v sockets in %d bytes", sum, len(text))
		}
		all := map[uint32]listener{}
		eachSocket(text, 7, func(m []byte) { readListener(m, all) })
		if len(all)*unix.NLMSG_HDRLEN > len(text) {
			t.Errorf("%d listeners in %d bytes", len(all), len(text))
		}
	})
}

func TestInMount(t *testing.T) {
	for _, c := range [][4]string{
		{"/sys/fs/cgroup", "/", "/", "/sys/fs/cgroup"},
		{"/sys/fs/cgroup", "/", "/a/b", "/sys/fs/cgroup/a/b"},
		{"/sys/fs/cgroup", "/docker/1", "/docker/1", "/sys/fs/cgroup"},
		{"/sys/fs/cgroup", "/docker/1", "/docker/1/x", "/sys/fs/cgroup/x"},
		{"/sys/fs/cgroup", "/docker/1", "/other", "/sys/fs/cgroup"},
	} {
		if got := pathInMount(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v: %s", c, got)
		}
	}
}
