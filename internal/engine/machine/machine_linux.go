package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"dyno/internal/cgroup"
	"dyno/internal/fact"
)

// UsableCPUs are the CPUs that the process may use, one of each physical core first. If asked is
// not empty, it is only those of asked.
func UsableCPUs(asked []int) ([]int, error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return nil, fmt.Errorf("reading the CPU affinity: %w", err)
	}
	var first, second []int
	cores := map[string]bool{}
	for cpu := range len(mask) * 64 {
		if !mask.IsSet(cpu) || len(asked) > 0 && !slices.Contains(asked, cpu) {
			continue
		}
		if core := physicalCore(cpu); cores[core] {
			second = append(second, cpu)
		} else {
			cores[core] = true
			first = append(first, cpu)
		}
	}
	for _, cpu := range asked {
		if cpu < 0 || cpu >= len(mask)*64 || !mask.IsSet(cpu) {
			return nil, Limit(fmt.Sprintf("CPU %d is not among those this process may use", cpu))
		}
	}
	return append(first, second...), nil
}

// physicalCore names the physical core of a CPU. A CPU whose core is unknown counts as a core of
// its own.
func physicalCore(cpu int) string {
	p := fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)
	b, err := os.ReadFile(filepath.Clean(p))
	if err != nil {
		return fmt.Sprint(cpu)
	}
	return strings.TrimSpace(string(b))
}

// Threads is the default number of workers: one for each physical core that the process may use,
// and no more than the CPU quota of its cgroup keeps running.
func Threads() int {
	cpus, err := UsableCPUs(nil)
	if err != nil {
		return 1
	}
	cores := map[string]bool{}
	for _, cpu := range cpus {
		cores[physicalCore(cpu)] = true
	}
	n := len(cores)
	if q := cgroup.Own().Threads(); q > 0 {
		n = min(n, q)
	}
	return max(n, 1)
}

// PinThread binds the calling thread, worker i of n, to a CPU of its own if there are enough,
// otherwise to all usable CPUs. It also does so if the CPUs are shared with the server, which may
// then need the remaining CPU. If the system refuses, the run continues without.
func PinThread(cpus []int, i, n int, shared bool) {
	var mask unix.CPUSet
	if n <= len(cpus) && !shared {
		cpus = cpus[i : i+1]
	}
	for _, cpu := range cpus {
		mask.Set(cpu)
	}
	unix.SchedSetaffinity(0, &mask)
}

// timeSlice is the time slice that ShortenTimeSlice requests, in ns: the shortest that the kernel
// grants.
const timeSlice = 100_000

// ShortenTimeSlice requests a shorter time slice for the calling thread. The kernel then runs it
// sooner after it wakes up, before other threads have used up their milliseconds. Its share of the
// CPU stays the same. It needs Linux 6.12; if the system refuses, the run continues without.
func ShortenTimeSlice() {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return
	}
	attr.Runtime = timeSlice
	unix.SchedSetAttr(0, attr, 0)
}

// filesBesides is how many open files a run needs in addition to its connections.
const filesBesides = 16

// EnsureFiles raises the limit of open files, if it may, so that each connection can have one. It
// returns a notice of what it changed, or an error that says what the user must do.
func EnsureFiles(connections, threads int, mayRaise bool) (notice fact.Args, err error) {
	need := uint64(connections + threads + filesBesides)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil, fmt.Errorf("reading the limit of open files: %w", err)
	}
	if limit.Cur >= need {
		return nil, nil
	}
	wish := unix.Rlimit{Cur: need, Max: max(limit.Max, need)}
	if mayRaise && unix.Setrlimit(unix.RLIMIT_NOFILE, &wish) == nil {
		return fact.FilesRaised{From: int64(limit.Cur), To: int64(need)}, nil
	}
	return nil, Limit(fmt.Sprintf(
		"%d connections need %d open files and the limit is %d; raise it with ulimit -n %d",
		connections, need, limit.Max, need))
}

// LocalPorts is how many local ports connections to one address can have.
func LocalPorts() int {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var low, high int
	if err != nil {
		return 0
	}
	if n, _ := fmt.Sscan(string(b), &low, &high); n != 2 {
		return 0
	}
	return high - low + 1
}

// ThreadQueued is how long the calling thread has waited for a CPU in total, and how often it then
// ran; 0 where the kernel does not report it.
func ThreadQueued() (waiting time.Duration, times int64) {
	b, err := os.ReadFile("/proc/thread-self/schedstat")
	var ran, waited int64
	if err != nil {
		return 0, 0
	}
	if n, _ := fmt.Sscan(string(b), &ran, &waited, &times); n != 3 {
		return 0, 0
	}
	return time.Duration(waited), times
}

// ThreadCPU returns a function that reads the CPU time of the thread that calls it, in ns; nil
// where the system does not report it.
func ThreadCPU() func() int64 {
	read := func() int64 {
		var t unix.Timespec
		if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
			return 0
		}
		return t.Nano()
	}
	if read() == 0 {
		return nil
	}
	return read
}
