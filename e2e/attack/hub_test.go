//go:build linux

package attack

import (
	"bufio"
	"errors"
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
	for range flood {
		c, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		open = append(open, c)
	}
	// What is refused is closed at once, or once a busy hub has time for it. The rest is closed when its
	// handshake takes too long.
	n := openAfterSecond(open)
	for tries := 0; n > 4096 && tries < 60; tries++ {
		n = max(1, openAfterSecond(open))
	}
	t.Logf("%d opened, %d kept", len(open), n)
	if len(open) < flood || n == 0 || n > 4096 {
		t.Errorf("of %d connections that say nothing the hub keeps %d; 4096 are its limit", len(open), n)
	}
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
