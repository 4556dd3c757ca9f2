package probe

import (
	"math"
	"strings"
)

var cgroupColumns = []column{
	{name: "cgroup.cpu", unit: "%", kind: counter, scale: 1e-7},
	{name: throttled, unit: "%", kind: counter, scale: 1e-7},
	{name: throttles, unit: "1/s", kind: counter},
	{name: "cgroup.memory", unit: "bytes"},
	{name: "cgroup.psi.cpu", unit: "%", kind: counter, scale: 1e-4},
}

// cgroupRow reads what the group used, and what it, or the group around it that has the quota, was
// denied. The root group of version 2 knows of no throttling and no memory; then it is n/a.
func (h *linuxHost) cgroupRow(row []float64) {
	c := h.cgroup
	get := func(dir, file, key string) float64 {
		if dir == "" {
			return math.NaN()
		}
		text, err := h.scratch.readFile(dir + "/" + file)
		if err != nil {
			return math.NaN()
		}
		if key == "" {
			if word, _ := nextField(text); len(word) > 0 {
				if n, ok := parseNumber(word); ok {
					return n
				}
			}
			return math.NaN()
		}
		return numberAfterKey(text, key)
	}
	row[0] = firstKnown(get(c.CPUAcct, "cpuacct.usage", ""),
		1e3*get(c.Unified, "cpu.stat", "usage_usec"))
	row[1] = firstKnown(get(c.Limited, "cpu.stat", "throttled_time"),
		1e3*get(c.Limited, "cpu.stat", "throttled_usec"))
	row[2] = get(c.Limited, "cpu.stat", "nr_throttled")
	row[3] = firstKnown(get(c.Memory, "memory.usage_in_bytes", ""),
		get(c.Unified, "memory.current", ""))
	if c.Unified != "" {
		row[4] = h.readPressure(c.Unified + "/cpu.pressure")
	}
}

// readPressure is the total of a pressure file's first line, in µs.
func (h *linuxHost) readPressure(path string) float64 {
	text, err := h.scratch.readFile(path)
	if err != nil {
		return math.NaN()
	}
	line, _, _ := strings.Cut(string(text), "\n")
	_, total, found := strings.Cut(line, "total=")
	if n, ok := parseNumber([]byte(total)); found && ok && strings.HasPrefix(line, "some ") {
		return n
	}
	return math.NaN()
}

// firstKnown is the first number that is one.
func firstKnown(numbers ...float64) float64 {
	for _, n := range numbers {
		if !math.IsNaN(n) {
			return n
		}
	}
	return math.NaN()
}
