package probe

import (
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

var cgroupColumns = []column{
	{name: "cgroup.cpu", unit: "%", kind: counter, scale: 1e-7},
	{name: throttled, unit: "%", kind: counter, scale: 1e-7},
	{name: throttles, unit: "1/s", kind: counter},
	{name: "cgroup.memory", unit: "bytes"},
	{name: "cgroup.psi.cpu", unit: "%", kind: counter, scale: 1e-4},
}

// A cgroup is the directories of this process's control group: in version 2 one, in
// version 1 one for each controller; empty where there is none. Both can be there.
type cgroup struct{ unified, cpu, cpuacct, memory string }

func findCgroup(self procfs.Proc) (c cgroup) {
	groups, err := self.Cgroups()
	if err != nil {
		return c
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return c
	}
	for _, g := range groups {
		for _, m := range mounts {
			dir := pathInMount(m.MountPoint, m.Root, g.Path)
			switch {
			case m.FSType == "cgroup2" && g.HierarchyID == 0:
				c.unified = dir
			case m.FSType != "cgroup" || g.HierarchyID == 0:
			default:
				c.setMount(g, m, dir)
			}
		}
	}
	return c
}

func (c *cgroup) setMount(g procfs.Cgroup, m *procfs.MountInfo, dir string) {
	for name, to := range map[string]*string{
		"cpu": &c.cpu, "cpuacct": &c.cpuacct, "memory": &c.memory,
	} {
		_, mounted := m.SuperOptions[name]
		if mounted && slices.Contains(g.Controllers, name) {
			*to = dir
		}
	}
}

// pathInMount is the directory of a group. A mount may show only a part of the hierarchy,
// below root, as it does in most containers.
func pathInMount(point, root, group string) string {
	if root != "/" {
		rest, inside := strings.CutPrefix(group, root)
		if !inside {
			return point
		}
		group = rest
	}
	return filepath.Join(point, group)
}

// cgroupRow reads what the group used and was denied. The root group of version 2
// knows of no throttling and no memory; then it is n/a.
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
	row[0] = firstKnown(get(c.cpuacct, "cpuacct.usage", ""),
		1e3*get(c.unified, "cpu.stat", "usage_usec"))
	row[1] = firstKnown(get(c.cpu, "cpu.stat", "throttled_time"),
		1e3*get(c.unified, "cpu.stat", "throttled_usec"))
	row[2] = firstKnown(get(c.cpu, "cpu.stat", "nr_throttled"),
		get(c.unified, "cpu.stat", "nr_throttled"))
	row[3] = firstKnown(get(c.memory, "memory.usage_in_bytes", ""),
		get(c.unified, "memory.current", ""))
	if c.unified != "" {
		row[4] = h.readPressure(c.unified + "/cpu.pressure")
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
