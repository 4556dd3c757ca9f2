package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

// allowedCPUs are the CPUs that the test may use.
func allowedCPUs(t *testing.T) []int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var out []int
	for cpu := range cpuMax {
		if set.IsSet(cpu) {
			out = append(out, cpu)
		}
	}
	return out
}
