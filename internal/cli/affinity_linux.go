package cli

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// runOn binds every thread of the process to cpus, if there are any. A new thread inherits the CPUs
// of the thread that creates it.
func runOn(cpus []int) error {
	if len(cpus) == 0 {
		return nil
	}
	var mask unix.CPUSet
	for _, c := range cpus {
		mask.Set(c)
	}
	if mask.Count() < len(cpus) {
		return fmt.Errorf("%v has a CPU above %d", cpus, len(mask)*64-1)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("finding the threads to keep on %v: %w", cpus, err)
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err == nil {
			err = unix.SchedSetaffinity(id, &mask)
		}
		if err != nil {
			return fmt.Errorf("the process may not run on %v: %w", cpus, err)
		}
	}
	return nil
}
