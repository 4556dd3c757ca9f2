// Package cgroup finds the control groups of this process, of version 1 and 2, and the CPU time and
// memory that they may use. A machine can mount both versions; one controller is in one of them.
package cgroup

import (
	"cmp"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Group is the directories of this process's control group: in version 2 one, in version 1 one
// for each controller. A directory is "" where there is none.
type Group struct {
	Unified, CPU, CPUAcct, Memory string

	// Quota is how many CPUs the group may use, by its own quota or by one of a group around it; 0: as
	// many as there are. Limited is the directory of the group that has it, else the own one.
	Quota   float64
	Limited string

	// MemoryLimit is how many bytes of memory the group may use, by its own limit or by one of a group
	// around it; 0: as many as there are.
	MemoryLimit uint64
}

// Own is the group of this process; the zero value where there is none, or it cannot be read.
func Own() Group { return find("/") }

// find is Own with another root of the file system.
func find(root string) (g Group) {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return g
	}
	mountinfo, err := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return g
	}
	var mounts []mount
	for line := range strings.Lines(string(mountinfo)) {
		if m, ok := parseMount(line); ok {
			m.point = filepath.Join(root, m.point)
			mounts = append(mounts, m)
		}
	}
	top := map[string]string{} // of a directory, where its hierarchy is mounted
	for line := range strings.Lines(string(groups)) {
		own := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(own) != 3 {
			continue
		}
		for _, m := range mounts {
			dir := pathInMount(m.point, m.root, own[2])
			top[dir] = m.point
			g.setDirectory(m, own, dir)
		}
	}
	g.Limited = cmp.Or(g.CPU, g.Unified)
	for _, own := range []string{g.CPU, g.Unified} {
		for dir := range around(own, top[own]) {
			if q := readQuota(dir); q > 0 && (g.Quota == 0 || q < g.Quota) {
				g.Quota, g.Limited = q, dir
			}
		}
	}
	for _, own := range []string{g.Memory, g.Unified} {
		for dir := range around(own, top[own]) {
			if m := readMemoryLimit(dir); m > 0 && (g.MemoryLimit == 0 || m < g.MemoryLimit) {
				g.MemoryLimit = m
			}
		}
	}
	return g
}

// A mount is a line of mountinfo that mounts a hierarchy of control groups.
type mount struct {
	root, point, kind string
	options           []string
}

func parseMount(line string) (m mount, ok bool) {
	before, after, _ := strings.Cut(line, " - ")
	fields, rest := strings.Fields(before), strings.Fields(after)
	if len(fields) < 5 || len(rest) < 3 || rest[0] != "cgroup" && rest[0] != "cgroup2" {
		return m, false
	}
	return mount{fields[3], fields[4], rest[0], strings.Split(rest[2], ",")}, true
}

// setDirectory sets the directory of own, the fields of a line of /proc/self/cgroup, in a mount.
func (g *Group) setDirectory(m mount, own []string, dir string) {
	if m.kind == "cgroup2" {
		if own[0] == "0" {
			g.Unified = dir
		}
		return
	}
	for name, to := range map[string]*string{
		"cpu": &g.CPU, "cpuacct": &g.CPUAcct, "memory": &g.Memory,
	} {
		if slices.Contains(m.options, name) && slices.Contains(strings.Split(own[1], ","), name) {
			*to = dir
		}
	}
}

// pathInMount is the directory of a group. A mount may show only a part of the hierarchy, below
// root, as it does in most containers.
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

// around are the directories of a group and of those around it, up to the mount; none if dir is "".
func around(dir, top string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir != "" && yield(dir) && dir != top && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
	}
}

// readMemoryLimit is how many bytes of memory a group may use; 0: it has no limit.
func readMemoryLimit(dir string) uint64 {
	for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			limit, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64) // "max" is none
			return limit
		}
	}
	return 0
}

// readQuota is how many CPUs a group may use; 0: it has no quota.
func readQuota(dir string) float64 {
	if text, err := os.ReadFile(filepath.Join(dir, "cpu.max")); err == nil {
		return parseQuota(string(text))
	}
	quota, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
	if err != nil {
		return 0
	}
	period, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us"))
	if err != nil {
		return 0
	}
	return parseQuota(string(quota) + " " + string(period))
}

// parseQuota reads a quota and a period, in µs: "50000 100000" is half a CPU. A quota "max" or -1
// is none.
func parseQuota(text string) float64 {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0
	}
	quota, err := strconv.ParseInt(fields[0], 10, 64)
	period, wrong := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || wrong != nil || quota <= 0 || period <= 0 {
		return 0
	}
	return float64(quota) / float64(period)
}

// Threads is the most threads that the group can keep running: as many as its quota has CPUs, and a
// part of a CPU counts as one. It is 0 if there is no quota.
func (g Group) Threads() int { return int(math.Ceil(min(g.Quota, 1<<20))) }
