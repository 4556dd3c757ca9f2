//go:build linux && slow

package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno/internal/result"
)

// TestHundredThousand has as many connections on this machine at once: all are served, none
// is given up, and none costs more than 4 KB. One process has them all if it may have so many
// open files, which dyno and its target see to where root may; else several have.
func TestHundredThousand(t *testing.T) {
	const connections, mayTake = 100_000, 4096 // bytes each
	parts := 1
	if most := fileLimitMax(t); most < connections+100 {
		parts = connections/(most-100) + 1
		t.Logf("a process may have %d open files: %d share the connections", most, parts)
	}
	for _, ring := range []string{"auto", "epoll"} {
		t.Run(ring, func(t *testing.T) {
			one := holdConnections(t, ring, 1, 1)[0]
			all := holdConnections(t, ring, parts, connections/parts)
			for _, h := range all {
				r, asked := h.result, connections/parts
				checkBalanced(t, r, -1)
				if r.Connections.Served != asked || len(r.Errors) > 0 || r.Connections.Reconnects > 0 {
					t.Errorf("%+v, errors %+v", r.Connections, r.Errors)
				}
				each := (h.peak - one.peak) << 10 / int64(asked-1)
				if each > mayTake {
					t.Errorf("%d bytes of memory for each connection", each)
				}
				t.Logf("%s: %d bytes for each; connect p99 %.0f ms, latency p50 %.0f ms, %.0f/s",
					r.Generator.Ring, each, r.Phases.Connect.P99/1e3, r.Latency.P50/1e3, r.Rate.Completed)
				said := strings.Join(r.Warnings, "; ")
				if parts == 1 && !strings.Contains(said, "connects from 127.0.0.1 to") {
					t.Errorf("it does not say where it connects from: %s", said)
				}
			}
		})
	}
}

// fileLimitMax returns how many files a process of this user may have open.
func fileLimitMax(t *testing.T) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	more := limit
	more.Max = max(limit.Max, 1<<20)
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &more) == nil {
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
		return int(more.Max)
	}
	return int(limit.Max)
}

// A holder is what one dyno has measured, and the most memory it used, in kB.
type holder struct {
	result *result.Result
	peak   int64
}

// holdConnections runs several dynos at once, each with so many connections to a target of its
// own.
func holdConnections(t *testing.T, ring string, parts, each int) (all []holder) {
	var runs []*running
	for range parts {
		server := startTarget(t, "--body", "12")
		r := startDyno(t, "-t", "1", "-c", fmt.Sprint(each), "-d", "20s", "--ring", ring, server.url)
		r.killer.Stop() // patience is for less
		r.killer = time.AfterFunc(5*time.Minute, func() { r.cmd.Process.Kill() })
		runs = append(runs, r)
	}
	peaks, most := make([]int64, parts), 0
	for living := true; living; time.Sleep(20 * time.Millisecond) {
		living = false
		for i, r := range runs {
			kB := residentMemory(r.cmd.Process.Pid)
			peaks[i] = max(peaks[i], kB)
			living = living || kB > 0
		}
		most = max(most, countSockets(t))
	}
	if most < 2*parts*each { // both ends are on this machine
		t.Errorf("at most %d sockets at once", most)
	}
	for i, r := range runs {
		all = append(all, holder{r.waitForExit().expectExit(t, 0).result, peaks[i]})
	}
	return all
}

// countSockets returns how many TCP sockets are in use on this machine.
func countSockets(t *testing.T) (n int) {
	b, err := os.ReadFile("/proc/net/sockstat")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(b), "TCP: inuse ")
	fmt.Sscan(line, &n)
	return n
}
