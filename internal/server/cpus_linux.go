package server

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// SplitCPUs divides the CPUs that this process may use between generator and
// servers, and says so when they cannot be kept apart.
func SplitCPUs() (Split, error) {
	cpus, err := allowedCPUs()
	if err != nil {
		return Split{}, err
	}
	cores, err := coresOf(cpus, "/sys/devices/system/cpu")
	if err != nil {
		return Split{}, err
	}
	return splitCores(cores), nil
}

// allowedCPUs is the affinity mask of the process: the calling thread may be
// pinned to less.
func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		return nil, fmt.Errorf("CPUs of this process: sched_getaffinity: %w", err)
	}
	return cpusOf(&set), nil
}

func cpusOf(set *unix.CPUSet) (cpus []int) {
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// coresOf groups CPUs that are threads of one core, ordered by package and core.
func coresOf(cpus []int, sys string) ([][]int, error) {
	type core struct {
		pkg, first int
		cpus       []int
	}
	var cores []core
	for _, cpu := range cpus {
		topology := filepath.Join(sys, "cpu"+strconv.Itoa(cpu), "topology")
		list, err := os.ReadFile(filepath.Join(topology, "thread_siblings_list"))
		if os.IsNotExist(err) { // some virtual machines do not tell: each is a core
			cores = append(cores, core{first: cpu, cpus: []int{cpu}})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("topology of CPU %d: %w", cpu, err)
		}
		siblings, err := ParseCPUs(string(list))
		if err != nil {
			return nil, fmt.Errorf("topology of CPU %d: %w", cpu, err)
		}
		first := slices.Min(siblings) // names the core, even if it is not allowed
		at := slices.IndexFunc(cores, func(c core) bool { return c.first == first })
		if at >= 0 {
			cores[at].cpus = append(cores[at].cpus, cpu)
			continue
		}
		cores = append(cores, core{packageOf(topology), first, []int{cpu}})
	}
	slices.SortFunc(cores, func(a, b core) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.first, b.first))
	})
	all := make([][]int, len(cores))
	for i, c := range cores {
		all[i] = c.cpus
	}
	return all, nil
}

// packageOf is 0 where the system does not tell: it only orders the cores.
func packageOf(topology string) int {
	text, err := os.ReadFile(filepath.Join(topology, "physical_package_id"))
	if err != nil {
		return 0
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return id
}
