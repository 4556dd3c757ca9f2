//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"dyno/internal/engine/ring"
)

// forbiddenEnv has the test's own program forbid itself a system call and then become another
// program. Its value is CALL:ERRNO.
const forbiddenEnv = "DYNO_E2E_FORBIDDEN"

// runForbidden is that program.
func runForbidden() {
	var call, errno uint32
	if _, err := fmt.Sscanf(os.Getenv(forbiddenEnv), "%d:%d", &call, &errno); err != nil {
		return
	}
	runtime.LockOSThread() // it is this thread that becomes the other program
	err := forbidCall(call, errno)
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "forbidding a system call:", err)
	os.Exit(1)
}

// forbidCall makes one system call fail, as the seccomp profiles of containers do.
func forbidCall(call, errno uint32) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | errno},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(&program)), 0, 0)
}

// runForbidding runs dyno with a system call forbidden.
func runForbidding(t *testing.T, call uint32, errno syscall.Errno, args ...string) *outcome {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.json")
	cmd := exec.Command(os.Args[0], append([]string{binary}, runArgs(file, args)...)...)
	t.Setenv(forbiddenEnv, fmt.Sprintf("%d:%d", call, errno))
	return startCommand(t, file, cmd).waitForExit()
}

// TestIOUringForbidden has each of io_uring's calls forbidden: that is said, and the load is
// made on epoll, with nothing lost.
func TestIOUringForbidden(t *testing.T) {
	if o, err := ring.Open("uring", ring.Size{Sockets: 1}, nil); err == nil {
		o.Free()
	} else if errors.Is(err, ring.ErrRefused) {
		t.Skip("it is anyway: ", err)
	}
	url := "http://" + listenWith(t, answerWith(answer)).Addr().String()
	for _, c := range []struct {
		name  string
		call  uint32
		errno syscall.Errno
	}{
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, syscall.EPERM},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, syscall.ENOSYS},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, syscall.EPERM},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, syscall.EPERM},
	} {
		t.Run(c.name+" "+strconv.Itoa(int(c.errno)), func(t *testing.T) {
			o := runForbidding(t, c.call, c.errno, "-t", "1", "-c", "50", "-n", "5000", url).expectExit(t, 0)
			checkEpollFallback(t, o, c.name+": "+c.errno.Error())
			o = runForbidding(t, c.call, c.errno, "--ring", "uring", "-n", "1", url)
			if o.result != nil || o.code == 0 || !strings.Contains(o.stderr, "--ring epoll") {
				t.Errorf("--ring uring: exit code %d\n%s", o.code, o.stderr)
			}
		})
	}
}

// checkEpollFallback checks that all 5000 requests were completed, on epoll, and that dyno says
// why.
func checkEpollFallback(t *testing.T, o *outcome, why string) {
	t.Helper()
	checkFlawless(t, o.result, 5000, "200")
	if o.result.Generator.Ring != "epoll" {
		t.Errorf("the load was on %s", o.result.Generator.Ring)
	}
	want := `dyno uses the ring "epoll", which is slower, because io_uring is refused by this system: ` + why
	if said := o.reportLines(); !slices.ContainsFunc(said, func(s string) bool {
		return strings.HasPrefix(s, want)
	}) {
		t.Errorf("said %q, want %q", said, want)
	}
}
