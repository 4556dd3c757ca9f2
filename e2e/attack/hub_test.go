//go:build linux

package attack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Who has no token opens connections to the hub and says nothing. It keeps as many as it has room
// for, and those that it knows stay.
func TestHubIsFlooded(t *testing.T) {
	const flood = 6000
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil || files.Max < 2*flood {
		t.Fatalf("%d open files are too few to flood anything: %v", files.Max, err)
	}
	home := t.TempDir()
	cmd := exec.Command(binary, "fleet", "up", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "DYNO_HOME="+home)
	out, err := cmd.StdoutPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() })
	address := ""
	for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
		address = regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(lines.Text())
	}
	if address == "" {
		t.Fatal("the hub says no address")
	}
	go io.Copy(io.Discard, out)
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	most := 0
	for n := range flood {
		c, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		if open = append(open, c); n%500 == 0 {
			most = max(most, filesOf(t, cmd.Process.Pid))
		}
	}
	// What is refused is closed at once, and the rest when its handshake takes too long.
	n := openAfterSecond(open)
	most = max(most, filesOf(t, cmd.Process.Pid))
	t.Logf("%d opened, %d kept, %d files of the hub", len(open), n, most)
	const others = 900 // connections that it is about to close, listeners, its store
	if len(open) < flood || n == 0 || most > 4096+others {
		t.Errorf("of %d connections that say nothing the hub keeps %d, and has %d files; 4096 are its limit",
			len(open), n, most)
	}
}

// filesOf is how many files a process has open.
func filesOf(t *testing.T, pid int) int {
	t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// openAfterSecond is how many connections the peer has not closed after a second.
func openAfterSecond(all []net.Conn) (n int) {
	kept := make(chan bool, len(all))
	for _, c := range all {
		go func() {
			c.SetReadDeadline(time.Now().Add(time.Second))
			_, err := io.Copy(io.Discard, c)
			kept <- errors.Is(err, os.ErrDeadlineExceeded)
		}()
	}
	for range all {
		if <-kept {
			n++
		}
	}
	return n
}
