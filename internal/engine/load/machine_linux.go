package load

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// usableCPUs are the CPUs that the process may use and, if asked is not empty,
// that were asked for; one of each physical core first.
func usableCPUs(asked []int) ([]int, error) {
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
			return nil, Flaw{"--cpus", fmt.Sprintf("CPU %d is not among those this process may use", cpu)}
		}
	}
	return append(first, second...), nil
}

// physicalCore names the physical core of a CPU; a CPU of which that is not known is
// one of its own.
func physicalCore(cpu int) string {
	p := fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)
	b, err := os.ReadFile(filepath.Clean(p))
	if err != nil {
		return fmt.Sprint(cpu)
	}
	return strings.TrimSpace(string(b))
}

// Threads is how many workers a run has unless told otherwise: one for each
// physical core that the process may use.
func Threads() int {
	cpus, err := usableCPUs(nil)
	if err != nil {
		return 1
	}
	cores := map[string]bool{}
	for _, cpu := range cpus {
		cores[physicalCore(cpu)] = true
	}
	return max(len(cores), 1)
}

// pinThread keeps the calling thread, worker i of n, on a CPU of its own if there
// are as many, else on those that may be used; also if it shares them with the
// server, which then may need that one more. It is a wish: where it is not
// granted the run goes on.
func pinThread(cpus []int, i, n int, shared bool) {
	var mask unix.CPUSet
	if n <= len(cpus) && !shared {
		cpus = cpus[i : i+1]
	}
	for _, cpu := range cpus {
		mask.Set(cpu)
	}
	unix.SchedSetaffinity(0, &mask)
}

// timeSlice is for how long a thread that is quickened asks to run at a time, in ns: the least
// that the kernel grants.
const timeSlice = 100_000

// shortenTimeSlice has the kernel let the calling thread run for a shorter time at a time, and in
// exchange soon after it wakes up: within its share of the CPU, which stays what it is, it
// need not wait until another thread has had its milliseconds. From Linux 6.12 on; it is a
// wish.
func shortenTimeSlice() {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return
	}
	attr.Runtime = timeSlice
	unix.SchedSetAttr(0, attr, 0)
}

// filesBesides is how many open files a run needs besides its connections.
const filesBesides = 16

// ensureFiles sees to it that the process may have a file for each connection.
// It returns what it changed, or what the user must.
func ensureFiles(connections, threads int) (notice string, err error) {
	need := uint64(connections + threads + filesBesides)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return "", fmt.Errorf("reading the limit of open files: %w", err)
	}
	if limit.Cur >= need {
		return "", nil
	}
	wish := unix.Rlimit{Cur: need, Max: max(limit.Max, need)}
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &wish) == nil {
		return fmt.Sprintf("the limit of open files was raised from %d to %d", limit.Cur, need), nil
	}
	return "", Flaw{"--connections", fmt.Sprintf(
		"%d connections need %d open files and the limit is %d; raise it with ulimit -n %d",
		connections, need, limit.Max, need)}
}

// localPorts is how many local ports connections to one address can have.
func localPorts() int {
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

// threadQueued is how long the calling thread has waited for a CPU since it began, and how
// often it then ran; 0 where the kernel does not tell.
func threadQueued() (waiting time.Duration, times int64) {
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
