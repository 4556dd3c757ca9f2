//go:build linux && slow

package e2e

import (
	"os"
	"testing"
)

// TestIOUringDisabled is of a machine whose administrator has forbidden io_uring. While it runs,
// no other program on the machine can open a ring, so it is not in the suite.
func TestIOUringDisabled(t *testing.T) {
	const setting = "/proc/sys/kernel/io_uring_disabled"
	before, err := os.ReadFile(setting)
	if err != nil {
		t.Skip(err)
	}
	url := "http://" + listenWith(t, answerWith(answer)).Addr().String()
	if err := os.WriteFile(setting, []byte("2"), 0); err != nil {
		t.Skip("it cannot be set: ", err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(setting, before, 0); err != nil {
			t.Errorf("io_uring stays disabled on this machine: %v", err)
		}
	})
	o := runDyno(t, 0, "-t", "1", "-c", "50", "-n", "5000", url)
	checkEpollFallback(t, o, "io_uring_setup: operation not permitted")
}
