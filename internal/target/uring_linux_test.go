//go:build amd64 || arm64

package target

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"dyno/internal/engine/uring"
)

// TestURingShortSend has the kernel send half of an answer, or none of it, or
// find that nobody wants it.
func TestURingShortSend(t *testing.T) {
	for _, test := range []struct {
		res  int32
		want string
		open bool
	}{
		{3, "ves", true},
		{0, "halves", true},
		{-int32(syscall.EAGAIN), "halves", true},
		{-int32(syscall.EPIPE), "", false},
	} {
		l, err := newLoop(newSite(Config{Ring: "uring"}), &counters{}, -1)
		if errors.Is(err, uring.ErrRefused) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		l.openConn(fds[0])
		c := l.conns[0]
		c.under, c.out = false, []byte("halves")
		l.ring.(*uringRing).handleSent(c, test.res)
		b := make([]byte, 10)
		n, _ := syscall.Read(fds[1], b)
		if got := string(b[:max(n, 0)]); got != test.want || c.hasUnsent() || c.isOpen() != test.open {
			t.Errorf("after %d: %q is sent, open %v", test.res, got, c.isOpen())
		}
		if sent := l.count.sent.Load(); !test.open && sent != -int64(len("halves")) {
			t.Errorf("after %d: what is lost remains counted, %d", test.res, sent)
		}
		if c.under = false; c.isOpen() {
			l.dropConn(c)
		}
		syscall.Close(fds[1])
		l.closeAll()
	}
}

// TestRingRefused forbids io_uring as a container does, on a thread that ends with
// the test.
func TestRingRefused(t *testing.T) {
	over := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: the thread is of no more use
		if err := forbid(unix.SYS_IO_URING_SETUP, syscall.EPERM); err != nil {
			over <- err
			return
		}
		for _, ring := range []string{"", "epoll"} {
			s, err := Listen(Config{Addr: "127.0.0.1:0", Ring: ring})
			if err != nil {
				t.Errorf("--ring %q: %v", ring, err)
				continue
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			s.Serve(ctx)
		}
		_, err := Listen(Config{Addr: "127.0.0.1:0", Ring: "uring"})
		if !errors.Is(err, uring.ErrRefused) || !strings.Contains(err.Error(), "--ring uring: ") {
			t.Errorf("--ring uring: %v", err)
		}
		over <- nil
	}()
	if err := <-over; err != nil {
		t.Skipf("seccomp: %v", err)
	}
}

// forbid makes a system call fail on this thread, and no other call.
func forbid(call uint32, errno syscall.Errno) error {
	const load, equal, answer = 0x20, 0x15, 0x06
	code := []unix.SockFilter{
		{Code: load}, // the call's number
		{Code: equal, K: call, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(&program)), 0, 0)
}
