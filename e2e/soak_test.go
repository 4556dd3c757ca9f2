//go:build linux && slow

package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// For ten minutes, every request that is due is sent, each is answered, and dyno takes no
// more memory than after the first minute. make test-slow runs it.
func TestSoak(t *testing.T) {
	const (
		rate    = 5000
		minutes = 10
		mayGrow = 5000 // kB
	)
	server := startTarget(t, "--body", "100")
	r := startDyno(t, "-t", "1", "-c", "100", "-R", fmt.Sprint(rate), "-d", fmt.Sprint(minutes, "m"), server.url)
	r.killer.Stop() // patience is for what takes seconds
	r.killer = time.AfterFunc((minutes+1)*time.Minute, func() { r.cmd.Process.Signal(syscall.SIGQUIT) })
	var first, low, high int64
	for began := time.Now(); ; time.Sleep(time.Second) {
		kB := residentMemory(r.cmd.Process.Pid)
		if kB == 0 {
			break
		}
		switch {
		case time.Since(began) < time.Minute:
			continue
		case first == 0:
			first, low, high = kB, kB, kB
		}
		low, high = min(low, kB), max(high, kB)
	}
	o := r.waitForExit().expectExit(t, 0)
	t.Logf("resident: %d kB after the first minute, then %d to %d", first, low, high)
	if first == 0 || first-low > mayGrow || high-first > mayGrow {
		t.Errorf("memory: %d kB after the first minute, then %d to %d", first, low, high)
	}
	checkFlawless(t, o.result, rate*minutes*60, "200")
	checkAgrees(t, o.result, server.stopCounting(t))
}

// residentMemory returns the resident memory of a process, in kB; 0 if it has ended.
func residentMemory(pid int) (kB int64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, line, alive := strings.Cut(string(b), "VmRSS:")
	if alive {
		fmt.Sscan(line, &kB)
	}
	return kB
}
