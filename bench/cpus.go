package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cpuMax is more CPUs than any list may name, so that a slip does not become a large one.
const cpuMax = 1024

// parseCPUs reads a list such as "0,2-3" as taskset does, ascending and each CPU once. An
// empty list means any CPU.
func parseCPUs(list string) ([]int, error) {
	if list == "" {
		return nil, nil
	}
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.ParseUint(low, 10, 16)
		last, err2 := strconv.ParseUint(high, 10, 16)
		if err != nil || err2 != nil || first > last || last >= cpuMax {
			return nil, fmt.Errorf("CPUs %q: want numbers and ranges like 0,2-3", list)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}
