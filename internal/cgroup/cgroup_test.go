package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

// v2 and v1 are mounts as a machine and a container have them.
const (
	v2   = "30 20 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	v1   = "31 20 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	box1 = "31 20 0:28 /docker/1 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
	rest = "29 1 8:1 / / rw - ext4 /dev/root rw\nnonsense\n"
)

// The lowest quota of the group and of those around it counts, and it is of the group that has it.
func TestQuota(t *testing.T) {
	const root, own1, own2 = "/sys/fs/cgroup", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu"
	for _, c := range []struct {
		what, groups, mounts string
		files                map[string]string
		cpus                 float64
		threads              int
		limited              string
	}{
		{"version 2", "0::/a/b\n", rest + v2, map[string]string{root + "/a/b/cpu.max": "50000 100000\n"},
			0.5, 1, root + "/a/b"},
		{"none", "0::/a/b\n", rest + v2, map[string]string{root + "/a/b/cpu.max": "max 100000\n"}, 0, 0, root + "/a/b"},
		{"that of a parent", "0::/a/b\n", v2, map[string]string{root + "/a/b/cpu.max": "400000 100000\n",
			root + "/a/cpu.max": "150000 100000\n"}, 1.5, 2, root + "/a"},
		{"a container", "0::/\n", v2, map[string]string{root + "/cpu.max": "20000 10000\n"}, 2, 2, root},
		{"version 1", "4:cpu,cpuacct:/s\n0::/\n", v2 + v1, map[string]string{own1 + "/s/cpu.cfs_quota_us": "250000\n",
			own1 + "/s/cpu.cfs_period_us": "100000\n", own1 + "/cpu.cfs_quota_us": "-1\n",
			own1 + "/cpu.cfs_period_us": "100000\n"}, 2.5, 3, own1 + "/s"},
		{"a container of version 1", "4:cpu:/docker/1\n", box1, map[string]string{own2 + "/cpu.cfs_quota_us": "30000",
			own2 + "/cpu.cfs_period_us": "100000"}, 0.3, 1, own2},
		{"no cgroups", "", rest, nil, 0, 0, ""},
		{"no number", "0::/\n", v2, map[string]string{root + "/cpu.max": "many 0\n"}, 0, 0, root},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			write(t, filepath.Join(dir, name), text)
		}
		write(t, filepath.Join(dir, "proc/self/cgroup"), c.groups)
		write(t, filepath.Join(dir, "proc/self/mountinfo"), c.mounts)
		limited := ""
		if c.limited != "" {
			limited = filepath.Join(dir, c.limited)
		}
		if g := find(dir); g.Quota != c.cpus || g.Threads() != c.threads || g.Limited != limited {
			t.Errorf("%s: %v CPUs, %d threads, of %s", c.what, g.Quota, g.Threads(), g.Limited)
		}
	}
	if g := find(t.TempDir()); g != (Group{}) {
		t.Errorf("without /proc: %+v", g)
	}
}

// The lowest limit of memory of the group and of those around it counts.
func TestMemoryLimit(t *testing.T) {
	const v1 = "32 20 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	const root, own = "/sys/fs/cgroup", "/sys/fs/cgroup/memory"
	for _, c := range []struct {
		what, groups, mounts string
		files                map[string]string
		want                 uint64
	}{
		{"version 2", "0::/a/b\n", v2, map[string]string{root + "/a/b/memory.max": "1000\n", root + "/a/memory.max": "2000\n"}, 1000},
		{"that of a parent", "0::/a/b\n", v2, map[string]string{root + "/a/b/memory.max": "max\n", root + "/a/memory.max": "2000\n"}, 2000},
		{"none", "0::/a\n", v2, map[string]string{root + "/a/memory.max": "max\n"}, 0},
		{"version 1", "4:memory:/s\n0::/\n", v2 + v1, map[string]string{own + "/s/memory.limit_in_bytes": "3000\n",
			own + "/memory.limit_in_bytes": "9223372036854771712\n"}, 3000},
		{"no cgroups", "", rest, nil, 0},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			write(t, filepath.Join(dir, name), text)
		}
		write(t, filepath.Join(dir, "proc/self/cgroup"), c.groups)
		write(t, filepath.Join(dir, "proc/self/mountinfo"), c.mounts)
		if g := find(dir); g.MemoryLimit != c.want {
			t.Errorf("%s: %d bytes", c.what, g.MemoryLimit)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(v2, "50000 100000")
	f.Add(v1, "max 1")
	f.Fuzz(func(t *testing.T, line, quota string) {
		m, ok := parseMount(line)
		if ok && (m.point == "" || m.root == "") {
			t.Errorf("%+v", m)
		}
		if q := parseQuota(quota); q < 0 || q > 0 && (Group{Quota: q}).Threads() < 1 {
			t.Errorf("%q: %v", quota, q)
		}
	})
}

func TestInMount(t *testing.T) {
	for _, c := range [][4]string{
		{"/sys/fs/cgroup", "/", "/", "/sys/fs/cgroup"},
		{"/sys/fs/cgroup", "/", "/a/b", "/sys/fs/cgroup/a/b"},
		{"/sys/fs/cgroup", "/docker/1", "/docker/1", "/sys/fs/cgroup"},
		{"/sys/fs/cgroup", "/docker/1", "/docker/1/x", "/sys/fs/cgroup/x"},
		{"/sys/fs/cgroup", "/docker/1", "/other", "/sys/fs/cgroup"},
	} {
		if got := pathInMount(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v: %s", c, got)
		}
	}
}
