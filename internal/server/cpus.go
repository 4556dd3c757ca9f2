package server

import (
	"fmt"
	"strconv"
	"strings"
)

// cpuMax is beyond every CPU that Linux numbers.
const cpuMax = 8192

// A Split gives the generator and the servers CPUs of their own.
type Split struct {
	Generator []int  `json:"generator"`
	Server    []int  `json:"server"`
	Apart     bool   `json:"apart"`            // no core serves both
	Reason    string `json:"reason,omitempty"` // why they are not apart
}

// splitCores gives the first half of the cores to the servers, as the kernel's own
// work favours them, and the rest to the generator, which needs no more than a
// fast server. Threads of one core stay together: they share its units.
func splitCores(cores [][]int) Split {
	if len(cores) < 2 {
		all := joinCPUs(cores)
		return Split{Generator: all, Server: all, Reason: fmt.Sprintf(
			"only one core is available (CPUs %s): generator and server share it", FormatCPUs(all))}
	}
	half := (len(cores) + 1) / 2
	return Split{Server: joinCPUs(cores[:half]), Generator: joinCPUs(cores[half:]), Apart: true}
}

func joinCPUs(cores [][]int) (cpus []int) {
	for _, c := range cores {
		cpus = append(cpus, c...)
	}
	return cpus
}

// ParseCPUs reads a list as the kernel writes it: "0-3,8".
func ParseCPUs(list string) (cpus []int, err error) {
	seen := map[int]bool{}
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.ParseUint(low, 10, 31)
		to, err2 := strconv.ParseUint(high, 10, 31)
		if err1 != nil || err2 != nil || from > to || to >= cpuMax {
			return nil, fmt.Errorf("CPU list %q: %q is neither a CPU nor a range such as 0-3",
				list, part)
		}
		for cpu := int(from); cpu <= int(to); cpu++ {
			if seen[cpu] {
				return nil, fmt.Errorf("CPU list %q: %d is there twice", list, cpu)
			}
			seen[cpu] = true
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// FormatCPUs writes what ParseCPUs reads: runs as ranges, in the given order.
func FormatCPUs(cpus []int) string { return formatRanges(cpus) }

// formatRanges are ascending numbers, those in a row as one.
func formatRanges(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		end := i
		for end+1 < len(cpus) && cpus[end+1] == cpus[end]+1 {
			end++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if end > i {
			fmt.Fprintf(&b, "-%d", cpus[end])
		}
		i = end + 1
	}
	return b.String()
}
