package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cpuMax is a bound of CPU numbers, so that a typing error does not become a long list.
const cpuMax = 1024

// parseCPUs parses a list such as "0,2-3", as taskset does. The result is ascending and has no
// duplicates. An empty list means any CPU.
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
